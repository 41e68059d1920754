"""Asks for the next step's action while this one is still being judged.

The next prompt depends on the judgement only in whether the subtask is over. So both prompts are sent, and
the call that turns out to be wrong is cancelled. The next step uses the answer if its own request is the
same; if the page has changed, it asks again.
"""

from core.agent.decision import Decider
from core.agent.phases.outcome import commit
from core.agent.phases.page import abstract_without_llm
from core.agent.phases.recognise import recognise
from core.agent.prompt_builder import Prompter
from core.agent.reflection.consequences import follow
from core.agent.state import RunState
from core.agent.world import World
from core.browser.channel import PageGone
from core.schema.errors import BackstepError
from core.schema.messages import LLMRequest
from core.schema.step import Aligned

NOT_NEEDED = "cancelled: it was asked ahead, and the judgement came out otherwise"


class DecisionsAhead:
    """Asks the next step's question early, once for each possible outcome of the subtask."""

    def __init__(self, prompter: Prompter, decider: Decider, world: World) -> None:
        self._prompter = prompter
        self._decider = decider
        self._world = world
        self._asked: dict[bool, LLMRequest] = {}
        """The requests that are out, by whether the subtask is over."""

    async def begin(self, state: RunState) -> None:
        """Put the questions, where the preset and the LLM are such that it is worth it."""
        self.forget()
        state.asked_ahead = False
        if not self._worth_it(state):
            return
        state.asked_ahead = True
        planned = self._prompter.subtask(state) != ""
        for over in (False, True) if planned else (False,):
            request = await self._request(state, over)
            if request is not None:
                self._asked[over] = request
        state.asked_ahead = bool(self._asked)
        for request in self._asked.values():
            self._prompter.asker.ask_early(state, request, step=state.number + 1)

    def settle(self, state: RunState, aligned: Aligned) -> None:
        """Keep the question that the judgement left, and withdraw the other; with something scheduled, both."""
        keep = None
        if state.reflection.scheduled is None:
            keep = self._asked.get(bool(aligned.subtask_done) and len(self._asked) > 1)
        self._prompter.asker.withdraw_early(NOT_NEEDED, but=keep)
        self._asked.clear()

    def forget(self) -> None:
        """Withdraw all that is out."""
        self._prompter.asker.withdraw_early("cancelled: it was asked ahead, and is not needed")
        self._asked.clear()

    def _worth_it(self, state: RunState) -> bool:
        settings, acted, asker = state.judgement_settings, state.acted, self._prompter.asker
        if not state.overlap or settings.mode != "fast" or not state.is_on("judgement") or acted is None:
            return False
        if settings.ahead == "never" or (settings.ahead == "free" and state.totals.cost):
            return False
        goes_on = acted.effect == "page action" and acted.outcome == "done" and not acted.episode_ended
        plain = (
            state.preset.calls == state.preset.samples == 1
            and state.preset.pictures == "none"
            and not state.queue
        )
        nothing_due = state.reflection.scheduled is None and state.calls_left > 2
        return goes_on and plain and nothing_due and asker.at_once("decide") and asker.at_once("judgement")

    async def _request(self, state: RunState, over: bool) -> LLMRequest | None:
        """Return what the next step will ask if the judgement is yes and the subtask is `over` or not."""
        ahead = state.copy()
        judged = Aligned(judged=True, aligned=True, subtask_done=over, task_done=False)
        follow(ahead, judged, ahead.number)
        if ahead.reflection.scheduled is not None:
            return None
        ahead.aligned = judged
        commit(ahead)
        ahead.begin_next()
        ahead.before = ahead.capture
        try:
            recognised = await recognise(ahead, self._world, self._prompter.resources)
        except (BackstepError, PageGone):
            return None
        known = ahead.recalled is not None or not ahead.is_on("memory")
        if recognised.over or not known or not abstract_without_llm(ahead):
            return None
        return self._decider.request(ahead)
