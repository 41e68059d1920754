"""What was sent in LLM calls, and what came back."""

import pytest

from core.schema.errors import TraceError
from core.schema.step import CallRecord
from core.trace.calls import stored_prompt, stored_reply
from tests.core.trace.making import start


@pytest.mark.parametrize("content", ["{", "[]", '{"messages": [1]}', '{"messages": [{"images": [{}]}]}'])
@pytest.mark.parametrize(("part", "read"), [("prompt", stored_prompt), ("reply", stored_reply)])
def test_a_damaged_prompt_or_reply_is_named_with_its_call_and_its_file(store, content, part, read):
    name = store.put_blob(content.encode(), "application/json")
    call = CallRecord(number=7, step=1, purpose="decide", llm="x", messages=name, reply=name, started=1.0)
    store.calls.save(store.begin_run(start()), call)
    with pytest.raises(
        TraceError, match=rf"The {part} of LLM call 7 cannot be read: .*traces\.db is damaged\."
    ):
        read(store, call)
