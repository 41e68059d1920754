"""What a person puts right in a run: the next action, an answer in the LLM's place, the page itself.

Everything here runs in the worker's loop. What was changed is stored with
both versions before it holds.
"""

import time
from collections.abc import Callable
from typing import Literal

from core.agent.loop import AgentRun
from core.agent.spaces.pointer import action_at
from core.browser.channel import PageGone
from core.debugger.human_actions import Demonstrating
from core.debugger.publisher import needs_action
from core.debugger.runner import Driver
from core.debugger.services import Workshop
from core.debugger.snapshots import Picked
from core.llm.reply_encoder import as_json, as_lines, as_tool_call
from core.schema.action import Action, parse_action
from core.schema.errors import ActionError, ActionSyntaxError, BrowserError
from core.schema.messages import LLMRequest
from core.schema.observation import Box, Ref
from core.trace.records import Intervention, InterventionKind


class Corrections:
    """Carries out a person's corrections on the run of a driver, which then goes on or says why not."""

    def __init__(self, driver: Driver, workshop: Callable[[], Workshop], who: str) -> None:
        """`workshop` raises UsageError where there is none yet; `who` is what the trace calls the person."""
        self._driver = driver
        self._workshop = workshop
        self._who = who
        self._question: LLMRequest | None = None
        self.demonstrating: Demonstrating | None = None
        """Records what the person does, while they have the page."""

    def store(self, kind: InterventionKind, before: str, after: str) -> None:
        """Store what a person changed in the step under way."""
        run = self._driver.agent_run
        assert run is not None
        run.store.save_intervention(
            Intervention(
                run=run.state.run,
                step=run.state.number,
                kind=kind,
                who=self._who,
                when=time.time(),
                before=before,
                after=after,
            )
        )

    # The next action

    def edit(self, text: str) -> None:
        """Put this action in place of the next one, or show why it cannot be taken."""
        run = self._reviewing()
        action = self._permissible_action(run, text) if run is not None else None
        if run is None or action is None:
            return
        pending = run.state.pending
        if action == pending.action:
            self._driver.publish_step(run)
            return
        same_kind = pending.proposed is not None and pending.proposed.name == action.name
        kind: Literal["edit", "replace"] = "edit" if same_kind else "replace"
        self.store(kind, _words(pending.action), str(action))
        pending.action, pending.problem = action, ""
        pending.origin = "agent" if action == pending.proposed else "person"
        run.state.queue.clear()
        self._driver.set_mode("waiting", self._driver.gate_message(run))
        self._driver.publish_step(run)

    def edit_queue(self, texts: tuple[str, ...]) -> None:
        """Put these in place of the actions that wait, or show why one cannot be; each is reviewed in its turn.

        Whether an action is permissible is seen when its turn comes: the page
        may be another one then.
        """
        run = self._reviewing()
        if run is None:
            return
        queue = []
        for text in texts:
            try:
                queue.append(parse_action(text, run.state.permissible.own_names))
            except ActionSyntaxError as error:
                self._driver.show_problem(f"{text}: {error}")
                return
        before = run.state.queue
        if queue != before:
            self.store("queue", _listed(before), _listed(queue))
            run.state.queue[:] = queue
            run.state.queue_url = run.state.observation.document
        self._driver.publish_step(run)

    def skip(self) -> None:
        """Leave the step under review without an action; a request that is held does not leave."""
        if self._driver.session.held_request:
            self.store("refuse request", self._driver.session.held_request, "")
            self._driver.breaking.let_go(refuse=True)
            return
        run = self._reviewing()
        if run is None:
            return
        pending = run.state.pending
        self.store("skip", _words(pending.action), "")
        pending.skip, pending.origin = True, "person"
        run.state.queue.clear()
        self._driver.go("step")

    def ask_again(self) -> None:
        """Throw the proposal away and ask the LLM once more."""
        run = self._reviewing()
        if run is None:
            return
        self.store("ask again", _words(run.state.pending.action), "")
        run.decide_again()
        self._driver.go("review")

    def _reviewing(self) -> AgentRun | None:
        driver = self._driver
        run = driver.agent_run
        if driver.session.handed_over:
            driver.change(message="You have the page: give it back first (F6).")
            return None
        if run is None or run.ended or driver.busy or run.next_phase != "review":
            driver.change(message="There is no action to change now: step to the next one (F10).")
            return None
        return run

    def _permissible_action(self, run: AgentRun, text: str) -> Action | None:
        """Return the action a person wrote, or None with the problem shown."""
        try:
            action = parse_action(text, run.state.permissible.own_names)
        except ActionSyntaxError as error:
            self._driver.show_problem(str(error))
            return None
        problem = run.state.permissible.problem(action)
        if problem:
            self._driver.show_problem(problem)
            return None
        return action

    # An answer in the LLM's place

    def on_question(self, request: LLMRequest | None) -> None:
        """Put a question to the person; None withdraws it."""
        self._question = request
        self._driver.send_question(request)
        if request is not None:
            self._driver.set_mode("answering", "You are the LLM: choose an action, or point at one.")
        elif self._driver.session.mode == "answering":
            self._driver.set_mode("running")

    def answer(self, thought: str, text: str) -> None:
        """Answer the open question in the form it asks for, or show why the action cannot be taken."""
        request, run = self._question, self._driver.agent_run
        if request is None or run is None:
            self._driver.change(message="No question is open.")
            return
        person = self._workshop().llms.person
        if not needs_action(request):
            self.store("answer", "", thought)
            person.answer(thought)
            return
        action = self._permissible_action(run, text)
        if action is None:
            return
        self.store("answer", "", str(action))
        if request.tools:
            person.answer(thought, (as_tool_call(action, request.permissible),))
        elif run.state.preset.reply_format == "json":
            person.answer(as_json(thought, (action,), request.permissible))
        else:
            person.answer(as_lines(" ".join(thought.split()), (action,)))

    # The live page

    async def hand_over(self, on: bool) -> None:
        """Let the person's mouse and keys reach the page, or take it back and go on with it as they left it.

        What they do is recorded as steps of theirs. An episode that they ended
        in the page ends the run.
        """
        driver = self._driver
        if on == driver.session.handed_over:
            return
        if on and driver.busy:
            driver.change(message="Pause first: the agent is acting.")
            return
        run = driver.agent_run
        if run is None or run.ended:
            driver.change(handed_over=on)
            return
        if on:
            await self._give(run)
            return
        steps = await self._taken_back()
        url = await self._current_url(follow=True)
        self.store("handover", "", f"{steps} recorded, at {url}" if steps else url)
        driver.change(handed_over=False)
        if await run.check_ended():
            driver.ended(run)
            return
        run.look_again()
        driver.go("decide")

    async def _give(self, run: AgentRun) -> None:
        """Let the person act, and record what they do."""
        driver = self._driver
        url = await self._current_url(follow=False)
        self.store("handover", url, "")
        demonstrating = Demonstrating(
            run, lambda: self._on_deed(run), lambda problem: driver.log("warning", "handover", problem)
        )
        try:
            await demonstrating.begin()
        except (PageGone, BrowserError, ActionError) as error:
            driver.log("warning", "handover", f"What you do in the page is not recorded: {error}")
        else:
            self.demonstrating = demonstrating
        driver.change(handed_over=True)

    def _on_deed(self, run: AgentRun) -> None:
        """Show the step that the person has just done."""
        driver = self._driver
        driver.change(**driver.figures())
        driver.publish_step(run)
        driver.send_runs(driver.query)

    async def _taken_back(self) -> int:
        """Record no more, and return how many steps of the person's there are."""
        demonstrating, self.demonstrating = self.demonstrating, None
        return await demonstrating.end() if demonstrating is not None else 0

    async def _current_url(self, *, follow: bool) -> str:
        """Return the address of the current tab, of the one the person went to with `follow`."""
        tabs = self._workshop().tabs
        try:
            if follow:
                await tabs.follow()
            return await tabs.current.url()
        except (PageGone, BrowserError, ActionError):
            return ""  # The page is gone: reading it brings it back, or says why not.

    async def point(self, x: float, y: float, *, final: bool) -> None:
        """Announce which element lies at this point of the viewport."""
        found = None
        if self._driver.agent_run is not None:
            try:
                found = await self._workshop().tabs.current.element_at(x, y)
            except (PageGone, ActionError, BrowserError):
                found = None
        if found is None:
            self._driver.picked.send(Picked(ref=None, final=final))
            return
        ref, box = found["ref"], Box.model_validate(found["box"])
        action = await self._action_at(ref) if final else ""
        self._driver.picked.send(Picked(ref=ref, label=found["label"], box=box, final=final, action=action))

    async def _action_at(self, ref: Ref) -> str:
        """Return the action of the state at hand that acts on an element, as text; empty where there is none."""
        run = self._driver.agent_run
        state = run.state if run is not None else None
        if state is None or state.space_state is None or state.recognised is None:
            return ""
        page = self._workshop().tabs.current
        try:
            found = await action_at(
                state.space_state[1], state.recognised.permissible, state.observation, page, ref
            )
        except (PageGone, ActionError, BrowserError):
            return ""
        return "" if found is None else str(found)


def _listed(actions: list[Action]) -> str:
    return "; ".join(map(str, actions))


def _words(action: Action | None) -> str:
    return "" if action is None else str(action)
