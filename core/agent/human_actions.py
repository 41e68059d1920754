"""Stores what a person does in the page of a run as the person's steps."""

from collections.abc import Callable

from core.agent.abstraction import clean, clean_of, ranked, tokens_of
from core.agent.loop import AgentRun
from core.agent.phases.choice import review
from core.agent.phases.outcome import commit
from core.agent.state import Pending
from core.browser.demonstration import HumanAction
from core.browser.dialogs import GivenAnswer
from core.browser.settling import SettleMark
from core.schema.action import Action, AnswerDialog, RefTarget, Type
from core.schema.element_identity import RecordedInput, marks_of
from core.schema.errors import ActionError
from core.schema.observation import Capture, Observation
from core.schema.restore import SentAt
from core.schema.secrets import Kind, kind_of_name, named, told_by
from core.schema.step import Abstracted, Acted


class HumanActions:
    """Stores each human action as a sealed step, with the page as it was before."""

    def __init__(self, run: AgentRun, on_problem: Callable[[str], None]) -> None:
        self.run = run
        self._on_problem = on_problem
        self.looked: Capture | None = None
        """The page as it was read while the person was typing."""
        self._since = SettleMark(0, 0)

    async def look(self) -> None:
        """Read the page as the person takes it; the first thing they do is done in it. Raises BrowserError."""
        state, world = self.run.state, self.run.world
        state.capture = await self._read()
        state.page = await world.page_state(state.episode)
        self._since = world.tabs.mark()

    async def take(
        self, human_action: HumanAction, *, more: bool, waiting: Callable[[], bool] = lambda: False
    ) -> int:
        """Store what the person did, and read the page after it; dialogs that it set off are steps before it.

        If `more` actions are waiting, the page has already changed again: then the last reading, while the
        person was typing, is the page of these actions; `waiting` returns whether one has arrived meanwhile.
        A step that was begun for the agent becomes the person's. Returns how many steps were stored. Raises
        ActionError, BrowserError, PageGone and TraceError; the step is not sealed then.
        """
        run, state, world = self.run, self.run.state, self.run.world
        before = state.capture
        if before is None or run.ended:
            return 0
        if human_action.kind == "look":
            page = await self._read() if not more else None
            if page is None or (waiting() and page.observation.url != before.observation.url):
                return 0  # It shows where an action that has come meanwhile has led to.
            if human_action.typing:
                self.looked = page
            else:
                state.capture = page
            return 0
        if human_action.kind == "upload":
            human_action = await human_action.with_path(world.tabs.current)
        if human_action.browsed is None:
            human_action = await human_action.in_frames(world.tabs.current)
        action = human_action.action(before.observation)
        if action is None:
            raise ActionError(
                human_action.text if human_action.kind == "lost" else "Its element has no place in the page."
            )
        if human_action.secret and isinstance(action, Type):
            element = before.observation.element(human_action.ref) if human_action.ref is not None else None
            kind = (element.hides if element is not None else "") or "password"
            action = action.replace(text=self._named(kind, human_action.secret))
        proposed = state.pending.action or action
        run.take_over()
        world.touches.touch()
        if more or (human_action.kind == "type" and self.looked is not None):
            # Typing is reported as the field is left, when the next human action has begun.
            state.capture = _typed(human_action, self.looked or before)
        else:
            await world.tabs.settle(self._since)
            self._since = world.tabs.mark()
            after = await self._read()
            beyond = human_action.kind == "type" and waiting()
            state.capture = _typed(human_action, before) if beyond else after
        self.looked = None
        answers = [self._answer(given) for given in world.tabs.browser.host.events.dialogs.take_given()]
        for answer in answers:  # They come before what made the page ask: it waited for them.
            acted = Acted(effect="page action", outcome="done", inputs=(self._input(answer, before),))
            self._seal(answer, proposed, before, acted)
            run.take_over()
        acted = await self._acted(human_action, action, before, more=more)
        await run.keep_network()
        self._seal(action, proposed, before, acted)
        state.page = await world.page_state(state.episode)
        return len(answers) + 1

    def _answer(self, given: GivenAnswer) -> AnswerDialog:
        if given.by_rule:
            self._on_problem(
                f"You were not asked, for this browser answers by the settings (dialogs). {given.by_rule}"
            )
        accepted, text = given.answer
        if not accepted or given.kind == "confirm":
            return AnswerDialog(answer="accept" if accepted else "dismiss")
        kind = kind_of_name(given.message, text)
        known = self._named(kind, text) if kind and text else self.run.world.capturer.secrets.instead_of(text)
        return AnswerDialog(answer="accept", text=known or text)

    def _named(self, kind: Kind, secret: str) -> str:
        """Return what stands for a secret that was typed; the task has it from now on, and it is stored nowhere."""
        run, state, world = self.run, self.run.state, self.run.world
        if secret in told_by(state.episode.task.environment, state.episode.instruction):
            return secret
        name = world.name_secret(state.episode, kind, secret)
        run.store.hide(state.run, kind, secret, named(name))
        run.store.secrets.declare(name, secret)
        return named(name)

    def _seal(self, action: Action, proposed: Action, before: Capture, acted: Acted) -> None:
        state = self.run.state
        abstracted = self._abstracted(action, before.observation)
        state.before, state.clean, state.acted = before, abstracted.clean, acted
        state.pending = Pending(action=action, origin="person", proposed=proposed)
        self.run.seal(before, (abstracted, review(state), acted, commit(state)))

    def _input(self, action: Action, before: Capture) -> RecordedInput:
        state = self.run.state
        done = RecordedInput(step=state.number, action=action, marks=marks_of(action, before.observation))
        state.inputs.append(done)
        return done

    def _abstracted(self, action: Action, page: Observation) -> Abstracted:
        """Return the page as a prompt would show it, with what the person has used; no LLM is asked for it."""
        state = self.run.state
        used = {target.ref for target in action.targets if isinstance(target, RefTarget)}
        if state.is_on("abstraction") and state.abstraction_settings.how == "ranked":
            shown = ranked(page, state.objectives, keep=state.abstraction_settings.keep)
            kept = {element.ref for element in shown.elements} | used
            shown = clean(page, [element for element in page.elements if element.ref in kept])
            how = f"ranking by the words of the task, {state.abstraction_settings.keep} elements kept"
            return Abstracted(clean=shown, tokens=tokens_of(shown), how=how)
        shown = clean_of(page)
        left_out = [
            element
            for element in page.elements
            if element.ref in used - {kept.ref for kept in shown.elements}
        ]
        if left_out:
            text = "\n".join((shown.text, *(one.line() for one in left_out)))
            shown = shown.replace(text=text, elements=(*shown.elements, *left_out))
        return Abstracted(clean=shown, tokens=tokens_of(shown))

    async def _acted(
        self, human_action: HumanAction, action: Action, before: Capture, *, more: bool
    ) -> Acted:
        state, world = self.run.state, self.run.world
        done = self._input(action, before)
        sent = world.tabs.browser.take_sent()
        state.sent += [SentAt(step=state.number, sent=one) for one in sent]
        return Acted(
            effect="page action",
            outcome="done",
            target=human_action.label,
            xpath=human_action.xpath,
            events=world.tabs.browser.take_events(),
            sent=sent,
            inputs=(done,),
            # Where the page is beyond this one already, one that comes after it has ended the episode.
            episode_ended=not more and human_action.kind != "type" and await world.episode_ended(),
        )

    async def _read(self) -> Capture:
        world = self.run.world
        return await world.capturer.with_picture(await world.read())


def _typed(human_action: HumanAction, page: Capture) -> Capture:
    """Return the page with what a field of it holds since it was typed into; what else has changed is not known."""
    if human_action.kind != "type" or human_action.ref is None:
        return page
    elements = tuple(
        element.replace(value=human_action.text, digest="") if element.ref == human_action.ref else element
        for element in page.observation.elements
    )
    observation = page.observation.replace(elements=elements)
    return page.replace(observation=observation)
