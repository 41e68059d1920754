"""Synapse's memory of MiniWoB++: `exemplars.json`, and `specifiers.json` next to it.

A family has demonstrations and, in the other file, metadata texts by which it
is found. Synapse finds a family by its nearest texts and prompts with all its
demonstrations; so does this program, by exemplars that each have one text.
Every text becomes an exemplar, therefore, with the demonstration that it tells
of: if there are more texts than demonstrations, these are shared, and
recalling tells a shared trajectory once (core/exemplars/retrieval.py).

An export of this program has the exemplars themselves under ``backstep``.
Where Synapse's fields were changed since then, these count.
"""

import hashlib
import html
import re
from collections.abc import Iterator
from typing import Annotated, Any, NamedTuple

from pydantic import BeforeValidator, ValidationError

from core.exemplars.exchange.agent_code import Code, read_code
from core.exemplars.exchange.documents import Document
from core.exemplars.exchange.exports.synapse import OWN, demo_of, specifier_of
from core.exemplars.exchange.foreign import (
    Foreign,
    MaybeText,
    MisplacedError,
    Text,
    is_sound,
    kind_of,
    parsed,
    plain,
)
from core.exemplars.exchange.reading import LeftOutError, Reading, id_of
from core.schema.exemplar import AbstractionPair, Exemplar, ExemplarStep, KeptPrompt
from core.trace.imports.records import FaultyError

_QUERY = '<div id="query">'
_LONGEST_QUERY = 10_000
_ASKED = "Write code within three backticks '```' to "
_PROGRAM = re.compile(r"```(?:python)?\n(.*?)\n?```", re.DOTALL)


class _Family(Foreign):
    demo: list[Any]


class _Own(Foreign):
    """An exemplar of an export, with the place of its text among those of the family."""

    exemplar: dict[str, Any]
    specifier: int = -1


class _Look(Foreign):
    state: MaybeText = ""
    """The page's HTML."""
    obs: MaybeText = ""
    act: Text

    @property
    def pair(self) -> AbstractionPair | None:
        is_pair = self.model_fields_set >= {"state", "obs"}
        return AbstractionPair(state=self.state, observation=self.obs) if is_pair else None


class _Trajectory(Foreign):
    task: MaybeText = ""
    trajectory: list[Any] = []
    backstep: Annotated[list[_Own], BeforeValidator(lambda own: own if isinstance(own, list) else [])] = []


class _Demo(NamedTuple):
    """A demonstration, before it is known by which text it is found."""

    position: str
    number: int
    values: dict[str, Any]
    """What all its exemplars have."""
    remarks: list[str]


def is_synapse(document: Document) -> bool:
    return any(isinstance(values, dict) and "demo" in values for values in document.fields.values())


def is_specifiers(document: Document) -> bool:
    lists = document.fields.values()
    return bool(lists) and all(
        isinstance(texts, list) and plain(texts and texts[0]).startswith("Task:") for texts in lists
    )


def read_synapse(reading: Reading) -> None:
    """Read the exemplars, with the specifiers of the file next to them if there is one."""
    families, beside = reading.document.fields, reading.document.beside
    specifiers = beside if isinstance(beside, dict) else {}
    for family, values in families.items():
        with reading.entry(family or repr(family)):
            if not family or not is_sound(family):
                raise FaultyError(
                    "the name of the family is empty or contains half a character (a surrogate)"
                )
            _family(reading, family, values, specifiers.get(family, []))
    for family in specifiers:
        if family not in families:
            reading.leave_out(f"specifiers: {family}", "no demonstration has these metadata texts")


def _family(reading: Reading, family: str, values: Any, specifiers: object) -> None:
    texts = list(_texts(reading, f"specifiers: {family}", specifiers))
    given = parsed(_Family, values, family).demo
    if not given:
        raise LeftOutError("it has no demonstration")
    prompts = _prompts(family, values)
    demos: list[_Demo] = []
    used: set[int] = set()
    for number, fields in enumerate(given):
        position = f"{family}.demo[{number}]"
        with reading.entry(position):
            whole = parsed(_Trajectory, fields, position)
            for own in whole.backstep:
                text = texts[own.specifier] if 0 <= own.specifier < len(texts) else ""
                used.add(own.specifier)
                exemplar = _own_values(own, whole, fields, text, position)
                reading.add(position, {**exemplar, "family": family}, has_own_id=True)
            if not whole.backstep:
                text = texts[number] if number < len(texts) else ""
                demos.append(_demo(whole, fields, position, number, text, family))
    texts = ["" if number in used else text for number, text in enumerate(texts)]
    for demo, text in _with_texts(demos, texts):
        shared = {
            "id": id_of("synapse", family, demo.number, *([_digest(text)] if text else [])),
            "family": family,
            "environment": "miniwob",
            "metadata": text,
            "prompts": prompts,
            "parser": _program(prompts, demo.values["task"]),
            "source": f"Synapse, {demo.position}",
        }
        with reading.entry(demo.position):
            reading.add(demo.position, shared | demo.values, demo.remarks)


def _own_values(
    own: _Own, whole: _Trajectory, fields: dict[str, Any], text: str, position: str
) -> dict[str, Any]:
    """Return the exemplar of an export; where Synapse's fields or the text were changed since, these count."""
    try:
        exemplar = Exemplar.model_validate(own.exemplar)
    except ValidationError:
        return own.exemplar  # What is wrong is reported where it is added.
    values = exemplar.model_dump()
    if text and text != specifier_of(exemplar):
        values["metadata"] = text
    single = "trajectory" not in fields
    if {**demo_of(exemplar, single=single), OWN: fields[OWN]} != fields:
        values |= _demo(whole, fields, position, 0, text, exemplar.family).values
    return values


def _texts(reading: Reading, position: str, specifiers: object) -> Iterator[str]:
    """Give the metadata texts of a family; an empty one for what is none."""
    if not isinstance(specifiers, list):
        reading.fault(position, f"it must be a list, not {kind_of(specifiers)}")
        return
    for number, text in enumerate(specifiers):
        if not plain(text).strip():
            reading.fault(f"{position}[{number}]", "it must be a text")
        yield plain(text).strip() and text


def _prompts(family: str, values: dict[str, Any]) -> tuple[KeptPrompt, ...]:
    """Return the prompts of a family; a text is one for all steps, a list one for each."""
    prompts: list[KeptPrompt] = []
    for name, value in values.items():
        if name not in ("demo", OWN):
            texts = [value] if isinstance(value, str) else value
            if not isinstance(texts, list) or not all(
                isinstance(text, str) and is_sound(text) for text in texts
            ):
                raise MisplacedError(family, name, "a prompt must be a text, or a list of texts")
            prompts.append(KeptPrompt(name=name, texts=tuple(texts)))
    return tuple(prompts)


def _demo(whole: _Trajectory, fields: Any, position: str, number: int, text: str, family: str) -> _Demo:
    looks = {position: fields}
    if "trajectory" in whole.model_fields_set:
        looks = {f"{position}.trajectory[{place}]": look for place, look in enumerate(whole.trajectory)}
    if not looks:
        raise MisplacedError(position, "trajectory", "it has no steps")
    read = [parsed(_Look, look, place) for place, look in looks.items()]
    codes = [_code(look.act, place) for place, look in zip(looks, read, strict=True)]
    pages = [look.obs if "obs" in look.model_fields_set else look.state for look in read]
    steps = [
        ExemplarStep(observation=page, thought=code.thought, actions=code.actions)
        for page, code in zip(pages, codes, strict=True)
    ]
    task = whole.task or _query(next((look.state for look in read if look.state), ""))
    values = {
        "task": task or _specified_task(text) or pages[0].strip() or family,
        "steps": steps,
        "abstraction": [look.pair for look in read if look.pair],
    }
    remarks = [
        f"{place}.act: {remark}" for place, code in zip(looks, codes, strict=True) for remark in code.remarks
    ]
    return _Demo(position, number, values, remarks)


def _code(act: str, position: str) -> Code:
    try:
        return read_code(act)
    except FaultyError as error:
        raise MisplacedError(position, "act", str(error)) from error


def _query(page: str) -> str:
    """Return the instruction as the page's HTML shows it."""
    inside = page.partition(_QUERY)[2].partition("</div>")[0][:_LONGEST_QUERY]
    return " ".join(html.unescape(re.sub(r"<[^>]*>", "", inside)).split())


def _specified_task(text: str) -> str:
    """Return the task that a metadata text tells."""
    said, state, _ = text.partition("\nState:")
    return " ".join(said.removeprefix("Task:").split()) if state and said.startswith("Task:") else ""


def _with_texts(demos: list[_Demo], texts: list[str]) -> Iterator[tuple[_Demo, str]]:
    """Give each demonstration with a text that it is found by, until all texts are used.

    A text goes to the demonstration of the same task, else to the one at its
    own place, else in turn to those there are.
    """
    given: list[list[str]] = [[] for _ in demos]
    tasks = [" ".join(demo.values["task"].split()) for demo in demos]
    for number, text in enumerate(texts):
        if text and demos:
            at = next(
                (place for place, demo in enumerate(demos) if demo.number == number), number % len(demos)
            )
            specified = _specified_task(text)
            same = [place for place, task in enumerate(tasks) if task == specified]
            places = [at, *same] if at in same else same or [at]
            given[next((place for place in places if not given[place]), (same or [at])[0])].append(text)
    for demo, own_texts in zip(demos, given, strict=True):
        for text in own_texts or [""]:
            yield demo, text


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def _program(prompts: tuple[KeptPrompt, ...], task: str) -> str:
    """Return the program that a prompt shows for this task; one that it shows alone is for all tasks."""
    wanted = _bare(task)
    texts = [text for prompt in prompts if prompt.name == "code_filter_prompt" for text in prompt.texts]
    shown = [part.partition("\nCode:") for text in texts for part in text.split(_ASKED)[1:]]
    programs = [(asked, _PROGRAM.match(code.lstrip())) for asked, _, code in shown]
    for asked, program in programs:
        if program is not None and _bare(asked) == wanted:
            return program[1]
    alone = [program for text in texts for program in _PROGRAM.findall(text)]
    return str(alone[0]) if len(alone) == 1 and not any(program for _, program in programs) else ""


def _bare(task: str) -> str:
    return " ".join(task.split()).rstrip(".").casefold()
