"""A person's corrections of a run: the next action, the plan and its remedies, an answer instead of the LLM's.

A change is stored with both versions before it takes effect.
"""

import asyncio

from core.agent.edits.edit import permissible_action
from core.agent.loop import AgentRun
from core.debugger.commands import SessionCommands, SessionParts, command
from core.debugger.publisher import needs_action
from core.debugger.services import sites_key
from core.llm.replies import as_json, as_lines, as_tool_call
from core.schema.action import Action
from core.schema.errors import BackstepError, UsageError
from core.schema.messages import LLMRequest
from core.settings.saving import save_settings
from core.settings.settings import read_settings_file


class Corrections(SessionCommands):
    """Carries out a person's corrections on the current run, which then continues or says why it cannot."""

    def __init__(self, parts: SessionParts) -> None:
        super().__init__(parts)
        self._question: LLMRequest | None = None

    # The next action

    @command
    def accept(self) -> None:
        """Carry out the next action as it is and finish the step."""
        self._runner.go("step")

    @command
    def skip(self) -> None:
        """Do nothing in this step; a request that is held does not leave."""
        if self._publisher.session.held_request:
            self._current.store_intervention("refuse request", self._publisher.session.held_request, "")
            self._runner.breaking.let_go(refuse=True)
            return
        run = self._reviewing()
        if run is None:
            return
        pending = run.state.pending
        self._current.store_intervention("skip", _words(pending.action), "")
        pending.skip, pending.origin = True, "person"
        run.state.queue.clear()
        self._runner.go("step")

    @command
    async def always_allow(self) -> None:
        """Let what is held go, and allow the site that it leads to for this task from now on, in the settings too."""
        services, site = self._current.need_services(), self._publisher.session.crossing
        run = self._current.run
        if not site or run is None:
            return
        key = sites_key(run.state.episode.task)
        try:
            sites = (*read_settings_file().task_sites.get(key, ()), site)
            path = await asyncio.to_thread(save_settings, {("task_sites", key): list(sites)})
        except BackstepError as error:
            self._publisher.tell(f"{site} is allowed for this run only: {error}", done=False)
        else:
            services.settings = services.settings.replace(
                task_sites={**services.settings.task_sites, key: sites}
            )
            self._publisher.tell(f"{site} is allowed for {key}, in {path} (task_sites).", done=True)
        self._runner.breaking.let_go()

    @command
    def ask_again(self) -> None:
        """Discard the proposal and ask the LLM again."""
        run = self._reviewing()
        if run is None:
            return
        self._current.store_intervention("ask again", _words(run.state.pending.action), "")
        run.decide_again()
        self._runner.go("review")

    @command
    def ask_anew_by_files(self) -> None:
        """Decide the current step again, with preset, state space, policies and prompts as their files are now."""
        run = self._current.need_run("A file can be tried only in the current run.")
        if self._publisher.session.handed_over:
            raise UsageError("You have the page: give it back first (F6).")
        if not run.resting or not run.state.unacted:
            raise UsageError("There is no action to request again. Step to the next one (F10).")
        preset = run.edit_context.resources.presets.get(self._publisher.session.preset)
        self._current.store_intervention("ask again", _words(run.state.pending.action), "")
        run.decide_again()
        run.use(preset=preset)
        self._runner.go("review")

    def _reviewing(self) -> AgentRun | None:
        run, publisher = self._current.under_way, self._publisher
        if publisher.session.handed_over:
            publisher.tell("You have the page: give it back first (F6).", done=False)
            return None
        if run is None or self._runner.busy or run.next_phase != "review":
            publisher.tell("There is no action to change. Step to the next one (F10).", done=False)
            return None
        return run

    def _permissible_action(self, run: AgentRun, text: str) -> Action | None:
        """Return the action a person wrote, or None with the problem shown."""
        try:
            return permissible_action(text, run.state.permissible)
        except UsageError as error:
            self._publisher.steps.show_problem(str(error))
            return None

    # An answer in the LLM's place

    def on_question(self, request: LLMRequest | None) -> None:
        """Put a question to the person; None withdraws it."""
        self._question = request
        self._publisher.send_question(request)
        if request is not None:
            self._publisher.set_mode("answering", "You are the LLM. Choose an action, or point at one.")
        elif self._publisher.session.mode == "answering":
            self._publisher.set_mode("running")

    @command
    def answer(self, thought: str, action: str) -> None:
        """Answer the open question in the LLM's place, in the form it asks for, or show why it cannot be."""
        request, run = self._question, self._current.run
        if request is None or run is None:
            self._publisher.tell("No question is open.", done=False)
            return
        person = self._current.need_services().llms.person
        if not needs_action(request):
            self._current.store_intervention("answer", "", thought)
            person.answer(thought)
            return
        chosen = self._permissible_action(run, action)
        if chosen is None:
            return
        self._current.store_intervention("answer", "", str(chosen))
        if request.tools:
            person.answer(thought, (as_tool_call(chosen, request.permissible),))
        elif run.state.preset.reply_format == "json":
            person.answer(as_json(thought, (chosen,), request.permissible))
        else:
            person.answer(as_lines(" ".join(thought.split()), (chosen,), request.permissible))


def _words(action: Action | None) -> str:
    return "" if action is None else str(action)
