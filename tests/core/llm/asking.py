"""What the tests of the client share: a request, and an LLM at the loopback server that waits for nothing."""

import pytest

from core.llm.openai_compatible import OpenAICompatibleLLM
from core.schema.errors import LLMError
from core.schema.messages import LLMRequest, Message, Tool
from tests.llm_server import LLMServer

KEY = "sk-test-0123456789abcdef"
CLICK = Tool(
    name="click",
    description="Click an element.",
    parameters={"type": "object", "properties": {"target": {"type": "integer"}}, "required": ["target"]},
)


def ask(**more) -> LLMRequest:
    messages = (Message(role="system", text="You use a page."), Message(role="user", text="Click Save."))
    return LLMRequest(**{"purpose": "decide", "messages": messages, **more})


def make(server: LLMServer, **more) -> OpenAICompatibleLLM:
    values = {
        "base_url": server.base_url,
        "first_wait": 0.001,
        "longest_wait": 0.01,
        "timeout_seconds": 20,
        **more,
    }
    return OpenAICompatibleLLM("test-model", **values)


async def failure(llm: OpenAICompatibleLLM, **more) -> LLMError:
    with pytest.raises(LLMError) as caught:
        await llm.reply(ask(**more))
    return caught.value
