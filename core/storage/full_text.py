"""A user's words as what SQLite's full-text search takes: nothing in them is an operator."""

MOST_WORDS = 40


def phrases_of(query: str) -> list[str]:
    """Return each word as a phrase of its own; the last may be only begun.

    Words beyond the fortieth are not looked at.
    """
    words = [word for word in query.replace("\0", " ").split() if any(map(str.isalnum, word))][:MOST_WORDS]
    phrases = ['"{}"'.format(_encodable(word).replace('"', '""')) for word in words]
    if phrases:
        phrases[-1] += " *"
    return phrases


def match_of(query: str) -> str:
    """Return what a row must match for all words to occur in it; empty where there are none."""
    return " AND ".join(phrases_of(query))


def _encodable(word: str) -> str:
    return word.encode(errors="replace").decode()
