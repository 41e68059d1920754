"""Full-text search over runs: a user's words as a condition that SQLite can take.

All words must occur in the run, wherever: in its task, instruction or answer,
or in the thought or action of any of its steps. The last word may be only
begun. Nothing in the text is an operator.
"""

from core.storage.full_text import phrases_of

_ONE_WORD = (
    "run IN (SELECT rowid FROM runs_fts WHERE runs_fts MATCH ?"
    " UNION SELECT steps.run FROM steps_fts JOIN steps ON steps.id = steps_fts.rowid"
    " WHERE steps_fts MATCH ?)"
)


def condition(query: str) -> tuple[str, list[str]]:
    """Return an SQL condition on ``runs`` and its parameters; always true where `query` has no words.

    Words beyond the fortieth are not looked at.
    """
    phrases = phrases_of(query)
    if not phrases:
        return "1", []
    return " AND ".join([_ONE_WORD] * len(phrases)), [phrase for phrase in phrases for _ in range(2)]
