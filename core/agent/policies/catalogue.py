"""The policies of the installation and of the user's folder, which wins; read again when edited.

A policy has a unique id, which is its folder and name (``webarena/find_commits``), and a name that is unique
within its environment.
"""

import glob
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from core.agent.policies.file import Policy, parse_policy, read_policy
from core.environments.webarena_config import with_sites
from core.schema.errors import DataError, UsageError
from core.schema.expression import compiled
from core.settings.user_file import UserFile, near, split_front_matter, stamp_of
from core.storage.resources import RESOURCES

POLICIES = RESOURCES / "policies"
NOT_POLICIES = ("README",)
"""Markdown files of a policies folder that are about it."""


class _File(NamedTuple):
    """A policy's file."""

    place: tuple[str, ...]
    """Its path within its folder."""
    path: Path
    folder: Path

    def may_be_of(self, environment: str) -> bool:
        """Return whether it lies in this environment's folder, or in none."""
        return self.place[0] == environment or len(self.place) == 1


class Policies:
    """Finds policies by id, by name, or by the pages they apply to."""

    def __init__(
        self,
        folders: Iterable[Path] = (POLICIES,),
        sites: Mapping[str, str] | None = None,
        *,
        texts: Mapping[str, str] | None = None,
    ) -> None:
        """Later folders win. `sites` gives the addresses of WebArena's sites; None: the process's environment.

        `texts` are read in place of the files of these ids.
        """
        self._folders = tuple(folders)
        self._sites = sites
        self._texts = dict(texts or {})
        self._read: dict[Path, tuple[tuple[int, ...], Policy]] = {}
        """What was read of each file, with its stamp at that time."""
        self._listed: dict[Path, tuple[list[str], list[_File]]] = {}
        """The files of each folder, with the names that were in it at that time."""

    def beside(self, folder: Path | None, texts: Mapping[str, str]) -> "Policies":
        """Return these policies with those of one more folder, which win, and with other texts of some.

        Texts that some have already stay, and go before the folder's too.
        Raises UsageError if the folder or a policy of that id is not there,
        and DataError with the first thing that is wrong in what was added.
        """
        if folder is not None and not folder.is_dir():
            raise UsageError(f"{folder} is not a folder; choose a folder of policies.")
        added = () if folder is None else (folder,)
        made = Policies((*self._folders, *added), self._sites)
        before = made.check()
        for id in texts:
            made.get(id)
        made = Policies((*self._folders, *added), self._sites, texts={**self._texts, **texts})
        if folder is not None and not any(file.folder == folder for file in made._files()):
            raise UsageError(f"{folder} contains no policies, which are files that end in .md.")
        problems = made.check()
        own = [problem for problem in problems if folder is not None and problem.startswith(str(folder))]
        own += [problem for problem in problems if problem not in before]
        if own:
            raise DataError(own[0])
        return made

    def names(self) -> tuple[str, ...]:
        """Return the ids of all policies whose files can be read, in order."""
        return tuple(sorted(self._whole()))

    def callable_names(self) -> frozenset[str]:
        """Return the names that policies are called by, of all whose files can be read."""
        return frozenset(one.name for one in self._whole().values())

    def get(self, name: str, environment: str = "") -> Policy:
        """Return a policy as its file has it now, by its id or by its name in an environment.

        Without an environment a name is enough that only one policy has.
        Raises UsageError with the nearest name for an unknown one, and
        DataError with file, line and nearest name where its file is wrong or
        it calls a policy that is not there.
        """
        for file in reversed(self._files()):
            near_by = not environment or file.may_be_of(environment)
            if "/".join(file.place).removesuffix(".md") == name or (file.path.stem == name and near_by):
                self._current(file)
                break
        whole = self._whole()
        policy = whole.get(name)
        if policy is None:
            found = [one for one in whole.values() if one.name == name and _meant_for(one, environment)]
            if len(found) > 1:
                ids = " and ".join(one.id for one in found)
                raise UsageError(f'"{name}" is the name of {ids}: give the id.')
            if not found:
                known = [one for one in whole.values() if _meant_for(one, environment)]
                names = tuple(
                    sorted(
                        {one.name for one in known} | ({one.id for one in known} if "/" in name else set())
                    )
                )
                raise UsageError(f'There is no policy "{name}"; {near(name, names)}')
            policy = found[0]
        for line, sentence in self._unknown(policy, whole):
            raise DataError(f"{policy.path}, line {line}: {sentence}")
        return policy

    def path_of(self, id: str) -> str:
        """Return the path of a policy's file, or nothing if there is none that can be read."""
        policy = self._whole().get(id)
        return str(policy.path) if policy is not None else ""

    def has_text(self, id: str) -> bool:
        """Return whether a text is read in place of this policy's file."""
        return id in self._texts

    def applying(self, environment: str, url: str) -> tuple[Policy, ...]:
        """Return the policies that can be used on this page, in the order of their ids.

        Raises DataError for a file that is wrong, except where it lies in the
        folder of another environment.
        """
        whole = self._whole(environment)
        return tuple(whole[id] for id in sorted(whole) if self._applies(whole[id], environment, url))

    def top_of(self, environment: str, url: str, name: str = "") -> Policy | None:
        """Return the policy that a run here begins with, the one of this name where a preset gives one; or None.

        Of several, one for this URL goes before one for any, one for this
        environment before one for any, and then the first by id. Raises
        UsageError for a name that no policy of any environment has.
        """
        if name and name not in self.callable_names():
            hint = near(name, sorted(self.callable_names()))
            raise UsageError(
                f'There is no policy "{name}", which the preset names as top in [policies]; {hint}'
            )
        here = self.applying(environment, url)
        tops = [policy for policy in here if (policy.name == name if name else policy.top)]
        return min(
            tops, key=lambda one: (not one.applies.urls, not one.applies.environments, one.id), default=None
        )

    def callable_from(self, policy: Policy, environment: str, url: str) -> tuple[Policy, ...]:
        """Return the policies that `policy` may call on this page, including itself if allowed.

        If two with the same name apply, the one in the caller's folder is used, else the first by id.
        """
        here = tuple(one for one in self.applying(environment, url) if one.called)
        if policy.policies is not None:
            here = tuple(one for one in here if one.id in policy.policies or one.name in policy.policies)
        home = policy.id.rpartition("/")[0]
        by_name: dict[str, Policy] = {}
        for one in here:
            if one.name not in by_name or (
                one.id.rpartition("/")[0] == home and by_name[one.name].id.rpartition("/")[0] != home
            ):
                by_name[one.name] = one
        return tuple(by_name[name] for name in sorted(by_name))

    def called(self, caller: Policy, name: str, environment: str, url: str) -> Policy:
        """Return the policy that `caller` means by `name` on this page.

        Raises UsageError, in a sentence for the LLM, with the nearest name
        where it may call none of that name here.
        """
        here = self.callable_from(caller, environment, url)
        for one in here:
            if name in (one.name, one.id):
                return one
        names = tuple(one.name for one in here)
        raise UsageError(
            f'There is no policy "{name}" to call here; {near(name, names) if names else "there is none."}'
        )

    def check(self) -> tuple[str, ...]:
        """Return a sentence, with file and line, for everything that is wrong in any policy file."""
        found: list[str] = []
        for file in self._winning():
            try:
                self._current(file)
            except DataError as error:
                found.append(str(error))
        found += self._twins()
        whole = self._whole()
        for policy in whole.values():
            found += [f"{policy.path}, line {line}: {text}" for line, text in self._unknown(policy, whole)]
        found += _clashes(tuple(whole[id] for id in sorted(whole)))
        return tuple(found)

    # Reading

    def _files(self) -> list[_File]:
        return [file for folder in self._folders for file in self._files_in(folder)]

    def _files_in(self, folder: Path) -> list[_File]:
        names = glob.glob("**/*.md", root_dir=folder, recursive=True)
        before, files = self._listed.get(folder, ([], []))
        if names != before:
            places = sorted(tuple(name.split(os.sep)) for name in names)
            files = [
                _File(place, Path(folder, *place), folder)
                for place in places
                if place[-1].removesuffix(".md") not in NOT_POLICIES
            ]
            self._listed[folder] = names, files
        return files

    def _winning(self) -> list[_File]:
        """Return the files without those that a later folder has one of the same place for."""
        return list({file.place: file for file in self._files()}.values())

    def _whole(self, environment: str | None = None) -> dict[str, Policy]:
        """Return the policies by id; with an environment, a wrong file that may be one of its own raises."""
        found: dict[str, Policy] = {}
        for file in self._winning():
            try:
                policy = self._current(file)
            except DataError:
                if environment is not None and file.may_be_of(environment):
                    raise
                continue
            found[policy.id] = policy
        return found

    def _current(self, file: _File) -> Policy:
        _, path, folder = file
        stamp = stamp_of(path)
        before, known = self._read.pop(path, ((), None))
        if known is not None and before == stamp:
            self._read[path] = before, known
            return known
        read = read_policy(path, folder)
        if read.id in self._texts:
            other = parse_policy(self._texts[read.id], path, folder)
            if other.id != read.id:
                raise DataError(
                    f"{path}: the new text changes the policy's id to {other.id}; keep {read.id}."
                )
            read = other
        self._read[path] = stamp, read
        return read

    def _twins(self) -> Iterator[str]:
        """Tell of files of one folder that give themselves the same id; the last of them is used."""
        seen: dict[tuple[Path, str], Path] = {}
        for _, path, folder in self._files():
            if path not in self._read:
                continue
            policy = self._read[path][1]
            other = seen.setdefault((folder, policy.id), path)
            if other != path:
                place = f"{path}, line {_line(policy, 'name')}"
                yield f"{place}: {policy.id} is also the name of {other}; rename one of them."

    # Where they apply

    def _applies(self, policy: Policy, environment: str, url: str) -> bool:
        if not _meant_for(policy, environment):
            return False
        return not policy.applies.urls or any(self._fits(one, url) for one in policy.applies.urls)

    def _fits(self, pattern: str, url: str) -> bool:
        sites = {
            name: re.escape(at.strip().rstrip("/")) for name, at in self._addresses().items() if at.strip()
        }
        try:
            return compiled(with_sites(pattern, sites, "the policy")).search(url) is not None
        except UsageError:
            # A site without an address is no page's.
            return False

    def _addresses(self) -> Mapping[str, str]:
        return os.environ if self._sites is None else self._sites

    # Names

    def _unknown(self, policy: Policy, whole: Mapping[str, Policy]) -> Iterator[tuple[int, str]]:
        """Tell which policies it names that are not there, or cannot be called as its examples do."""
        others = tuple(one for one in whole.values() if _meet(one, policy))
        names = tuple(sorted({other.name for other in others}))
        listed = policy.policies or ()
        for number, name in enumerate(listed):
            if name not in names and name not in whole:
                known = tuple(whole) if "/" in name else names
                yield (
                    _front(policy).line(("policies", number)) or 1,
                    f'there is no policy "{name}"; {near(name, known)}',
                )
        for example in policy.examples:
            if example.call.does != "call":
                continue
            meant = [other for other in others if other.name == example.call.name]
            meant += [whole[id] for id in listed if id in whole and whole[id].name == example.call.name]
            if not meant:
                # A name that the list has and no file is reported where it is listed.
                if example.call.name not in listed:
                    hint = near(example.call.name, names)
                    yield (
                        example.line,
                        f'the example calls "{example.call.name}", which is not a policy; {hint}',
                    )
            elif all(one.call_problem(example.call.arguments) for one in meant):
                yield example.line, f"in the example, {meant[0].call_problem(example.call.arguments)}"


def _front(policy: Policy) -> UserFile:
    return split_front_matter(policy.path, policy.text)[0]


def _line(policy: Policy, key: str) -> int:
    return _front(policy).line((key,)) or 1


def _meant_for(policy: Policy, environment: str) -> bool:
    return not environment or not policy.applies.environments or environment in policy.applies.environments


def _meet(one: Policy, other: Policy) -> bool:
    """Return whether there is an environment in which both can be used."""
    first, second = one.applies.environments, other.applies.environments
    return not first or not second or bool(set(first) & set(second))


def _clashes(policies: tuple[Policy, ...]) -> Iterator[str]:
    """Tell of pairs that one page could not keep apart: of one name, or both to begin with."""
    for number, policy in enumerate(policies):
        for other in policies[:number]:
            if not _meet(policy, other):
                continue
            urls, others = set(policy.applies.urls), set(other.applies.urls)
            same_place = (not urls and not others) or bool(urls & others)
            same_reach = bool(policy.applies.environments) == bool(other.applies.environments)
            pair = f"{policy.id} and {other.id} are both"
            if policy.name == other.name and same_place:
                place = f"{policy.path}, line {_line(policy, 'name')}"
                yield f'{place}: {pair} called "{policy.name}" in one environment; rename one of them.'
            if policy.top and other.top and same_place and same_reach:
                place = f"{policy.path}, line {_line(policy, 'top')}"
                yield f"{place}: {pair} the first policy on the same pages; remove top from one of them."
