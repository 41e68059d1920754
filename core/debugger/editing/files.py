"""Editing of agent files and of the settings: finds and reads them, and tries a draft before it is saved.

Bundled files are never changed: edits are saved to the user's copy, which wins.
"""

import json
import tempfile
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path

from core.agent.policies.catalogue import NOT_POLICIES
from core.agent.policies.file import read_policy
from core.agent.resources import AgentResources, files_in, with_files
from core.debugger.editing.views import EditText
from core.debugger.editing.words import keys_of, words_of_file
from core.schema.errors import BackstepError, DataError, UsageError
from core.settings.saving import write_whole
from core.settings.settings import FILE_NAME, FileSettings
from core.settings.user_file import UserFile, near, read_text
from core.storage.resources import RESOURCES

KINDS = {
    "policies": ("policy", "markdown"),
    "presets": ("preset", "toml"),
    "state_spaces": ("state space", "toml"),
    "prompts": ("prompt", "jinja"),
}
"""The folders of files that can be edited: what one is called, and its language."""
SETTINGS = f"settings/{FILE_NAME}"
"""The name of the settings file among them."""


class AgentFiles:
    """The bundled files and the user's own, by their path below the folder of all kinds.

    Such a name is ``policies/webarena/find_commits.md``.
    """

    def __init__(self, config: Path) -> None:
        self._config = config

    def names(self) -> tuple[str, ...]:
        """Return the names of all files, in order."""
        return tuple(sorted(self._found()))

    def name_of(self, path: str) -> str:
        """Return the name of the file at a path, which a step has recorded; raises UsageError for one elsewhere."""
        for root in (self._config, RESOURCES):
            if Path(path).is_relative_to(root):
                return Path(path).relative_to(root).as_posix()
        raise UsageError(
            f"{path} is neither a bundled file nor in {self._config}. Edit it with another editor."
        )

    def target(self, name: str) -> Path:
        """Return where the user's own file is, or would be."""
        return self._config / (FILE_NAME if name == SETTINGS else name)

    def path(self, name: str) -> Path:
        """Return the file that holds, the user's before the bundled one; raises UsageError with the nearest name."""
        files = self._found()
        if name == SETTINGS:
            return self.target(name)
        if name not in files:
            raise UsageError(f'There is no file "{name}"; {near(name, tuple(files))}')
        return files[name]

    def read(self, name: str) -> str:
        """Return the text that holds; raises UsageError and DataError."""
        return read_text(self.path(name), line_ends=True)

    def own_text(self, name: str) -> str | None:
        """Return the text of the user's own file; None if there is none. Raises DataError."""
        target = self.target(name)
        return read_text(target, line_ends=True) if target.exists() else None

    def write(self, name: str, text: str) -> None:
        """Write the user's own file; raises DataError."""
        write_whole(self.target(name), text)

    def delete(self, name: str) -> None:
        """Delete the user's own file, so that the bundled one holds again; raises DataError."""
        try:
            self.target(name).unlink(missing_ok=True)
        except OSError as error:
            raise DataError(
                f"{self.target(name)} cannot be deleted ({error.strerror}); delete it by hand."
            ) from error

    def digest(self, without: Collection[str] = ()) -> str:
        """Return a hash of all files but some, as they hold."""
        found = sha256()
        for name, path in sorted(self._found().items()):
            if name not in without:
                with suppress(OSError):  # It is gone, or nobody can read it.
                    found.update(f"{name}\0".encode() + path.read_bytes())
        return found.hexdigest()

    def policy_of(self, name: str) -> str:
        """Return the id of the policy in a file; empty for a file of another kind, or one that is wrong."""
        kind, _, rest = name.partition("/")
        file = self._found().get(name)
        if kind != "policies" or file is None:
            return ""
        try:
            return read_policy(file, file.parents[len(Path(rest).parts) - 1]).id
        except DataError:
            return ""  # No run uses it.

    def bundled(self, name: str) -> str | None:
        """Return the text of the bundled file of that name; None if there is none. Raises DataError."""
        path = RESOURCES / name
        return read_text(path, line_ends=True) if path.is_file() else None

    def described(self, name: str, text: str, resources: AgentResources, note: str = "") -> EditText:
        """Return the text as it is offered, with where it is saved after the `note`."""
        kind, _, rest = name.partition("/")
        what, language = KINDS[kind]
        target = self.target(name)
        saved = (
            f"Saves to {target}, your own copy."
            if target.exists()
            else f"Saves to your own copy, {target}. The bundled file stays unchanged."
        )
        title, note = f"The {what} {rest}", " ".join(filter(None, (note, saved)))
        words, bundled = words_of_file(kind, text, resources), self.bundled(name)
        return EditText(
            name=name, title=title, language=language, text=text, note=note, words=words, bundled=bundled
        )

    @contextmanager
    def with_draft(self, name: str, text: str, base: AgentResources) -> Iterator[AgentResources]:
        """Give what agents use with this text in place of the file, for the time of the block.

        Raises what the readers of the file say is wrong in it, and what is raised
        in the block, with the file's own name in place of the draft's.
        """
        with self.with_drafts({name: text}, base) as resources:
            yield resources

    @contextmanager
    def with_drafts(self, texts: Mapping[str, str], base: AgentResources) -> Iterator[AgentResources]:
        """Give what agents use with these texts, which may need one another; raises as `with_draft` does."""
        with tempfile.TemporaryDirectory() as folder:
            drafts = {name: Path(folder) / name for name in texts}
            for name, draft in drafts.items():
                draft.parent.mkdir(parents=True, exist_ok=True)
                draft.write_text(texts[name], encoding="utf-8", newline="")
            try:
                for draft in drafts.values():
                    if draft.is_relative_to(Path(folder, "policies")):
                        read_policy(draft, Path(folder, "policies"))  # It tells of more than one problem.
                resources = with_files(base, self._config, Path(folder))
                for name in texts:
                    kind, _, rest = name.partition("/")
                    match kind:
                        case "prompts":
                            resources.prompts.check(rest)
                        case "state_spaces":
                            resources.spaces.get(Path(rest).stem)
                        case "presets":
                            resources.presets.get(Path(rest).stem)
                yield resources
            except BackstepError as error:
                said = str(error)
                for name, draft in drafts.items():
                    said = said.replace(str(draft), self.target(name).name)
                told = type(error)(said)
                if isinstance(error, DataError) and isinstance(told, DataError) and said != str(error):
                    told.problems = error.problems
                raise told from error

    def _found(self) -> dict[str, Path]:
        return {
            name: path
            for root in (RESOURCES, self._config)
            for name, path in files_in(root)
            if path.stem not in NOT_POLICIES
        }


def checked_settings(target: Path, text: str) -> EditText:
    """Return the text of the settings file with what is wrong in it."""
    view = EditText(
        name=SETTINGS,
        title="The settings file",
        language="toml",
        text=text,
        note=f"Saves to {target}. Settings are read when Backstep starts.",
        why_no_try="Settings are read when Backstep starts. Save them, and restart Backstep.",
        words=keys_of(FileSettings),
    )
    try:
        UserFile(target, text).validated(FileSettings)
    except BackstepError as error:
        return view.wrong(error)
    return view


def with_key(text: str, key: str, settings: FileSettings) -> tuple[str, int]:
    """Return the text of the settings file with a line for this key, and which line it is.

    A key that the file lacks is added as a comment, before the first table.
    """
    lines = text.splitlines(keepends=True)
    end = next((at for at, line in enumerate(lines) if line.lstrip().startswith("[")), len(lines))
    for at, line in enumerate(lines[:end]):
        if line.lstrip("# \t").partition("=")[0].strip() == key:
            return text, at + 1
    if end and not lines[end - 1].endswith("\n"):
        lines[end - 1] += "\n"
    value = settings.model_dump(mode="json")[key]
    added = f"# {key} = {json.dumps('' if value is None else value)}\n"
    return "".join([*lines[:end], added, *lines[end:]]), end + 1
