"""A draft: an exemplar while it is edited, when much of it may still be missing or wrong."""

from typing import Any

from core.schema.exemplar import AbstractionPair, Contrast, Exemplar, ExemplarStep, KeptPrompt
from core.schema.record import Record


class DraftStep(Record):
    """One look; it may have no action yet."""

    observation: str = ""
    raw: str = ""
    thought: str = ""
    actions: tuple[str, ...] = ()


class DraftContrast(Record):
    """A mistake and what is right; either may still be empty."""

    observation: str = ""
    tried: str = ""
    right: str = ""
    why: str = ""
    names: tuple[str, ...] = ()


class Draft(Record):
    """What an exemplar has, but for whether it is in the archive: that is not edited."""

    id: str = ""
    family: str = ""
    task: str = ""
    environment: str = ""
    metadata: str = ""
    steps: tuple[DraftStep, ...] = ()
    abstraction: tuple[AbstractionPair, ...] = ()
    parser: str = ""
    prompts: tuple[KeptPrompt, ...] = ()
    contrasts: tuple[DraftContrast, ...] = ()
    source: str = ""
    tags: tuple[str, ...] = ()
    note: str = ""

    @classmethod
    def of(cls, exemplar: Exemplar) -> "Draft":
        return cls.model_validate(exemplar.model_dump(exclude={"format", "archived"}))

    def exemplar(self, *, archived: bool = False) -> Exemplar:
        """Return it as it would be stored; raises pydantic's ValidationError where it cannot be."""
        return Exemplar.model_validate({**self.model_dump(), "archived": archived})

    def as_far_as_it_goes(self) -> Exemplar:
        """Return an exemplar that has what the draft has and may break its rules: to be shown and checked only."""
        values: dict[str, Any] = {name: getattr(self, name) for name in type(self).model_fields}
        values["steps"] = tuple(
            ExemplarStep.model_construct(**{name: getattr(one, name) for name in DraftStep.model_fields})
            for one in self.steps
        )
        values["contrasts"] = tuple(
            Contrast.model_construct(**{name: getattr(one, name) for name in DraftContrast.model_fields})
            for one in self.contrasts
        )
        return Exemplar.model_construct(**values)

    def with_step(self, at: int, **changes: Any) -> "Draft":
        """Return it with these fields of one look changed."""
        step = self.steps[at].replace(**changes)
        return self.replace(steps=(*self.steps[:at], step, *self.steps[at + 1 :]))


EMPTY = Draft(steps=(DraftStep(),))
"""What is begun from nothing: one look, to be filled in."""
