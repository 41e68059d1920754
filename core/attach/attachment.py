"""An attached agent for its run: its questions and acts arrive here in order and wait."""

import asyncio
import contextlib
import re
import time
from collections.abc import Callable
from contextlib import ExitStack

from core.attach.agent_connection import ActMessage, Refused, Swallowed
from core.attach.clock import HeldClock
from core.attach.gateway import AgentQuestion
from core.attach.page_acts import Fold, PageAct
from core.attach.scripts import names_act
from core.attach.told import Told, ToldOutcome
from core.attach.wire_formats import error_body

REFUSED = "The person who debugs this agent refused it."
ENDED = "The run of this agent in Backstep has ended."
_EPISODE_ENDED = "The agent reported that its episode has ended."
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_PAUSE_SECONDS = 0.02
_QUIET_SECONDS = 0.08
"""So long nothing more of an act may come before it counts as over."""
_TYPING_SECONDS = 0.25
"""The same while letters come, one by one."""
_BEGUN_SECONDS = 1.0
"""The same where what it was begun for has not come yet, such as the text for a field that was emptied."""


class HeldAct:
    """Something that the agent is about to do to a page: its first message waits here, the others follow."""

    def __init__(self, message: ActMessage) -> None:
        self.tab = message.tab
        self.node = message.node
        self._fold = Fold(message.part)
        self._answer: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.expected = ""
        """The text that is typed letter by letter, if it is known."""
        self._swallows = False
        self._last = 0.0
        self._ended = asyncio.Event()

    @property
    def act(self) -> PageAct:
        """What it is, as far as its messages have come."""
        return self._fold.act

    @property
    def types_by_letters(self) -> bool:
        """Whether a text follows of which no more than the first letter has come."""
        return self._fold.types_by_letters

    @property
    def waits(self) -> bool:
        """Whether it has been neither released, refused nor swallowed."""
        return not self._answer.done()

    def release(self) -> None:
        """Let it happen."""
        self._note()
        if self.waits:
            self._answer.set_result(None)

    def refuse(self, why: str) -> None:
        """Have the agent told that it failed."""
        if self.waits:
            self._answer.set_exception(Refused(why))

    def swallow(self) -> None:
        """Have the agent told that it was done, though none of it is."""
        self._swallows = True
        if self._fold.announced:
            self.release()  # The page is prepared, and cleared again, as for a click.
        elif self.waits:
            self._answer.set_exception(Swallowed())

    def takes(self, message: ActMessage) -> bool:
        """Take in a further message, if it is one of this act; raises Swallowed if none is carried out."""
        if message.tab != self.tab or not self._fold.takes(message.part):
            return False
        self._note()
        if self._swallows:
            raise Swallowed
        return True

    async def answered(self) -> None:
        """Wait until it may happen; raises Refused or Swallowed if it may not."""
        await self._answer

    def end(self) -> None:
        """Nothing more of it comes: the agent does or asks something else."""
        self._ended.set()

    async def over(self) -> None:
        """Wait until no more of its messages come.

        The wait goes by short pauses and not by the clock: on a busy machine, messages come as late as this goes on.
        """
        last, left = self._last, self._last + self._quiet - asyncio.get_running_loop().time()
        while left > 0 and not self._ended.is_set():
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._ended.wait(), min(left, _PAUSE_SECONDS))
            left -= _PAUSE_SECONDS
            if self._last != last:  # Each further message puts it off.
                last, left = self._last, self._quiet

    @property
    def _quiet(self) -> float:
        types_on = self.act.text != self.expected and self.expected.startswith(self.act.text)
        if self._fold.unfinished or types_on:
            return _BEGUN_SECONDS
        return _TYPING_SECONDS if self.act.kind == "type" else _QUIET_SECONDS

    def _note(self) -> None:
        self._last = asyncio.get_running_loop().time()


Arrival = AgentQuestion | HeldAct


class Attachment:
    """The questions and acts of one agent; its gateway calls `on_question`, its browser proxy calls `on_act`.

    What has arrived is held, together with the agent's clock, until the run takes it.
    """

    def __init__(self, clock: HeldClock) -> None:
        self.clock = clock
        self.ended = ""
        """How the agent's program has ended, in a sentence; empty while it runs."""
        self.gave_up = 0.0
        """After how many seconds the agent did not wait any longer, when it last did not; 0 if it always has."""
        self._refusing = ""
        """Why whatever the agent does is refused until it next asks its LLM; empty if it is not."""
        self._harmless: set[str] = set()
        """The scripts that are let through, without their numbers: they changed nothing of the page when they ran."""
        self.let_through: list[PageAct] = []
        """The scripts that were not held although they may act, since the run last looked."""
        self.ran_scripts = False
        """Whether any script ran that may act, and may still: by a timer, for example."""
        self._arrived: dict[Arrival, ExitStack] = {}
        """In order, each with the hold on the clock."""
        self.told: list[Told] = []
        """What the agent has said of itself since that was last taken, in order."""
        self.on_begun: Callable[[HeldAct], object] = lambda act: None
        """Is called with each act, before it is held."""
        self.started = False
        """Whether its program was started here, so that `on_end` is told of its end."""
        self._watchers: list[asyncio.Future[None]] = []
        self._under_way: HeldAct | None = None
        self._closed = False

    # From the agent

    async def on_question(self, question: AgentQuestion) -> None:
        """Take a question in, and wait until it has been answered, or nobody waits for the answer any more."""
        self._refusing = ""
        self._end_act()
        self._hold(question)
        began = time.monotonic()
        over, left = (asyncio.ensure_future(one.wait()) for one in (question.over, question.left))
        try:
            await asyncio.wait([over, left], return_when=asyncio.FIRST_COMPLETED)
        finally:
            if not question.over.is_set():
                self.gave_up = time.monotonic() - began
            over.cancel()
            left.cancel()
            self.take(question)

    async def on_act(self, message: ActMessage) -> None:
        """Wait until what a message does may happen; raises Refused or Swallowed if it may not."""
        if self._refusing:
            raise Refused(self._refusing)
        act = message.part.act
        self.ran_scripts = self.ran_scripts or act.doubtful or message.part.passes
        if self._closed or (self._under_way is not None and self._under_way.takes(message)):
            return
        if not message.part.begins:
            return  # The end of something that was let happen.
        if message.part.passes or (act.doubtful and _NUMBER.sub("", act.text) in self._harmless):
            self.let_through.append(act)
            return
        self._end_act()
        held = HeldAct(message)
        self.on_begun(held)
        self._hold(held)
        began = time.monotonic()
        try:
            await held.answered()
        except asyncio.CancelledError:
            self.gave_up = time.monotonic() - began
            raise
        finally:
            self.take(held)

    def on_told(self, told: Told) -> None:
        """Take in what the agent says of itself; it does not wait for that."""
        self.told.append(told)
        if isinstance(told, ToldOutcome) and told.ended and not self.started:
            self.on_end(_EPISODE_ENDED)

    def on_end(self, how: str) -> None:
        """Take in that the program has ended."""
        self.ended = how
        self._tell()

    # For the run

    @property
    def next(self) -> Arrival | None:
        """What waits to be taken first."""
        return next(iter(self._arrived), None)

    def change(self) -> "asyncio.Future[None]":
        """Return what is done once something arrives, or is withdrawn, or the agent has ended."""
        watcher = asyncio.get_running_loop().create_future()
        self._watchers.append(watcher)
        return watcher

    async def arrival(self) -> Arrival | None:
        """Wait for what the agent asks or does next, and return it; None if it has ended."""
        while self.next is None and not self.ended:
            await self.change()
        return self.next

    def take_told(self, most: int | None = None) -> list[Told]:
        """Return in order what the agent has said of itself since this was last asked, or the first `most` of it."""
        most = len(self.told) if most is None else most
        told, self.told = self.told[:most], self.told[most:]
        return told

    def give_back(self, question: AgentQuestion) -> None:
        """A question was not answered: it is the next arrival again."""
        later = self._arrived
        self._arrived = {}
        self._hold(question)
        self._arrived.update(later)

    def release(self, act: HeldAct) -> None:
        """Let an act happen, with all messages that belong to it."""
        self._under_way = act
        act.release()

    def swallow(self, act: HeldAct) -> None:
        """Have the agent told that an act was done, though none of its messages is carried out."""
        self._under_way = act
        act.swallow()

    def refuse(self, act: HeldAct, why: str) -> None:
        """Have the agent told that an act failed, and whatever it tries instead until it asks its LLM again."""
        self._under_way = None
        self._refusing = why
        act.refuse(why)

    def learn_harmless(self, script: PageAct) -> bool:
        """Let a script through from now on that changed nothing; returns False for one whose words act."""
        if names_act(script.text):
            return False
        self._harmless.add(_NUMBER.sub("", script.text))
        return True

    def close(self) -> None:
        """Refuse what waits, and let everything happen that comes later; for its run, the agent has ended."""
        self._closed = True
        self.on_end(self.ended or ENDED)
        for arrival in tuple(self._arrived):
            if isinstance(arrival, HeldAct):
                arrival.refuse(ENDED)
            else:
                arrival.refuse(503, error_body(ENDED, "withdrawn"))
            self.take(arrival)

    def _hold(self, arrival: Arrival) -> None:
        hold = self._arrived[arrival] = ExitStack()
        hold.enter_context(self.clock.hold())
        self._tell()

    def _end_act(self) -> None:
        under_way, self._under_way = self._under_way, None
        if under_way is not None:
            under_way.end()

    def take(self, arrival: Arrival) -> None:
        """It is dealt with now, or withdrawn: the clock continues."""
        if (hold := self._arrived.pop(arrival, None)) is not None:
            hold.close()
            self._tell()

    def _tell(self) -> None:
        watchers, self._watchers = self._watchers, []
        for watcher in watchers:
            if not watcher.done():
                watcher.set_result(None)
