"""What a person does in the page of a run, as steps of theirs."""

from core.action import Action
from core.agent.clean import clean_of
from core.agent.loop import AgentRun
from core.agent.phases.commit import commit
from core.agent.phases.review import review
from core.agent.records import Acted
from core.agent.state import Pending
from core.browser.checkpoints.inputs import RecordedInput, marks_of
from core.browser.demonstration import Deed
from core.browser.sent import SentAt
from core.browser.settle import Mark
from core.observation import Capture


class Deeds:
    """Stores each deed as a sealed step, with the page as it was before."""

    def __init__(self, run: AgentRun) -> None:
        self.run = run
        self.looked: Capture | None = None
        """The page as it was read while the person was typing."""
        self._since = Mark(0, 0)

    async def look(self) -> None:
        """Read the page as the person takes it; the first thing they do is done in it. Raises BrowserError."""
        state, world = self.run.state, self.run.world
        state.capture = await self._read()
        state.page = await world.page_state(state.episode)
        self._since = world.tabs.mark()

    async def take(self, deed: Deed, *, more: bool) -> Action | None:
        """Store what the person did, and read the page after it.

        With `more` deeds waiting the page is already beyond it: then the last
        look at it, while the person was typing, is the page that they were done
        in. A step that was begun for the agent becomes theirs. Returns the
        action, or None where the deed has none. Raises BrowserError, PageGone
        and TraceError; the step is not sealed then.
        """
        run, state, world = self.run, self.run.state, self.run.world
        before = state.capture
        if before is None or run.ended:
            return None
        if deed.kind == "look":
            self.looked = self.looked if more else await self._read()
            return None
        action = deed.action(before.observation)
        if action is None:
            return None
        proposed = state.pending.action
        run.take_over()
        state.before, state.clean = before, clean_of(before.observation)
        state.pending = Pending(action=action, origin="person", proposed=proposed or action)
        world.touches.touch()
        if more or (deed.kind == "type" and self.looked is not None):
            # Typing is told as the field is left, when the next deed has begun.
            state.capture = self.looked or before
        else:
            await world.tabs.settle(self._since)
            self._since = world.tabs.mark()
            state.capture = await self._read()
        self.looked = None
        state.acted = await self._acted(deed, action, before)
        await run.keep_network()
        run.seal(before, (review(state), state.acted, commit(state)))
        state.page = await world.page_state(state.episode)
        return action

    async def _acted(self, deed: Deed, action: Action, before: Capture) -> Acted:
        state, world = self.run.state, self.run.world
        done = RecordedInput(step=state.number, action=action, marks=marks_of(action, before.observation))
        state.inputs.append(done)
        sent = world.tabs.take_sent()
        state.sent += [SentAt(step=state.number, sent=one) for one in sent]
        return Acted(
            effect="page action",
            outcome="done",
            target=deed.label,
            xpath=deed.xpath,
            events=world.tabs.take_events(),
            sent=sent,
            inputs=(done,),
            episode_ended=await world.episode_ended(),
        )

    async def _read(self) -> Capture:
        world = self.run.world
        return await world.capturer.with_picture(await world.read())
