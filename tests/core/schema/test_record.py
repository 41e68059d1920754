import subprocess
import sys
from pathlib import Path
from typing import Annotated, Literal

import pytest
from pydantic import Field, ValidationError, field_validator, model_validator

from core.schema.record import Record

ROOT = Path(__file__).resolve().parents[3]
TYPED = """
from typing import Any, Generic, TypeVar

from core.schema.record import Record

T = TypeVar("T")

class Page(Record):
    title: str
    tags: tuple[str, ...] = ()

class Box(Record, Generic[T]):
    content: T

def allowed(page: Page, box: Box[int], changes: dict[str, Any]) -> Page:
    box.replace(content=2)
    return page.replace(title="Cart", tags=("new",)).replace(**changes)

def refused(page: Page, box: Box[int]) -> None:
    page.replace(titel="Cart")
    page.replace(title=1)
    box.replace(content="two")
"""


class Click(Record):
    kind: Literal["click"] = "click"
    ref: int = Field(ge=1)


class Wait(Record):
    kind: Literal["wait"] = "wait"


class Step(Record):
    title: str = Field(min_length=1)
    action: Annotated[Click | Wait, Field(discriminator="kind")] = Wait()
    notes: tuple[str, ...] = ()
    before: "Step | None" = None

    @field_validator("title")
    @classmethod
    def _trimmed(cls, title: str) -> str:
        return title.strip()


class Span(Record):
    first: int
    last: int = 9
    note: str = ""

    @model_validator(mode="after")
    def _in_order(self) -> "Span":
        if self.first > self.last:
            raise ValueError("first is after last")
        return self


def test_replace_changes_a_copy():
    step = Step(title="one", notes=("kept",))
    assert step.replace(title="two", action=Click(ref=3)) == Step(
        title="two", action=Click(ref=3), notes=("kept",)
    )
    assert step.title == "one"


@pytest.mark.parametrize(
    ("changes", "field", "problem"),
    [
        ({"titel": "two"}, "titel", "extra_forbidden"),
        ({"title": 2}, "title", "string_type"),
        ({"title": ""}, "title", "string_too_short"),
        ({"action": {"kind": "fly"}}, "action", "union_tag_invalid"),
        ({"before": 3}, "before", "model_type"),
    ],
)
def test_replace_names_the_field_that_is_unknown_or_wrong(changes, field, problem):
    with pytest.raises(ValidationError) as caught:
        Step(title="one").replace(**changes)
    assert [(error["loc"][0], error["type"]) for error in caught.value.errors()] == [(field, problem)]
    assert caught.value.title == "Step"


def test_replace_takes_values_as_the_constructor_does():
    changed = Step(title="one").replace(title=" two ", notes=["a"], action={"kind": "click", "ref": 1})
    assert changed == Step(title="two", notes=("a",), action=Click(ref=1))


def test_replace_keeps_records_and_unchanged_fields_as_they_are():
    click, step = Click(ref=1), Step(title="one", notes=("a", "b"))
    changed = step.replace(action=click, before=step)
    assert changed.action is click
    assert changed.before is step
    assert changed.notes is step.notes


def test_a_replaced_field_counts_as_set_and_an_untouched_one_does_not():
    assert Step(title="one").replace(notes=()).model_fields_set == {"title", "notes"}
    assert Span(first=1).replace(note="a").model_fields_set == {"first", "note"}


def test_replace_runs_the_validators_of_the_whole_record():
    assert Span(first=1).replace(first=5, last=6) == Span(first=5, last=6)
    with pytest.raises(ValidationError, match="first is after last"):
        Span(first=1).replace(first=10)
    with pytest.raises(ValidationError, match="frist"):
        Span(first=1).replace(frist=2)


@pytest.mark.program
def test_mypy_checks_the_names_and_types_given_to_replace(tmp_path):
    path = tmp_path / "typed.py"
    path.write_text(TYPED, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file", ROOT / "pyproject.toml", path],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    found = [line.partition("error: ")[2] for line in done.stdout.splitlines() if "error: " in line]
    assert [line.partition(";")[0] for line in found] == [
        'Unexpected keyword argument "titel" for "replace" of "Record"',
        'Argument "title" to "replace" of "Record" has incompatible type "int"',
        'Argument "content" to "replace" of "Record" has incompatible type "str"',
    ], done.stdout + done.stderr
