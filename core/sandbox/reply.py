"""Finds the code in an LLM's reply."""

import re

_FENCED = re.compile(r"^[ \t]*(`{3,}|~{3,})[^\n`]*\n(.*?)^[ \t]*\1[ \t]*$", re.DOTALL | re.MULTILINE)


def code_in(reply: str) -> str:
    """Return the last fenced block of the reply, or all of it where there is none.

    The last, as LLMs that correct themselves do so below what they correct.
    A block whose end is missing (a reply cut short) counts up to the end.
    """
    blocks = [match.group(2) for match in _FENCED.finditer(reply)]
    if blocks:
        return str(blocks[-1]).strip("\n")
    opened = re.search(r"^[ \t]*(?:`{3,}|~{3,})[^\n`]*\n", reply, re.MULTILINE)
    return reply[opened.end() :].strip("\n") if opened else reply.strip()
