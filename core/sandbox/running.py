"""Runs a parser that an LLM wrote on the HTML of a page, apart from everything else.

The forms that the code may have are told in `core.sandbox.inside.program`,
what it may import in `core.sandbox.inside.guards`. Where the system cannot
confine it, it is not run.
"""

import asyncio

from core.sandbox.confinement import confinement
from core.sandbox.process import ParserProcess
from core.sandbox.records import Parsed, SandboxLimits

_DEFAULT = SandboxLimits()


async def run_parser(code: str, html: str, *, task: str = "", limits: SandboxLimits = _DEFAULT) -> Parsed:
    """Return the text that `code` makes of `html`, or an error in one sentence.

    Never raises for what the code does. Cancelling it kills the process
    before the cancellation goes on.
    """
    loop = asyncio.get_running_loop()
    confined = await loop.run_in_executor(None, confinement)
    if not confined.is_confined:
        return Parsed(error=confined.reason)
    process = ParserProcess(code, html, task=task, limits=limits)
    result = loop.run_in_executor(None, process.run)
    try:
        return await asyncio.shield(result)
    except asyncio.CancelledError:
        process.stop()
        await asyncio.wait([result])
        raise
