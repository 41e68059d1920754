import asyncio
import threading

import pytest

from core.llm.person import PersonLLM
from core.llm.replies import as_tool_call
from core.schema.action import Click, RefTarget
from core.schema.errors import LLMError
from core.schema.messages import LLMRequest, Message

CLICK = as_tool_call(Click(target=RefTarget(ref=3)))


def ask(text: str = "What now?") -> LLMRequest:
    return LLMRequest(purpose="decide", messages=(Message(role="user", text=text),))


class Window:
    """Keeps what is asked, and lets a test wait for it."""

    def __init__(self) -> None:
        self.seen: list[LLMRequest | None] = []
        self.changed = asyncio.Event()

    def show(self, request: LLMRequest | None) -> None:
        self.seen.append(request)
        self.changed.set()

    async def until(self, count: int) -> None:
        while len(self.seen) < count:
            self.changed.clear()
            await asyncio.wait_for(self.changed.wait(), 5)


@pytest.fixture
async def window():
    return Window()


async def test_an_answer_from_another_thread_becomes_the_reply(window):
    person = PersonLLM(window.show)
    task = asyncio.create_task(person.reply(ask()))
    await window.until(1)
    thread = threading.Thread(target=person.answer, args=("Because.", (CLICK,)))
    thread.start()
    reply = await asyncio.wait_for(task, 5)
    thread.join()
    assert (reply.text, reply.tool_calls, reply.model) == ("Because.", (CLICK,), "person")
    assert reply.seconds > 0
    assert reply.cost is None
    assert window.seen == [ask(), None]


async def test_cancelling_withdraws_the_question(window):
    person = PersonLLM(window.show)
    task = asyncio.create_task(person.reply(ask()))
    await window.until(1)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert window.seen == [ask(), None]
    assert person.answer("too late") is False


async def test_questions_are_put_one_at_a_time(window):
    person = PersonLLM(window.show)
    tasks = [asyncio.create_task(person.reply(ask(text))) for text in ("first", "second")]
    await window.until(1)
    assert person.answer("1")
    await window.until(3)
    assert person.answer("2")
    assert [(await task).text for task in tasks] == ["1", "2"]
    assert window.seen == [ask("first"), None, ask("second"), None]


async def test_a_question_is_answered_once(window):
    person = PersonLLM(window.show)
    task = asyncio.create_task(person.reply(ask()))
    await window.until(1)
    assert person.answer("yes") is True
    assert person.answer("no") is False
    assert (await task).text == "yes"


async def test_without_a_window_it_says_so():
    person = PersonLLM()
    with pytest.raises(LLMError, match="needs a window"):
        await person.reply(ask())


async def test_a_window_that_went_away_no_longer_listens(window):
    person = PersonLLM(window.show)
    person.disconnect(window.show)
    with pytest.raises(LLMError, match="needs a window"):
        await person.reply(ask())


async def test_closing_cancels_whoever_waits(window):
    person = PersonLLM(window.show)
    task = asyncio.create_task(person.reply(ask()))
    await window.until(1)
    await person.close()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(task, 5)
    assert window.seen[-1] is None
