"""What campaigns have in common: their flags, and the table of what was done and what was lost."""

import argparse
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Loss:
    """Something that does not hold, in a sentence, and the number under which it can be repeated."""

    number: int
    what: str


def flags(description: str | None, *, times: int) -> argparse.ArgumentParser:
    """Return a parser with the flags of every campaign."""
    first = (description or "").partition("\n")[0]
    parser = argparse.ArgumentParser(description=first)
    parser.add_argument("--times", type=int, default=times)
    parser.add_argument("--seed", type=int, default=0, help="what everything is drawn from")
    parser.add_argument("--only", type=int, metavar="NUMBER", help="repeat just this one")
    return parser


class Progress:
    """Tells on stderr how far a campaign is, and each loss as it is found."""

    def __init__(self, of: int) -> None:
        self._of = of
        self._began = time.monotonic()
        self._told = 0.0

    def tell(self, done: int, losses: Sequence[Loss] = ()) -> None:
        now = time.monotonic()
        for loss in losses:
            print(f"LOST, number {loss.number}: {loss.what}", file=sys.stderr, flush=True)
        if now - self._told > 10 or done >= self._of:
            self._told = now
            print(f"{done} of {self._of} in {now - self._began:.0f} s", file=sys.stderr, flush=True)


def conclude(module: str, losses: Sequence[Loss], words: str) -> int:
    """Print all that was lost, and how it is repeated with these words; returns the exit code."""
    print(f"lost: {len(losses)}")
    for loss in losses:
        print(f"  {loss.what}\n    python -m {module} {words} --only {loss.number}")
    return 1 if losses else 0
