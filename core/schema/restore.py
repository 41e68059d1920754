"""The result of going back to a step: the grade, the differences of the page, and what was sent since."""

from collections.abc import Sequence
from textwrap import shorten
from typing import Literal

from core.schema.formats import count
from core.schema.record import Record

Grade = Literal["exact", "equivalent", "recorded", "same page", "lost"]
GRADES: dict[Grade, str] = {
    "exact": "nothing touched the page since, or it was reached with all its inputs from the start",
    "equivalent": "the page is equal, but the state of its scripts may differ",
    "recorded": "the page is equal but made of recorded answers: its servers were not asked and may have changed",
    "same page": "the same address and most elements, with differences; or equal elements and another picture",
    "lost": "another page",
}
"""What each grade means."""

VERIFIED: tuple[Grade, ...] = ("exact", "equivalent", "recorded")
"""Those of a page that equals the recorded one, apart from what changes by itself."""
_TOLD = 3
"""Differences that a sentence tells."""
_LONGEST = 100
"""Characters of a difference in a sentence."""


class Sent(Record):
    """A request or message that a page has sent."""

    method: str
    url: str
    socket: bool = False
    """Whether it went over a WebSocket that was open already."""

    def __str__(self) -> str:
        return f"a message to {self.url}" if self.socket else f"{self.method} {self.url}"


class SentAt(Record):
    """A sent request or message, with its step."""

    step: int
    sent: Sent


def sent_summary(irreversible: Sequence[SentAt]) -> str:
    """Return such as ``POST https://… (step 4) and 2 more``."""
    words = [f"{one.sent} (step {one.step})" for one in irreversible[:3]]
    more = f" and {len(irreversible) - 3} more" if len(irreversible) > 3 else ""
    return ", ".join(words) + more


def not_taken_back(doing: str, irreversible: Sequence[SentAt]) -> str:
    """Return such as ``Going back to step 3 does not undo POST https://… (step 4)``; nothing if all is."""
    return f"{doing} does not undo {sent_summary(irreversible)}" if irreversible else ""


HTML = "html"
"""The part that stands for all of a document which no element shows."""
HISTORY = "history"
"""The part that stands for what lies behind a page in its tab."""
_APART = {HTML: "no element shows it", HISTORY: "the page itself is equal"}
"""Why some parts do not count, which do not change by themselves."""
PICTURE = "picture"
"""The part that stands for what a page looks like, where its elements are equal."""


class PageDifference(Record):
    """One difference from the recorded page."""

    what: Literal["added", "gone", "changed", "moved on"]
    """``moved on`` is of the page as a whole: URL, title, scroll, tabs."""
    element: str = ""
    """What it is, such as ``button "Save"`` or ``tab 2``; empty for the page as a whole."""
    part: str = ""
    """Which part changed: value, states, options, detail, url, title, scroll, tabs, order, history, html, a cookie,
    a key of storage, server, picture."""
    before: str = ""
    now: str = ""
    volatile: bool = False
    """Whether it counts among what changes by itself."""
    by_window: bool = False
    """Whether it is one of those, because the window now has another size."""
    by_reader: bool = False
    """Whether it is one of those, because an earlier version had read less of the page."""

    @property
    def words(self) -> str:
        """Return such as ``button "Save" gone``, or ``textbox "Name": value "Ada" is now ""``."""
        what = self.element or "the page"
        why = f" ({self._why})" if self.volatile else ""
        if self.part == PICTURE:
            return f"the elements are equal, but the picture differs in {self.now}{why}"
        if self.what in ("added", "gone"):
            return f"{what} {self.what}{why}"
        return f'{what}: {self.part} "{self.before}" is now "{self.now}"{why}'

    @property
    def _why(self) -> str:
        if self.by_reader:
            return "it was recorded by a version that read pages differently"
        return "the window has another size" if self.by_window else _APART.get(self.part, "changes by itself")

    @property
    def by_itself(self) -> bool:
        """Whether it does not count because it changes by itself."""
        return self.volatile and not (self.by_window or self.by_reader or self.part in _APART)


class Comparison(Record):
    """The outcome."""

    grade: Grade
    differences: tuple[PageDifference, ...] = ()
    pictures: str = ""
    """Why the pictures were not compared, or what of them did not count, in a sentence; empty if all counted."""
    storage: str = ""
    """Why cookies or storage were not compared, in a sentence; empty if they were."""

    @property
    def only_looks_different(self) -> bool:
        """Whether all elements are equal, and the picture is not."""
        return [difference.part for difference in self.differences if not difference.volatile] == [PICTURE]

    @property
    def sentence(self) -> str:
        """Return the grade with the number of differences, in words."""
        plain = sum(not difference.volatile for difference in self.differences)
        by_window = sum(difference.by_window for difference in self.differences)
        by_reader = sum(difference.by_reader for difference in self.differences)
        html, history = (sum(one.part == part for one in self.differences) for part in (HTML, HISTORY))
        volatile = sum(difference.by_itself for difference in self.differences)
        parts = [count(plain, "difference")] if plain else []
        parts += [f"{volatile} in parts that change by themselves"] if volatile else []
        parts += ["other HTML that no element shows"] if html else []
        parts += ["another history of the tab"] if history else []
        parts += [f"{by_window} because of another window size"] if by_window else []
        parts += [f"{by_reader} because an earlier version read pages differently"] if by_reader else []
        return f"{self.grade}, {' and '.join(parts)}" if parts else f"{self.grade}, no difference"

    @property
    def told(self) -> str:
        """Return the first differences in words, those of the whole page before others.

        Of a verified page they are those that change by themselves.
        """
        verified = self.grade in VERIFIED
        told = [
            shorten(difference.words, _LONGEST, placeholder="…")
            for difference in sorted(self.differences, key=lambda difference: difference.element != "")
            if (difference.by_itself if verified else not difference.volatile)
        ]
        more = [f"and {len(told) - _TOLD} more"] if len(told) > _TOLD else []
        return "; ".join((*told[:_TOLD], *more))


class Parted(Record):
    """Where an attached agent did something else than recorded while it repeated its steps."""

    step: int
    why: str
    """A sentence."""
    recorded: str = ""
    """What it had asked its LLM; empty if it did not part by a question."""
    asked: str = ""
    """What it asks now."""


class Attempt(Record):
    """One strategy tried."""

    strategy: str
    grade: Grade | None = None
    """None if it was not fit, or failed before the page could be compared."""
    reason: str = ""
    """Why there is no grade."""
    remarks: tuple[str, ...] = ()
    seconds: float = 0.0


class Restored(Record):
    """How going back ended; the page is as the last attempt left it."""

    step: int
    grade: Grade
    strategy: str = ""
    comparison: Comparison
    attempts: tuple[Attempt, ...] = ()
    seconds: float = 0.0
    sent: tuple[SentAt, ...] = ()
    """What was sent since the step and stays done."""
    not_repeated: str = ""
    """Why inputs were not made again, if that was a way."""
    parted: Parted | None = None
    """Where the agent went another way before it came to the step."""

    @property
    def verified(self) -> bool:
        """Whether the page equals the recorded one, apart from what changes by itself."""
        return self.grade in VERIFIED

    @property
    def sentence(self) -> str:
        way = f" by {self.strategy}" if self.strategy else ""
        if self.parted is not None:
            return f"{self.parted.why} It is at step {self.parted.step} and continues live from there."
        told = self.comparison.told
        said = f"{self.comparison.sentence}{f' ({told})' if told else ''}."
        if self.grade == "lost" and not self.comparison.differences:
            said = f"lost. {self._why_lost}"  # There was no page to compare.
        sentences = [f"Back at step {self.step}{way}: {said}"]
        if self.grade == "recorded":
            sentences.append(
                "It is the recorded page: servers were not asked, and their data may have changed."
            )
        sentences += filter(None, (self.comparison.pictures, self.comparison.storage))
        if self.sent:
            sentences.append(f"Already sent, and not undone: {sent_summary(self.sent)}.")
        return " ".join(sentences)

    @property
    def _why_lost(self) -> str:
        """Return how the last way ended that was gone, or why none was."""
        gone = [attempt for attempt in self.attempts if attempt.strategy == self.strategy] or self.attempts
        return gone[-1].reason if gone else "There is no way to go back to it."
