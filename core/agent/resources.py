"""The files an agent uses: presets, prompts, state spaces, policies and exemplars, each read again when edited."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from glob import glob
from pathlib import Path
from typing import TYPE_CHECKING

from core.agent.policies.catalogue import POLICIES, Policies
from core.agent.presets import PRESETS, Presets
from core.agent.prompts import PROMPTS, Prompts
from core.agent.spaces.file import SPACES, Spaces
from core.exemplars.files import EXEMPLARS
from core.exemplars.library.records import LIBRARY_NAME
from core.exemplars.memory import Memory
from core.schema.changes import NONE, OWN, Changes
from core.schema.errors import DataError
from core.settings.user_file import read_text
from core.system.paths import expanded

if TYPE_CHECKING:
    from core.llm.embedding import Embedding


@dataclass
class AgentResources:
    """Everything that is looked up by name; create it with `agent_resources_of`."""

    presets: Presets
    prompts: Prompts
    spaces: Spaces
    policies: Policies
    memory: Memory
    own_folders: tuple[Path, ...] | None = ()
    """The folders laid out as the config folder whose files go before the bundled ones, the first before the others.

    None where there are other files too, of a branch.
    """

    def own_texts(self) -> dict[str, str] | None:
        """Return the texts of the user's own files, which go before the bundled ones; None if not all are known.

        The names are those below the config folder. A file that cannot be read as text is left out. More than
        `_MOST_OF_OWN` characters are not known either.
        """
        if self.own_folders is None:
            return None
        texts: dict[str, str] = {}
        for folder in self.own_folders:
            for name, path in files_in(folder):
                with suppress(DataError, OSError):
                    texts.setdefault(name, read_text(path, line_ends=True))
        return texts if sum(map(len, texts.values())) <= _MOST_OF_OWN else None

    def changed(self, changes: Changes) -> "AgentResources":
        """Return this with the policies and exemplars of a branch; itself if there are no others.

        Raises UsageError and DataError if these cannot be used.
        """
        policies, memory = self.policies, self.memory
        folder = None if changes.policies in (None, OWN) else expanded(str(changes.policies))
        if folder is not None or changes.policy_texts:
            policies = policies.beside(folder, changes.policy_texts)
        if changes.exemplars not in (None, OWN):
            other = None if changes.exemplars == NONE else expanded(str(changes.exemplars))
            memory = memory.instead(other)
        if changes.without or changes.without_families or changes.versions:
            memory = memory.altered(
                without=changes.without, families=changes.without_families, versions=changes.versions
            )
        if policies is self.policies and memory is self.memory:
            return self
        folders = self.own_folders if policies is self.policies else None
        return replace(self, policies=policies, memory=memory, own_folders=folders)

    def problems(self) -> tuple[str, ...]:
        """Return a sentence, with file and line, for each file of the agent, and each exemplar, that cannot be used."""
        found: list[str] = []
        for name in self.presets.names():
            try:
                self.presets.get(name)
            except DataError as error:
                found.append(str(error))
        return (*found, *self.memory.files.problems(), *self.spaces.problems(), *self.policies.check())


_SUFFIXES = {"prompts": ".j2", "state_spaces": ".toml", "presets": ".toml", "policies": ".md"}
OWN_FOLDERS = tuple(_SUFFIXES)
"""The folders of a config folder in which the files of an agent are."""
_MOST_OF_OWN = 4_000_000


def files_in(folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield the files of an agent in a folder that is laid out as the config folder, each with its name below it."""
    for kind, suffix in _SUFFIXES.items():
        for name in sorted(glob(f"**/*{suffix}", root_dir=folder / kind, recursive=True)):
            yield Path(kind, name).as_posix(), folder / kind / name


def with_files(base: AgentResources, config: Path, folder: Path) -> AgentResources:
    """Return `base`, whose files are those of `config`, with those of one more folder laid out alike, which win.

    Raises DataError with the first thing that is wrong in a policy of it.
    """
    prompts = Prompts((folder / "prompts", config / "prompts", PROMPTS))
    spaces = Spaces((SPACES, config / "state_spaces", folder / "state_spaces"))
    presets = Presets((PRESETS, config / "presets", folder / "presets"), prompts, spaces)
    policies = folder / "policies"
    return replace(
        base,
        presets=presets,
        prompts=prompts,
        spaces=spaces,
        policies=base.policies.beside(policies, {}) if policies.is_dir() else base.policies,
        own_folders=None if base.own_folders is None else (folder, *base.own_folders),
    )


def agent_resources_of(
    config: Path | None = None,
    *,
    data: Path | None = None,
    exemplars: Path | None = None,
    embedding: "Callable[[], Embedding] | None" = None,
) -> AgentResources:
    """Return the files of the installation and, before them, those in the folders of `config`.

    The library of the user's own exemplars lies in `data`, and so does the index
    of them all. Files of exemplars are read from the folder `exemplars`, and from
    the folder of that name in `data`, which wins; `embedding` gives what makes it, the built-in one without it.
    """
    prompts = Prompts((PROMPTS,) if config is None else (config / "prompts", PROMPTS))

    def folders(built_in: Path, name: str) -> tuple[Path, ...]:
        """Return the folders of a kind; the later wins."""
        return (built_in,) if config is None else (built_in, config / name)

    own = dict.fromkeys(one for one in (exemplars, data and data / "exemplars") if one is not None)
    spaces = Spaces(folders(SPACES, "state_spaces"))
    return AgentResources(
        presets=Presets(folders(PRESETS, "presets"), prompts, spaces),
        prompts=prompts,
        spaces=spaces,
        policies=Policies(folders(POLICIES, "policies")),
        memory=Memory(
            (EXEMPLARS, *own),
            index_folder=None if data is None else data / "index",
            library=None if data is None else data / LIBRARY_NAME,
            embedding=embedding,
            shared=exemplars or (data and data / "exemplars"),
        ),
        own_folders=() if config is None else (config,),
    )
