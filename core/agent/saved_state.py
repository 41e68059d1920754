"""The agent as a step found it, kept so that a run can go on from there.

What the trace has anyway is not kept twice: the pages, what was done in them,
and the exemplars that were recalled are read from the steps named here.
"""

from typing import Any

from core.agent.policies.stack import Stack
from core.agent.presets import Mechanism
from core.agent.reflection.remedies import RemedyStack
from core.agent.state import Budget, RunState, Totals, TrailStep
from core.schema.action import Action
from core.schema.messages import Turn
from core.schema.progress import Plan, SpaceMemory
from core.schema.record import Record
from core.schema.restore import SentAt
from core.schema.step import Scheduled


class SavedLook(Record):
    """One look at a page and what was done on it."""

    frame: int
    observation: str
    thought: str
    actions: tuple[Action, ...]
    results: tuple[str, ...] = ()


class SavedAgent(Record):
    """Everything an agent carries from one step to the next."""

    number: int
    trial: int = 1
    profile: str | None = None
    page_actions_limit: int = 30
    llm_calls_limit: int = 200
    switched: dict[Mechanism, bool] = {}
    amounts: dict[Mechanism, int] = {}
    loaded_at: dict[str, int] = {}
    done_at: tuple[int, ...] = ()
    """The steps whose inputs led to the page, in order."""
    sent: tuple[SentAt, ...] = ()
    memory: SpaceMemory = SpaceMemory()
    stack: Stack = Stack()
    queue: tuple[Action, ...] = ()
    queue_url: str = ""
    history: tuple[Turn, ...] = ()
    notes: tuple[str, ...] = ()
    totals: dict[str, Any] = {}
    answer: str = ""
    plan: Plan | None = None
    remedies: RemedyStack = RemedyStack()
    scheduled: Scheduled | None = None
    experience: tuple[str, ...] = ()
    tried: dict[str, tuple[str, ...]] = {}
    trial_began: int = 0
    calls_before_trial: int = 0
    summaries: dict[str, str] = {}
    recalled_at: dict[int, int] = {}
    """The step that has the exemplars of each frame."""
    trail: tuple[SavedLook, ...] = ()

    def as_json(self) -> str:
        """Return it without the fields that have nothing to say."""
        # Only whole fields can be left out: inside them a default tells one kind of action from another.
        fields = type(self).model_fields.items()
        unsaid = {name for name, field in fields if getattr(self, name) == field.default}
        return self.model_dump_json(exclude=unsaid)


def saved_of(state: RunState) -> SavedAgent:
    """Return what is to be kept of a run that is about to begin a step."""
    reflection = state.reflection
    return SavedAgent(
        number=state.number,
        trial=state.trial,
        profile=state.profile,
        page_actions_limit=state.budget.page_actions,
        llm_calls_limit=state.budget.llm_calls,
        switched=dict(state.switched),
        amounts=dict(state.amounts),
        loaded_at=dict(state.loaded_at),
        done_at=tuple(dict.fromkeys(one.step for one in state.inputs)),
        sent=tuple(state.sent),
        memory=state.memory,
        stack=state.stack,
        queue=tuple(state.queue),
        queue_url=state.queue_url,
        history=tuple(state.history),
        notes=tuple(state.notes),
        totals=vars(state.totals).copy(),
        answer=state.answer,
        plan=reflection.plan,
        remedies=reflection.remedies,
        scheduled=reflection.scheduled,
        experience=tuple(reflection.experience),
        tried={page: tuple(actions) for page, actions in reflection.tried.items()},
        trial_began=reflection.trial_began,
        calls_before_trial=reflection.calls_before_trial,
        summaries=dict(reflection.summaries),
        recalled_at=dict(state.recalled_at),
        trail=tuple(
            SavedLook(
                frame=look.frame,
                observation=look.observation,
                thought=look.thought,
                actions=tuple(look.actions),
                results=tuple(look.results),
            )
            for look in state.trail
        ),
    )


def put_back(saved: SavedAgent, state: RunState) -> None:
    """Make a state that was just made what was kept; pages, inputs and exemplars are the caller's to fill in."""
    state.number, state.trial, state.profile = saved.number, saved.trial, saved.profile
    state.budget = Budget(saved.page_actions_limit, saved.llm_calls_limit)
    state.switched, state.amounts = dict(saved.switched), dict(saved.amounts)
    state.loaded_at = dict(saved.loaded_at)
    state.sent = list(saved.sent)
    state.memory, state.stack = saved.memory, saved.stack
    state.queue, state.queue_url = list(saved.queue), saved.queue_url
    state.history, state.notes = list(saved.history), list(saved.notes)
    state.totals = Totals(**saved.totals)
    state.answer = saved.answer
    reflection = state.reflection
    reflection.plan, reflection.remedies = saved.plan, saved.remedies
    reflection.scheduled, reflection.experience = saved.scheduled, list(saved.experience)
    reflection.tried = {page: list(actions) for page, actions in saved.tried.items()}
    reflection.trial_began, reflection.calls_before_trial = saved.trial_began, saved.calls_before_trial
    reflection.summaries = dict(saved.summaries)
    state.recalled_at = dict(saved.recalled_at)
    state.trail = [
        TrailStep(
            frame=look.frame,
            observation=look.observation,
            thought=look.thought,
            actions=list(look.actions),
            results=list(look.results),
        )
        for look in saved.trail
    ]
