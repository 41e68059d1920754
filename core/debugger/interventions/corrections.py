"""What a person puts right in a run: the next action, the plan and its remedies, an answer in the LLM's place.

What was changed is stored with both versions before it holds.
"""

from typing import Literal

from core.agent.loop import AgentRun
from core.agent.phases.outcome import overrule
from core.debugger.commands import SessionCommands, SessionParts, command
from core.debugger.publisher import needs_action
from core.llm.replies import as_json, as_lines, as_tool_call
from core.schema.action import Action, parse_action
from core.schema.errors import ActionSyntaxError, UsageError
from core.schema.messages import LLMRequest
from core.schema.step import PHASES, Aligned, Judgement, JudgementPart


class Corrections(SessionCommands):
    """Carries out a person's corrections on the current run, which then goes on or says why not."""

    def __init__(self, parts: SessionParts) -> None:
        super().__init__(parts)
        self._question: LLMRequest | None = None

    # The next action

    @command
    def edit_action(self, text: str) -> None:
        """Put this action in place of the next one; an impermissible one is answered by `ActionView.problem`."""
        run = self._reviewing()
        action = self._permissible_action(run, text) if run is not None else None
        if run is None or action is None:
            return
        pending = run.state.pending
        if action == pending.action:
            self._publisher.publish_step(run)
            return
        same_kind = pending.proposed is not None and pending.proposed.name == action.name
        kind: Literal["edit", "replace"] = "edit" if same_kind else "replace"
        self._current.store_intervention(kind, _words(pending.action), str(action))
        pending.action, pending.problem = action, ""
        pending.origin = "agent" if action == pending.proposed else "person"
        run.state.queue.clear()
        self._publisher.set_mode("waiting", self._runner.gate_message(run))
        self._publisher.publish_step(run)

    @command
    def edit_queue(self, actions: tuple[str, ...]) -> None:
        """Put these in place of the actions that wait for the steps after this one, or show why one cannot be.

        Whether an action is permissible is seen when its turn comes: the page
        may be another one then.
        """
        run = self._reviewing()
        if run is None:
            return
        queue = []
        for text in actions:
            try:
                queue.append(parse_action(text, run.state.permissible.own_names))
            except ActionSyntaxError as error:
                self._publisher.steps.show_problem(f"{text}: {error}")
                return
        before = run.state.queue
        if queue != before:
            self._current.store_intervention("queue", "; ".join(map(str, before)), "; ".join(map(str, queue)))
            run.state.queue[:] = queue
            run.state.queue_url = run.state.observation.document
        self._publisher.publish_step(run)

    @command
    def accept(self) -> None:
        """Take the next action as it stands and finish the step."""
        self._runner.go("step")

    @command
    def skip(self) -> None:
        """Leave this step without an action; a request that is held does not leave."""
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
    def ask_again(self) -> None:
        """Throw the proposal away and ask the LLM again."""
        run = self._reviewing()
        if run is None:
            return
        self._current.store_intervention("ask again", _words(run.state.pending.action), "")
        run.decide_again()
        self._runner.go("review")

    @command
    def ask_anew_by_files(self) -> None:
        """Decide the step under way anew, with preset, state space, policies and prompts as their files are now."""
        run = self._current.need_run("A file is tried in the run under way.")
        if self._publisher.session.handed_over:
            raise UsageError("You have the page: give it back first (F6).")
        if not run.resting or not run.state.unacted:
            raise UsageError("There is no action to ask for again now: step to the next one (F10).")
        self._current.store_intervention("ask again", _words(run.state.pending.action), "")
        run.decide_again()
        run.use(preset=self._current.need_services().resources.presets.get(self._publisher.session.preset))
        self._runner.go("review")

    def _reviewing(self) -> AgentRun | None:
        run, publisher = self._current.under_way, self._publisher
        if publisher.session.handed_over:
            publisher.change(message="You have the page: give it back first (F6).")
            return None
        if run is None or self._runner.busy or run.next_phase != "review":
            publisher.change(message="There is no action to change now: step to the next one (F10).")
            return None
        return run

    def _permissible_action(self, run: AgentRun, text: str) -> Action | None:
        """Return the action a person wrote, or None with the problem shown."""
        try:
            action = parse_action(text, run.state.permissible.own_names)
        except ActionSyntaxError as error:
            self._publisher.steps.show_problem(str(error))
            return None
        problem = run.state.permissible.problem(action)
        if problem:
            self._publisher.steps.show_problem(problem)
            return None
        return action

    # The plan and its remedies

    @command
    def edit_plan(self, subtasks: tuple[str, ...], current: int) -> None:
        """Put these subtasks in place of the plan, and go on at the one at `current` (from 0)."""
        run = self._current.need_run("A plan is of the run under way.")
        before = run.state.reflection.plan
        run.set_plan(subtasks, current)
        after = run.state.reflection.plan
        assert after is not None
        self._current.store_intervention("plan", before.in_words() if before else "", after.in_words())
        self._shown_again(run, "The plan was changed; the next prompt has it.")

    @command
    def fire_remedy(self, number: int) -> None:
        """Go back to the step that this remedy starts from, and try it."""
        run = self._current.need_run("A remedy is of the run under way.")
        fired = run.fire_remedy(number)
        self._current.store_intervention("remedy", "", f"{fired.action} of step {fired.step}")
        self._shown_again(run, f"{fired.action} of step {fired.step} is tried next.")
        if not self._runner.busy and PHASES.index(run.next_phase) <= PHASES.index("decide"):
            self._runner.go("review")

    @command
    def overrule(self, part: JudgementPart, is_so: bool) -> None:
        """Say otherwise of the step that was just carried out, with what follows from it.

        ``aligned``: it served its purpose. ``subtask`` and ``task``: they are done.
        """
        run = self._current.need_run("A judgement is of the run under way.")
        before = run.state.aligned or Aligned()
        field = {"aligned": "aligned", "subtask": "subtask_done", "task": "task_done"}[part]
        said = {name: getattr(before, name) for name in Judgement.model_fields}
        after = Judgement(**(said | {field: is_so}))
        if not run.resting:
            raise UsageError("A phase is under way; pause first (F5), then overrule the judgement.")
        run.store.save_phase(run.state.run, run.state.number, overrule(run.state, after))
        was = getattr(before, field)
        self._current.store_intervention(
            "judgement", f"{part}: {'unclear' if was is None else was}", f"{part}: {is_so}"
        )
        self._shown_again(run, "The judgement is yours; what follows from it is settled anew.")

    def _shown_again(self, run: AgentRun, message: str) -> None:
        run.store_reflection()
        self._publisher.change(message=message, **self._publisher.figures())
        self._publisher.publish_step(run)

    # An answer in the LLM's place

    def on_question(self, request: LLMRequest | None) -> None:
        """Put a question to the person; None withdraws it."""
        self._question = request
        self._publisher.send_question(request)
        if request is not None:
            self._publisher.set_mode("answering", "You are the LLM: choose an action, or point at one.")
        elif self._publisher.session.mode == "answering":
            self._publisher.set_mode("running")

    @command
    def answer(self, thought: str, action: str) -> None:
        """Answer the open question in the LLM's place, in the form it asks for, or show why it cannot be."""
        request, run = self._question, self._current.run
        if request is None or run is None:
            self._publisher.change(message="No question is open.")
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
