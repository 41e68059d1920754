"""Editing of agent files in the window: reads them, checks them while typing, tries and saves them.

Bundled files are never changed: edits are saved to the user's copy, which wins.
"""

from pathlib import Path
from typing import TYPE_CHECKING

from core.agent.decision import Decider
from core.agent.edits.run_edits import refusals
from core.agent.llm_calls import Asker
from core.agent.loop import AgentRun
from core.agent.phases.recognise import recognise
from core.agent.presets import Preset
from core.agent.prompt_builder import Prompter
from core.agent.resources import AgentResources
from core.debugger.commands import command
from core.debugger.editing.files import SETTINGS, AgentFiles, checked_settings, with_key
from core.debugger.editing.views import EditText
from core.debugger.interventions.held_texts import as_text
from core.debugger.service import Service
from core.schema.errors import BackstepError, UsageError
from core.schema.messages import Message
from core.schema.signal import Signal

if TYPE_CHECKING:
    from core.debugger.session import Session

_NO_STEP = "No prompt to show: open a task (Ctrl+N) and step to an action (F10)."
_SAME = "This text does not change the prompt of the current action:\n\n"


class EditingService(Service[EditText]):
    """Sends the whole text of a file with `changed` after it was requested, checked or saved.

    The name of a file is its path below the folder of all kinds, such as
    ``policies/webarena/find_commits.md``.
    """

    view = EditText(name="", title="")

    def __init__(self, session: "Session") -> None:
        super().__init__(session)
        self.files_listed: Signal[tuple[str, ...]] = Signal()
        """The names of all files that can be edited, in order."""

    @property
    def files(self) -> AgentFiles:
        return AgentFiles(self.services.config)

    def failed(self, problem: str) -> None:
        self.session.tell(problem, done=False)

    @command
    async def list_files(self) -> None:
        """Send the names of all files that can be edited."""
        self.files_listed.send(self.files.names())

    @command
    async def open_path(self, path: str) -> None:
        """Offer the file at a path, which a step has recorded, to be edited."""
        await self._offer(self.files.name_of(path))

    @command
    async def open(self, name: str) -> None:
        """Offer a file to be edited."""
        await self._offer(name)

    @command
    async def open_setting(self, key: str) -> None:
        """Offer the settings file to be edited at a key; one that it lacks is written there as a comment."""
        base = self.files.own_text(SETTINGS)
        text, line = with_key(base or "", key, self.services.settings)
        self.send((await self._checked(SETTINGS, text)).replace(asked=True, line=line, base=base))

    @command
    async def check(self, name: str, text: str) -> None:
        """Send the text with what is wrong in it, or with the prompt that would result."""
        self.send(await self._checked(name, text))

    @command
    async def save(self, name: str, text: str, base: str | None) -> None:
        """Save the file as the user's own; what is wrong in it is sent instead.

        That may be that the user's own file is no longer `base`, as it was when the text was read.
        """
        await self._save(name, text, base)

    @command
    async def try_here(self, name: str, text: str, base: str | None) -> None:
        """Save the file, and have the current step decided again with it; nothing is saved if that cannot be."""
        if why := self._why_no_try(self._overridden(name)):
            raise UsageError(why)
        if await self._save(name, text, base):
            kind, _, rest = name.partition("/")
            preset = Path(rest).stem if kind == "presets" else self.session.session.preset
            if preset != self.session.session.preset:
                self.session.agent.set_preset(preset)
            self.session.corrections.ask_anew_by_files()

    async def _offer(self, name: str) -> None:
        view = await self._checked(name, self.files.read(name))
        self.send(view.replace(asked=True, base=self.files.own_text(name)))

    async def _save(self, name: str, text: str, base: str | None) -> bool:
        view = await self._checked(name, text)
        if not view.problem:
            try:
                if self.files.own_text(name) not in (None, base, text):
                    raise UsageError(
                        f"{self.files.target(name)} was changed since this text was read. Reload (Alt+R) reads it as "
                        "it is now; Ctrl+Z brings your text back."
                    )
                self.files.write(name, text)
            except BackstepError as error:
                view = view.replace(problem=str(error))
        self.send(view.replace(applied=not view.problem, base=text))
        if not view.problem:
            self.session.tell(f"Saved {self.files.target(name)}.")
            self.session.offer()
        return not view.problem

    async def _checked(self, name: str, text: str) -> EditText:
        if name == SETTINGS:
            return checked_settings(self.files.target(name), text)
        overridden = self._overridden(name)
        view = self.files.described(name, text, self._resources, overridden)
        view = view.replace(why_no_try=self._why_no_try(overridden))
        kind, _, rest = name.partition("/")
        preset = Path(rest).stem if kind == "presets" else self.session.session.preset
        try:
            base = self.services.resources if overridden else self._resources
            with self.files.with_draft(name, text, base) as changed:
                # What the run does not use changes nothing in its prompt.
                resources = self._resources if overridden else changed
                preview = await self._preview(resources, resources.presets.get(preset))
        except BackstepError as error:
            return view.wrong(error)
        return view.replace(preview=preview)

    async def _preview(self, resources: AgentResources, preset: Preset) -> str:
        """Return the messages that would ask for the action of the current step."""
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
        state.preset = asker.settled(preset)
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
            return "A file can be tried only while a step is in review. Step to the next one (F10)."
        return overridden

    def _overridden(self, name: str) -> str:
        """Return what the current run uses in place of this file, and what to do; or nothing."""
        id, policies = self.files.policy_of(name), self._resources.policies
        if not id:
            return ""
        if policies.has_text(id):
            return (
                f"This run uses its own text of the policy {id}, not this file. Fork it (Ctrl+Shift+F) to give "
                "it another text."
            )
        path = policies.path_of(id)
        if path not in ("", str(self.files.path(name))):
            return (
                f"This run uses {path}, not this file. Edit that file, or fork the run (Ctrl+Shift+F) "
                "without its folder."
            )
        return ""

    @property
    def _resources(self) -> AgentResources:
        """What the current run uses; without one, what there is."""
        run = self.session.agent_run
        return self.services.resources if run is None else run.edit_context.resources


make_service = EditingService
