"""How many tokens a text has, by a fast estimate that needs no download.

The text is cut as the byte-pair encoders of OpenAI's models cut it first
(words with the space before them, up to three digits, runs of signs, line
ends), and each piece is counted by its script and length. Nothing here knows
an encoder's vocabulary, so this is an estimate.

How good it is, measured where exact counts are published: for the six chat
messages of OpenAI's cookbook recipe on counting tokens (cl100k_base, 129
tokens) and its four sample strings, the error is what
tests/core/llm/test_tokens.py asserts: under 10 % for the messages and at most
two tokens for each string. For other encoders and for prose in other scripts
expect it to be off by a fifth or more. Where a server counts, its count is
used.
"""

import re

TOKENS_PER_MESSAGE = 3
"""What the chat form adds to each message, by OpenAI's recipe."""
TOKENS_PER_REPLY = 3
TOKENS_PER_IMAGE = 1000
"""A picture the size of a window; servers differ by a factor of three either way."""

_PIECE = re.compile(
    r"'(?:ll|ve|re|[sdmt])\b"
    r"| ?(?P<word>[A-Z]?[a-z]+)"
    r"| ?(?P<capitals>[A-Z]+)"
    r"|(?P<digits>[ ]?[0-9]{1,3})"
    r"| ?(?P<letters>[^\W\d_]+)"
    r"|(?P<lines>\s*[\r\n]+)"
    r"| ?(?P<signs>[^\s\w]+|_+)"
    r"|(?P<blank>\s+)"
    r"|(?P<other>.)",
    re.DOTALL,
)
_IDEOGRAPHS = 0x2E80


def count_tokens(text: str) -> int:
    """Return about how many tokens `text` has; 0 for an empty text."""
    total = 0
    for match in _PIECE.finditer(text):
        kind = match.lastgroup
        length = match.end() - match.start()
        if kind == "word":
            letters = length - match.group().startswith(" ")
            total += 1 if letters <= 9 else 1 + (letters - 5) // 5
        elif kind == "capitals":
            total += (length + 3) // 4
        elif kind == "digits":
            total += 2 if match.group().startswith(" ") else 1
        elif kind == "letters":
            total += _letters(match.group())
        elif kind == "signs":
            total += _signs(match.group().strip(" "))
        else:
            total += 1
    return total


def _letters(word: str) -> int:
    wide = sum(1 for char in word if ord(char) >= _IDEOGRAPHS)
    narrow = len(word.lstrip(" ")) - wide
    return wide + (narrow + 2) // 3


def _signs(run: str) -> int:
    rare = sum(2 for char in run if ord(char) >= 0x1F000)
    if run == run[0] * len(run) and not rare:
        return (len(run) + 15) // 16
    common = sum(1 for char in run if ord(char) < 0x1F000)
    return max(1, rare + (common + 1) // 2)
