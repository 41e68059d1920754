"""The function of each phase, and what phases work with in a run. A new phase is a function and a line here."""

from collections.abc import Awaitable, Callable
from typing import NamedTuple

from core.agent.abstraction_by_llm import Abstractor
from core.agent.decision import Decider
from core.agent.going_back import ScheduledSteps
from core.agent.phases.act import act
from core.agent.phases.ahead import DecisionsAhead
from core.agent.phases.choice import decide, review
from core.agent.phases.outcome import align, commit
from core.agent.phases.page import PageStore, abstract, abstracts_by_llm, observe, recall
from core.agent.phases.recognise import recognise
from core.agent.prompt_builder import Prompter
from core.agent.reflection.alignment import AlignmentJudge
from core.agent.reflection.anticipation import Anticipator
from core.agent.run_history import RunHistory
from core.agent.state import RunState
from core.agent.world import World
from core.schema.action import NewTrial
from core.schema.step import Aligned, Phase, PhaseRecord
from core.trace.store import TraceStore


class PhaseTools:
    """What the phases of one run work with."""

    def __init__(self, store: TraceStore, world: World, prompter: Prompter, state: RunState) -> None:
        self.store = store
        self.world = world
        self.prompter = prompter
        self.resources = prompter.resources
        self.state = state
        self.pages = PageStore(store, state)
        self.history = RunHistory(store, state.run)
        self.abstractor = Abstractor(prompter)
        self.decider = Decider(prompter, world.locate)
        self.carrying_out = ScheduledSteps(prompter)
        self.anticipator = Anticipator(prompter, self.decider)
        self.judge = AlignmentJudge(prompter)
        self.ahead = DecisionsAhead(prompter, self.decider, world)

    async def take_late_remedies(self, all_of_them: bool) -> None:
        """Complete the records of anticipate with remedies that were asked for while actions ran.

        Those that are still out are waited for where `all_of_them` are wanted.
        """
        async for step, late in self.anticipator.late(self.state, wait=all_of_them):
            self.store.save_phase(self.state.run, step, late)


async def align_ahead(tools: PhaseTools) -> Aligned:
    """Judge the step, and meanwhile ask what the next one will do where that may be."""
    state = tools.state
    if isinstance(state.pending.action, NewTrial):
        tools.anticipator.forget()  # What is out was asked for in the trial that has ended.
    await tools.ahead.begin(state)
    try:
        aligned = await align(state, tools.judge, tools.history, tools.take_late_remedies)
    except BaseException:
        tools.ahead.forget()
        raise
    tools.ahead.settle(state, aligned)
    return aligned


class PhaseEntry(NamedTuple):
    """The function of a phase, and whether it would ask an LLM in a given run."""

    run: Callable[[PhaseTools], Awaitable[PhaseRecord] | PhaseRecord]
    asks_llm: Callable[[RunState], bool] = lambda _: False


ENTRIES: dict[Phase, PhaseEntry] = {
    "observe": PhaseEntry(lambda tools: observe(tools.state, tools.world, tools.pages)),
    "recognise": PhaseEntry(
        lambda tools: recognise(
            tools.state, tools.world, tools.resources, pictures=tools.prompter.shows_pictures(tools.state)
        )
    ),
    "recall": PhaseEntry(lambda tools: recall(tools.state, tools.resources)),
    "abstract": PhaseEntry(
        lambda tools: abstract(tools.state, tools.world, tools.abstractor), asks_llm=abstracts_by_llm
    ),
    "decide": PhaseEntry(
        lambda tools: decide(tools.state, tools.decider.decide, tools.carrying_out, tools.prompter),
        asks_llm=lambda state: not state.queue,
    ),
    "anticipate": PhaseEntry(
        lambda tools: tools.anticipator.anticipate(tools.state),
        asks_llm=lambda state: state.is_on("remedies"),
    ),
    "review": PhaseEntry(lambda tools: review(tools.state)),
    "act": PhaseEntry(lambda tools: act(tools.state, tools.world, tools.prompter, tools.history)),
    "align": PhaseEntry(
        lambda tools: align_ahead(tools),
        asks_llm=lambda state: state.is_on("judgement"),
    ),
    "commit": PhaseEntry(lambda tools: commit(tools.state)),
}
