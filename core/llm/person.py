"""The person as LLM: each request is shown in the window, and the person answers by choosing."""

import asyncio
import threading
import time
from collections.abc import Callable

from core.schema.errors import LLMError
from core.schema.messages import LLMReply, LLMRequest, Retry, ToolCall
from core.schema.signal import Signal

Listener = Callable[[LLMRequest | None], None]


class PersonLLM:
    """Asks the listeners, one question at a time, and waits for `answer`.

    A listener gets the request when it is asked and None when it is answered
    or withdrawn, in the thread of the asking loop.
    """

    name = "person"
    takes_images = False

    def __init__(self, listener: Listener | None = None) -> None:
        self._asked: Signal[LLMRequest | None] = Signal()
        self._listeners = 0
        self._turn = asyncio.Lock()
        self._guard = threading.Lock()
        self._open: tuple[asyncio.AbstractEventLoop, asyncio.Future[LLMReply]] | None = None
        if listener is not None:
            self.connect(listener)

    def connect(self, listener: Listener) -> None:
        """Put every further question to `listener`."""
        self._asked.connect(listener)
        self._listeners += 1

    def disconnect(self, listener: Listener) -> None:
        """Forget `listener`; raises ValueError if it was never connected."""
        self._asked.disconnect(listener)
        self._listeners -= 1

    async def reply(
        self,
        request: LLMRequest,
        *,
        on_text: Callable[[str], None] | None = None,
        on_retry: Callable[[Retry], None] | None = None,
    ) -> LLMReply:
        """Put the request to the person and wait, without limit.

        Cancelling withdraws the question. Raises LLMError if no window
        listens.
        """
        if not self._listeners:
            raise LLMError(
                'The LLM "person" needs a window; open the window, or choose another LLM with --llm.'
            )
        started = time.perf_counter()
        async with self._turn:
            loop = asyncio.get_running_loop()
            future: asyncio.Future[LLMReply] = loop.create_future()
            with self._guard:
                self._open = (loop, future)
            try:
                self._asked.send(request)
                answer = await future
            finally:
                with self._guard:
                    self._open = None
                self._asked.send(None)
        if answer.text and on_text is not None:
            on_text(answer.text)
        return answer.replace(seconds=time.perf_counter() - started)

    def answer(self, text: str, tool_calls: tuple[ToolCall, ...] = ()) -> bool:
        """Answer the open question, from any thread; return False if none is open."""
        reply = LLMReply(
            text=text,
            tool_calls=tool_calls,
            model=self.name,
            finish_reason="tool_calls" if tool_calls else "stop",
        )
        with self._guard:
            if self._open is None:
                return False
            loop, future = self._open
            self._open = None
        loop.call_soon_threadsafe(_resolve, future, reply)
        return True

    async def close(self) -> None:
        """Withdraw an open question: whoever waits for it is cancelled."""
        with self._guard:
            question, self._open = self._open, None
        if question is not None:
            loop, future = question
            loop.call_soon_threadsafe(future.cancel)


def _resolve(future: "asyncio.Future[LLMReply]", reply: LLMReply) -> None:
    if not future.done():
        future.set_result(reply)
