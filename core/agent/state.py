"""The run so far: what the phases read, and what they leave for one another."""

import time
from dataclasses import dataclass, field

from core.action import Action
from core.agent.policies.stack import Stack
from core.agent.presets import Mechanism, Preset
from core.agent.records import Acted, Origin, Phase, Proposal, Recognised
from core.agent.spaces.file import SpaceState, StateSpace
from core.agent.spaces.memory import SpaceMemory
from core.llm.protocol import Turn
from core.observation import Capture, CleanObservation, Observation
from core.permissible import Permissible
from core.task import Episode


@dataclass
class Budget:
    """What a run may use; each limit is checked before it would be passed."""

    page_actions: int = 30
    llm_calls: int = 200


@dataclass
class Pending:
    """The action that waits for review."""

    action: Action | None = None
    thought: str = ""
    origin: Origin = "agent"
    proposed: Action | None = None
    problem: str = ""
    skip: bool = False
    refused: bool = False
    """Skipped at a gate by rule; a person's own skipping costs nothing of the budget."""
    note: str = ""

    @property
    def edited(self) -> bool:
        return self.origin == "person" and self.proposed != self.action


@dataclass
class Totals:
    """What the run has used."""

    page_actions: int = 0
    llm_calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = None
    seconds_in_llm: float = 0.0


@dataclass
class StepClock:
    """Time of the step under way, and how much of it the LLM and the person took."""

    active: float = 0.0
    in_llm: float = 0.0


@dataclass
class RunState:
    """Everything that is known while a run goes on; only the loop and its phases write it."""

    run: int
    episode: Episode
    preset: Preset
    llm: str
    budget: Budget
    number: int = 1
    """The step under way, from 1."""
    trial: int = 1
    next_phase: Phase = "observe"
    capture: Capture | None = None
    """The page as it was last read."""
    stale: bool = False
    """Whether something other than an action may have changed the page since."""
    switched: dict[Mechanism, bool] = field(default_factory=dict)
    """Mechanisms that a person switched on or off, whatever the preset says."""
    recognised: Recognised | None = None
    space_state: tuple[StateSpace, SpaceState] | None = None
    """The state that the page is in, where a state space holds."""
    memory: SpaceMemory = field(default_factory=SpaceMemory)
    stack: Stack = field(default_factory=Stack)
    clean: CleanObservation | None = None
    pending: Pending = field(default_factory=Pending)
    queue: list[Action] = field(default_factory=list)
    queue_url: str = ""
    acted: Acted | None = None
    history: list[Turn] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    totals: Totals = field(default_factory=Totals)
    clock: StepClock = field(default_factory=StepClock)
    started: float = field(default_factory=time.time)
    answer: str = ""
    last_proposal: Proposal = field(default_factory=Proposal)

    def is_on(self, mechanism: Mechanism) -> bool:
        """Return whether a mechanism works, by its switch or else by the preset."""
        return self.switched.get(mechanism, self.preset.has(mechanism))

    def take_note(self, text: str) -> None:
        """Keep a note of the run, and of the policy at work."""
        self.notes.append(text)
        if self.stack.top is not None:
            self.stack = self.stack.note(text)

    @property
    def objectives(self) -> tuple[str, ...]:
        """What is to be done: the task, and what the policy at work was called with."""
        own = () if self.stack.top is None or self.stack.top.caller is None else self.stack.top.arguments
        return (self.episode.instruction, *own)

    @property
    def calls_left(self) -> int:
        """LLM calls that the budget still allows."""
        return max(self.budget.llm_calls - self.totals.llm_calls, 0)

    @property
    def observation(self) -> Observation:
        assert self.capture is not None
        return self.capture.observation

    @property
    def permissible(self) -> Permissible:
        return self.recognised.permissible if self.recognised is not None else Permissible()
