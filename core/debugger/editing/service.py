"""The files that agents go by, edited in the window: read, checked as they are typed, tried and saved.

A bundled file is never changed: what is saved is the user's copy of it, which wins.
"""

import json
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from core.agent.decision import Decider
from core.agent.edits.run_edits import refusals
from core.agent.llm_calls import Asker
from core.agent.loop import AgentRun
from core.agent.phases.recognise import recognise
from core.agent.policies.catalogue import NOT_POLICIES
from core.agent.policies.file import read_policy
from core.agent.presets import Preset, Presets
from core.agent.prompt_builder import Prompter
from core.agent.prompts import Prompts
from core.agent.resources import AgentResources
from core.agent.spaces.file import Spaces
from core.debugger.commands import command
from core.debugger.interventions.held_texts import as_text
from core.debugger.service import Service
from core.debugger.snapshots import EditText
from core.schema.errors import BackstepError, DataError, UsageError
from core.schema.messages import Message
from core.schema.signal import Signal
from core.settings.saving import write_whole
from core.settings.settings import FILE_NAME, FileSettings
from core.settings.user_file import UserFile, near, read_text
from core.storage.resources import RESOURCES

if TYPE_CHECKING:
    from core.debugger.session import Session

KINDS = {
    "policies": ("policy", ".md", "markdown"),
    "presets": ("preset", ".toml", "toml"),
    "state_spaces": ("state space", ".toml", "toml"),
    "prompts": ("prompt", ".j2", "text"),
}
"""The folders of files that can be edited: what one is called, how its name ends, and its language."""
SETTINGS = f"settings/{FILE_NAME}"
"""The name of the settings file here."""
_NO_STEP = "No prompt to show: open a task (Ctrl+N) and step to an action (F10)."
_SAME = "With this text the prompt of the action in view stays as it is:\n\n"


class EditingService(Service[EditText]):
    """Sends the text of a file as `changed`, whole, when it was asked for, checked or saved.

    A file has the name of its path below the folder of all kinds, such as
    ``policies/webarena/find_commits.md``.
    """

    view = EditText(name="", title="")

    def __init__(self, session: "Session") -> None:
        super().__init__(session)
        self.files_listed: Signal[tuple[str, ...]] = Signal()
        """The names of all files that can be edited, in order."""

    def failed(self, problem: str) -> None:
        self.session.tell(problem, done=False)

    @command
    async def list_files(self) -> None:
        """Send the names of all files that can be edited."""
        self.files_listed.send(tuple(sorted(self._files())))

    @command
    async def open_path(self, path: str) -> None:
        """Offer the file at a path, which a step has recorded, to be edited."""
        for root in (self.services.config, RESOURCES):
            if Path(path).is_relative_to(root):
                await self._offer(Path(path).relative_to(root).as_posix())
                return
        raise UsageError(
            f"{path} is neither a bundled file nor in {self.services.config}: edit it where it is."
        )

    @command
    async def open(self, name: str) -> None:
        """Offer a file to be edited."""
        await self._offer(name)

    @command
    async def open_setting(self, key: str) -> None:
        """Offer the settings file to be edited at a key; one that it lacks is written there as a comment."""
        path = self._target(SETTINGS)
        text = read_text(path, line_ends=True) if path.exists() else ""
        text, line = _with_key(text, key, self.services.settings)
        self.send((await self._checked(SETTINGS, text)).replace(asked=True, line=line))

    @command
    async def check(self, name: str, text: str) -> None:
        """Send the text with what is wrong in it, or with the prompt that would result."""
        self.send(await self._checked(name, text))

    @command
    async def save(self, name: str, text: str) -> None:
        """Save the file as the user's own; what is wrong in it is sent instead."""
        await self._save(name, text)

    @command
    async def try_here(self, name: str, text: str) -> None:
        """Save the file, and have the step under way decided anew with it; nothing is saved where that cannot be."""
        if why := self._why_no_try(self._overridden(name)):
            raise UsageError(why)
        if await self._save(name, text):
            kind, _, rest = name.partition("/")
            preset = Path(rest).stem if kind == "presets" else self.session.session.preset
            if preset != self.session.session.preset:
                self.session.agent.set_preset(preset)
            self.session.corrections.ask_anew_by_files()

    async def _offer(self, name: str) -> None:
        text = read_text(self._source(name), line_ends=True)
        self.send((await self._checked(name, text)).replace(asked=True))

    async def _save(self, name: str, text: str) -> bool:
        view = await self._checked(name, text)
        if not view.problem:
            try:
                write_whole(self._target(name), text)
            except DataError as error:
                view = view.replace(problem=str(error))
        self.send(view.replace(applied=not view.problem))
        if not view.problem:
            self.session.tell(f"Saved {self._target(name)}.")
            self.session.offer()
        return not view.problem

    async def _checked(self, name: str, text: str) -> EditText:
        target = self._target(name)
        if name == SETTINGS:
            return _checked_settings(target, text)
        kind, _, rest = name.partition("/")
        what, _, language = KINDS[kind]
        bundled = not target.exists()
        saved = (
            f"Saved as your copy, {target}, which wins; the bundled file stays as it is."
            if bundled
            else f"Saved as {target}, your copy, which wins over a bundled one."
        )
        overridden = self._overridden(name)
        view = EditText(
            name=name,
            title=f"The {what} {rest}",
            language=language,
            text=text,
            note=" ".join(filter(None, (overridden, saved))),
            why_no_try=self._why_no_try(overridden),
        )
        with tempfile.TemporaryDirectory() as folder:
            draft = Path(folder) / name
            draft.parent.mkdir(parents=True)
            draft.write_text(text, encoding="utf-8", newline="")
            try:
                resources, preset = self._with_draft(Path(folder), kind, rest, bool(overridden))
                preview = await self._preview(resources, preset)
            except BackstepError as error:
                return view.replace(problem=str(error).replace(str(draft), target.name))
        return view.replace(preview=preview)

    def _with_draft(
        self, folder: Path, kind: str, rest: str, overridden: bool
    ) -> tuple[AgentResources, Preset]:
        """Return what agents go by with the draft in that folder in place, and the preset; raises as the readers do.

        A draft that is `overridden` in the run under way changes nothing there.
        """
        base, config = self._resources, self.services.config
        here = self.session.session.preset
        prompts = Prompts((folder / "prompts", config / "prompts", RESOURCES / "prompts"))
        spaces = Spaces(_folders(config, folder, "state_spaces"))
        presets = Presets(_folders(config, folder, "presets"), prompts, spaces)
        match kind:
            case "policies" if overridden:
                self.services.resources.policies.beside(folder / kind, {})
                return base, base.presets.get(here)
            case "policies":
                policies = base.policies.beside(folder / kind, {})
                return replace(base, policies=policies), base.presets.get(here)
            case "prompts":
                prompts.check(rest)
            case "state_spaces":
                spaces.get(Path(rest).stem)
            case "presets":
                here = Path(rest).stem
        return replace(base, presets=presets, prompts=prompts, spaces=spaces), presets.get(here)

    async def _preview(self, resources: AgentResources, preset: Preset) -> str:
        """Return the messages that would ask for the action of the step under way."""
        run = self._run_at_rest
        if run is None or not run.state.unacted or not run.state.has_done("abstract"):
            return _NO_STEP
        before = await self._messages(run, self._resources, run.state.preset)
        after = await self._messages(run, resources, preset)
        return (_SAME if before == after else "") + as_text(after)

    async def _messages(
        self, run: AgentRun, resources: AgentResources, preset: Preset
    ) -> tuple[Message, ...]:
        asker = Asker(run.store, self.services.llms.routed(self.session.session.llm), lambda _: None)
        state = run.state.copy()
        state.preset = preset.answered_in(asker.reply_format("function" if preset.calls == 2 else "decide"))
        state.begin_again("recognise", "")
        prompter = Prompter(resources, asker)
        await recognise(state, run.world, resources, pictures=prompter.shows_pictures(state))
        return Decider(prompter).messages(state)

    @property
    def _run_at_rest(self) -> AgentRun | None:
        run = self.session.agent_run
        return run if run is not None and run.resting and not self.session.busy else None

    def _why_no_try(self, overridden: str) -> str:
        run = self._run_at_rest
        if run is None or "ForceState" in refusals(run):
            return "Only while a step of a run is under review: step to the next one (F10)."
        return overridden

    def _overridden(self, name: str) -> str:
        """Return what the run under way goes by in place of this file, and what to do; or nothing."""
        kind, _, rest = name.partition("/")
        file, policies = self._files().get(name), self._resources.policies
        if kind != "policies" or file is None:
            return ""
        try:
            id = read_policy(file, file.parents[len(Path(rest).parts) - 1]).id
        except DataError:
            return ""  # No run goes by it.
        if policies.has_text(id):
            return (
                f"This run goes by its own text of the policy {id}, not by this file: "
                "fork it (Ctrl+Shift+F) to give it another text."
            )
        path = policies.path_of(id)
        if path not in ("", str(file)):
            return (
                f"This run goes by {path}, not by this file: edit that one, or fork the run (Ctrl+Shift+F) "
                "without that folder."
            )
        return ""

    @property
    def _resources(self) -> AgentResources:
        """What the run under way goes by; without one, what there is."""
        run = self.session.agent_run
        return self.services.resources if run is None else run.edit_context.resources

    def _target(self, name: str) -> Path:
        return self.services.config / (FILE_NAME if name == SETTINGS else name)

    def _source(self, name: str) -> Path:
        """Return the file that holds, the user's before the bundled one; raises UsageError."""
        files = self._files()
        if name == SETTINGS:
            return self._target(name)
        if name not in files:
            raise UsageError(f'There is no file "{name}" to edit; {near(name, tuple(files))}')
        return files[name]

    def _files(self) -> dict[str, Path]:
        return {
            path.relative_to(root).as_posix(): path
            for root in (RESOURCES, self.services.config)
            for kind, (_, suffix, _) in KINDS.items()
            for path in sorted((root / kind).rglob(f"*{suffix}"))
            if path.stem not in NOT_POLICIES
        }


def _checked_settings(target: Path, text: str) -> EditText:
    """Return the text of the settings file with what is wrong in it."""
    view = EditText(
        name=SETTINGS,
        title="The settings file",
        language="toml",
        text=text,
        note=f"Saved as {target}. Settings are read when Backstep starts.",
        why_no_try="Settings are read when Backstep starts: save them, and start it again.",
    )
    try:
        UserFile(target, text).validated(FileSettings)
    except BackstepError as error:
        return view.replace(problem=str(error))
    return view


def _with_key(text: str, key: str, settings: FileSettings) -> tuple[str, int]:
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
    return "".join(
        [*lines[:end], f"# {key} = {json.dumps('' if value is None else value)}\n", *lines[end:]]
    ), end + 1


def _folders(config: Path, draft: Path, kind: str) -> tuple[Path, ...]:
    return (RESOURCES / kind, config / kind, draft / kind)


make_service = EditingService
