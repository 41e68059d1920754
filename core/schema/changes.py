"""The changes of a branch to the run that it left, stored with the branch."""

from pathlib import Path
from typing import Literal

from core.schema.record import Record

OWN = "own"
"""The policies, or the exemplars, of the installation and of the user's folders."""
NONE = "none"
"""No exemplars."""


class Difference(Record):
    """One change of a branch."""

    what: Literal["preset", "LLM", "policies", "policy", "exemplars", "amount", "pages"]
    before: str = ""
    after: str = ""

    def __str__(self) -> str:
        was = f" (was {self.before})" if self.before else ""
        if self.what == "policy":
            return f"policy {self.after} rewritten"
        return f"{self.after}{was}" if self.what in ("amount", "pages") else f"{self.what} {self.after}{was}"


class Changes(Record):
    """The changes for a branch; a field without a value stays as in the old run."""

    preset: str = ""
    llm: str = ""
    policies: str | None = None
    """A folder of policies that win over the others, or `OWN`."""
    policy_texts: dict[str, str] = {}
    """New texts of policies, whole files, by id."""
    exemplars: str | None = None
    """A folder of exemplars or a file of them, in place of all others; `NONE` or `OWN`."""
    without: tuple[str, ...] = ()
    """Exemplars that are not recalled, by id."""
    without_families: tuple[str, ...] = ()
    versions: dict[str, int] = {}
    """Exemplars that are recalled as they were at a version, by id."""
    amounts: dict[str, int] = {}
    """The numbers of mechanisms, by the mechanism."""
    offline: bool | None = None
    """Whether its pages get recorded answers only, and reach no server."""

    def over(self, earlier: "Changes") -> "Changes":
        """Return what holds on a branch that asks for this, of a run for which `earlier` holds."""
        texts = {} if self.policies is not None else earlier.policy_texts
        own = earlier if self.exemplars is None else Changes()
        return Changes(
            preset=self.preset or earlier.preset,
            llm=self.llm or earlier.llm,
            policies=self.policies if self.policies is not None else earlier.policies,
            policy_texts={**texts, **self.policy_texts},
            exemplars=self.exemplars if self.exemplars is not None else earlier.exemplars,
            without=tuple(dict.fromkeys((*own.without, *self.without))),
            without_families=tuple(dict.fromkeys((*own.without_families, *self.without_families))),
            versions={**own.versions, **self.versions},
            amounts={**earlier.amounts, **self.amounts},
            offline=self.offline if self.offline is not None else earlier.offline,
        )


def memory_in_words(changes: Changes) -> tuple[str, ...]:
    """Return how the exemplars of a run are other than those of the installation and of the user's folders."""
    return (
        *(f"without {id}" for id in changes.without),
        *(f"without the family {name}" for name in changes.without_families),
        *(f"{id} at version {version}" for id, version in changes.versions.items()),
    )


def pages_in_words(offline: bool) -> str:
    return "recorded answers" if offline else "live pages"


def named(place: str | None) -> str:
    """Return the policies or exemplars of a run in words."""
    if place in (None, OWN):
        return "built-in and own"
    return "none" if place == NONE else Path(str(place)).name
