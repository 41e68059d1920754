"""Checks the address of an LLM, with one line as result."""

import asyncio
import time

from core.llm.errors import nearest_model
from core.llm.openai_compatible import OpenAICompatibleLLM
from core.schema.errors import LLMError
from core.schema.messages import LLM

_SHOWN = 5


async def check_endpoint(llm: LLM) -> str:
    """Return one line: reachable, which models and how long, or what is wrong and what to do.

    Asks for the list of models only, if there is one; no prompt is sent and nothing is spent.
    """
    if not isinstance(llm, OpenAICompatibleLLM):
        return f"{llm.name}: needs no server."
    if not llm.lists_models:
        return f"{llm.name}: {llm.server} does not list its models. To try it, use Test in the LLM settings."
    started = time.perf_counter()
    try:
        served = await llm.models()
    except LLMError as error:
        return f"{llm.name}: {error}"
    milliseconds = (time.perf_counter() - started) * 1000
    reached = f"{llm.name}: {llm.server} answers in {milliseconds:.0f} ms"
    if served and llm.model not in served:
        nearest = await asyncio.to_thread(nearest_model, llm.model, served)
        return f"{reached}, but does not have the model {llm.model}; {nearest}."
    if not served:
        return f"{reached}, but lists no models."
    others = [name for name in served if name != llm.model]
    shown = ", ".join(others[:_SHOWN]) + (f" and {len(others) - _SHOWN} more" if len(others) > _SHOWN else "")
    return f"{reached} and has {llm.model}" + (f", and {shown}." if others else ".")
