"""Calls that overlap: what they are counted as."""

import asyncio
import time

import pytest

from core.agent.llm_calls import Asker
from core.agent.presets import PRESETS, read_preset
from core.agent.state import Budget, RunState, StepClock
from core.schema.messages import LLMReply, LLMRequest, Message, Retry
from core.schema.task import Episode, Task
from core.trace.store import TraceStore
from tests.core.trace.making import start

REQUEST = LLMRequest(purpose="decide", messages=(Message(role="user", text="What next?"),))


class AllAtOnce:
    """Answers nobody before so many have asked."""

    name = "slow"
    takes_images = False

    def __init__(self, expected: int) -> None:
        self._all = asyncio.Barrier(expected)

    async def reply(self, request, *, on_text=None, on_retry=None):
        began = time.perf_counter()
        await self._all.wait()
        await asyncio.sleep(0.05)
        return LLMReply(text="so", seconds=time.perf_counter() - began)


@pytest.fixture
def store(tmp_path):
    store = TraceStore.open(tmp_path / "traces.db")
    yield store
    store.close()


def state_of(store) -> RunState:
    task = Task(id="t", environment="web", instruction="Do it.", start_url="http://127.0.0.1:1/")
    episode = Episode(task=task, seed=0, instruction="Do it.", start_url="http://127.0.0.1:1/")
    preset = read_preset(PRESETS / "plain.toml")
    return RunState(run=store.begin_run(start()), episode=episode, preset=preset, llm="slow", budget=Budget())


async def test_time_in_overlapping_calls_counts_once(store):
    state = state_of(store)
    store.begin_step(state.run, 1, 1)
    asker = Asker(store, AllAtOnce(3), lambda asked: None)
    began = time.perf_counter()
    await asyncio.gather(*(asker.ask(state, REQUEST) for _ in range(3)))
    whole = time.perf_counter() - began
    assert 0.05 <= state.totals.seconds_in_llm <= whole
    assert 0.05 <= state.in_calls.seconds <= whole


def test_the_clock_of_a_step_stands_still_while_the_step_is_held(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(time, "perf_counter", lambda: now[0])
    clock = StepClock()
    began = clock.now
    now[0] += 2
    with clock.hold():
        now[0] += 600
        assert clock.now - began == 2
        with clock.hold():
            now[0] += 1
    now[0] += 3
    assert clock.now - began == 5
    assert len(clock.held) == 2


def test_what_is_held_from_one_step_into_the_next_is_the_work_of_neither(monkeypatch, store):
    state, now = state_of(store), [100.0]
    monkeypatch.setattr(time, "perf_counter", lambda: now[0])
    with state.clock.hold():
        now[0] += 10
        state.begin_next()
        began = state.clock.now
        now[0] += 600
    now[0] += 1
    assert state.clock.now - began == 1


class OwnWords:
    """Ends a cancelled call as a client's task group may: with a message of its own."""

    name = "slow"
    takes_images = False

    def __init__(self) -> None:
        self.asked = asyncio.Event()

    async def reply(self, request, *, on_text=None, on_retry=None):
        self.asked.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            raise asyncio.CancelledError("Cancelled via cancel scope 7f") from None


async def test_a_call_that_is_withdrawn_is_stored_with_the_reason_whatever_its_client_says(store):
    state = state_of(store)
    store.begin_step(state.run, 1, 1)
    llm, ended = OwnWords(), asyncio.Event()
    asker = Asker(store, llm, lambda asked: ended.set() if asked.ended else None)
    failed = []
    asker.failed = failed.append
    asker.ask_early(state, REQUEST, step=1)
    await llm.asked.wait()
    asker.withdraw_early("cancelled: not needed")
    await ended.wait()
    (stored,) = store.calls.of(state.run)
    assert stored.error == "cancelled: not needed"
    assert failed == [stored]


class Streaming:
    """Says a text in small pieces, all at once, and the rest when it is let."""

    name = "streaming"
    takes_images = False

    def __init__(self, *, error: Exception | None = None) -> None:
        self.error = error
        self.go_on = asyncio.Event()

    async def reply(self, request, *, on_text=None, on_retry=None):
        for _ in range(20_000):
            on_text("x" * 8)
        await self.go_on.wait()
        if self.error is not None:
            raise self.error
        on_text("y")
        return LLMReply(text="x" * 160_000 + "y")


async def test_a_reply_in_thousands_of_pieces_is_told_whole_and_not_thousands_of_times(store):
    state = state_of(store)
    store.begin_step(state.run, 1, 1)
    llm = Streaming()
    heard: list[str] = []

    def listen(asked) -> None:
        heard.append(asked.text)
        if len(asked.text) == 160_000:
            llm.go_on.set()  # While the server is silent, all that has come is shown.

    reply, _ = await Asker(store, llm, listen).ask(state, REQUEST)
    assert heard[-1] == reply.text
    assert len(heard) < 20


async def test_a_call_that_ends_in_what_nobody_has_foreseen_is_stored_as_ended(store):
    state = state_of(store)
    store.begin_step(state.run, 1, 1)
    llm = Streaming(error=RecursionError("too deep\ud800"))
    llm.go_on.set()
    asker = Asker(store, llm, lambda asked: None)
    with pytest.raises(RecursionError):
        await asker.ask(state, REQUEST)
    assert asker.asking is None
    (call,) = store.calls.of(state.run)
    assert call.error.startswith("RecursionError: too deep\ufffd. This is an internal error")


class HeldUp:
    """Announces these retries, says a text, and waits to be cancelled."""

    name = "held up"
    takes_images = False

    def __init__(self, *retries: Retry, said: str = "") -> None:
        self.retries, self.said = retries, said
        self.silent = asyncio.Event()

    async def reply(self, request, *, on_text=None, on_retry=None):
        for retry in self.retries:
            on_retry(retry)
        if self.said:
            on_text(self.said)
        self.silent.set()
        await asyncio.Event().wait()


RATE = Retry(reason="requests_per_minute is reached.", waited=60.0, attempt=False)
LOADING = Retry(reason="llama.cpp loads it.", waited=0.0, attempt=False, held=True)
OTHER_FORM = Retry(reason="asked again without a limit on the reply.", waited=0.0, attempt=False)
BUSY = Retry(reason="busy", waited=60.0)


async def test_only_attempts_are_counted_as_such(store):
    state = state_of(store)
    store.begin_step(state.run, 1, 1)
    llm, heard = HeldUp(RATE, BUSY, LOADING), []
    task = asyncio.ensure_future(Asker(store, llm, heard.append).ask(state, REQUEST))
    await llm.silent.wait()
    task.cancel()
    await asyncio.wait([task])
    assert [(one.attempt, one.why_again) for one in heard if one.retry is not None] == [
        (1, RATE.reason),
        (2, BUSY.reason),
        (2, LOADING.reason),
    ]


@pytest.mark.parametrize(
    ("llm", "is_counted"),
    [
        (HeldUp(), True),
        (HeldUp(said="Yes"), True),
        (HeldUp(BUSY), True),
        (HeldUp(RATE), False),
        (HeldUp(RATE.replace(waited=1e-9)), True),
        (HeldUp(LOADING), False),
        (HeldUp(LOADING, OTHER_FORM), True),
        (HeldUp(OTHER_FORM), True),
        (HeldUp(OTHER_FORM, RATE), False),
        (HeldUp(LOADING, said="Yes"), True),
    ],
)
async def test_a_cancelled_call_takes_tokens_of_the_run_if_it_has_left(store, llm, is_counted):
    state = state_of(store)
    store.begin_step(state.run, 1, 1)
    task = asyncio.ensure_future(Asker(store, llm, lambda asked: None).ask(state, REQUEST))
    await llm.silent.wait()
    task.cancel()
    await asyncio.wait([task])
    (call,) = store.calls.of(state.run)
    totals = (state.totals.prompt_tokens, state.totals.completion_tokens)
    assert totals == (call.usage.prompt_tokens, call.usage.completion_tokens)
    assert call.usage.estimated == (totals[0] > 0) == is_counted
