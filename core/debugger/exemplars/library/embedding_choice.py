"""Sets the embedding that exemplars are found by: tried, stored in the settings, and used from then on."""

import asyncio

from core.debugger.background_read import finish_in_thread
from core.debugger.services import Services
from core.exemplars.memory import Memory
from core.settings.saving import save_settings
from core.settings.settings import BUILT_IN

_TRIED = ("Book a flight.", "Book a flight from Leeds to Oslo on the second of May. " * 80)
"""What a new embedding has to embed before it is stored: several texts, one about as long as the largest exemplars."""


async def use_embedding(name: str, services: Services, memory: Memory) -> None:
    """Have exemplars be found by this embedding; one that fails changes nothing.

    Where it is cancelled after it was stored, it is in use all the same. Raises UsageError, LLMError and DataError.
    """
    if name != services.settings.embedding:
        embedding = await asyncio.to_thread(services.llms.embedding, name)
        await embedding.embed(_TRIED)

    def store() -> None:
        save_settings({"embedding": None if name == BUILT_IN else name})
        services.settings = services.settings.replace(embedding=name)
        memory.renew()

    cancelled: list[bool] = []
    await finish_in_thread(store, lambda: cancelled.append(True))
    if cancelled:
        raise asyncio.CancelledError
