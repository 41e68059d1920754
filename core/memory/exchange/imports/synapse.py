"""Synapse's memory of MiniWoB++: `exemplars.json`, and `specifiers.json` next to it.

A family has demonstrations and, in the other file, metadata texts by which it
is found. Synapse finds a family by its nearest texts and prompts with all its
demonstrations; so does this program, by exemplars that each have one text.
Every text becomes an exemplar, therefore, with the demonstration that it tells
of: if there are more texts than demonstrations, these are shared, and
recalling tells a shared trajectory once (core/memory/recalling.py).

What this program adds in its own export stands under the key ``backstep``.
"""

import hashlib
import html
import re
from collections.abc import Iterator
from typing import Annotated, Any

from pydantic import BeforeValidator

from core.memory.exchange.agent_code import Code, read_code
from core.memory.exchange.documents import Document
from core.memory.exchange.reading import (
    Foreign,
    LeftOutError,
    MaybeText,
    MisplacedError,
    Reading,
    Text,
    id_of,
    is_sound,
    kind_of,
    parsed,
    plain,
)
from core.schema.exemplar import AbstractionPair, ExemplarStep, KeptPrompt
from core.schema.record import Record
from core.trace.imports.records import FaultyError

OWN = "backstep"
"""The key of what Synapse has no field for."""
ENVIRONMENT = "miniwob"
_QUERY = '<div id="query">'
_LONGEST_QUERY = 10_000
_ASKED = "Write code within three backticks '```' to "
_PROGRAM = re.compile(r"```(?:python)?\n(.*?)\n?```", re.DOTALL)


class _Family(Foreign):
    demo: list[Any]


class _Pair(Foreign):
    state: Text
    observation: Text


class _OwnStep(Foreign):
    actions: list[Text] = []
    thought: MaybeText = ""
    raw: MaybeText = ""


class _OwnExemplar(Foreign):
    id: Text
    specifier: Any = None
    """The place of its metadata text among those of the family."""
    derived: Any = False
    """Whether that text was made for Synapse, in place of `metadata`."""
    metadata: MaybeText = ""
    parser: MaybeText = ""
    source: MaybeText = ""
    note: MaybeText = ""
    tags: list[Any] = []
    archived: Any = False
    prompts: Any = None


class _Own(_OwnStep):
    """What this program writes at a demonstration or, for one of several looks, at that."""

    exemplars: list[_OwnExemplar] = []
    """An entry for each exemplar that has these steps."""
    abstraction: list[_Pair] | None = None
    environment: MaybeText = ENVIRONMENT
    step: _OwnStep | None = None


class _Look(Foreign):
    state: MaybeText = ""
    """The page's HTML."""
    obs: MaybeText = ""
    act: Text
    backstep: Annotated[_Own, BeforeValidator(lambda value: value if isinstance(value, dict) else {})] = (
        _Own()
    )


class _Trajectory(Foreign):
    task: MaybeText = ""
    trajectory: list[_Look] = []
    backstep: Annotated[_Own, BeforeValidator(lambda value: value if isinstance(value, dict) else {})] = (
        _Own()
    )


class _Demo(Record):
    """A demonstration, before it is known by which text it is found."""

    position: str
    number: int
    task: str
    steps: tuple[ExemplarStep, ...]
    pairs: tuple[AbstractionPair, ...]
    remarks: tuple[str, ...]
    environment: str
    own: tuple[_OwnExemplar, ...]


def is_synapse(document: Document) -> bool:
    return any(isinstance(one, dict) and "demo" in one for one in document.fields.values())


def is_specifiers(document: Document) -> bool:
    lists = document.fields.values()
    return bool(lists) and all(
        isinstance(one, list) and plain(one and one[0]).startswith("Task:") for one in lists
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
    places = [f"{family}.demo[{number}]" for number, _ in enumerate(parsed(_Family, values, family).demo)]
    prompts = _prompts(family, values)
    demos: list[_Demo] = []
    for number, position in enumerate(places):
        with reading.entry(position):
            text = texts[number] if number < len(texts) else ""
            demos.append(_demo(values["demo"][number], position, number, text, family))
    if not demos:
        raise LeftOutError("none of its demonstrations can be read" if places else "it has no demonstration")
    for demo, text, own in _with_texts(demos, texts):
        values = {
            "id": id_of("synapse", family, demo.number, *([_digest(text)] if text else [])),
            "family": family,
            "task": demo.task,
            "environment": demo.environment,
            "metadata": text,
            "steps": demo.steps,
            "abstraction": demo.pairs,
            "prompts": prompts,
            "parser": _program(prompts, demo.task),
            "source": f"Synapse, {demo.position}",
        }
        if own is not None:
            metadata = own.metadata if own.derived is True else text
            values |= own.model_dump(exclude={"specifier", "derived"}, exclude_none=True) | {
                "metadata": metadata
            }
        with reading.entry(demo.position):
            reading.add(demo.position, values, demo.remarks, has_own_id=own is not None)


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
                isinstance(one, str) and is_sound(one) for one in texts
            ):
                raise MisplacedError(family, name, "a prompt must be a text, or a list of texts")
            prompts.append(KeptPrompt(name=name, texts=tuple(texts)))
    return tuple(prompts)


def _demo(values: object, position: str, number: int, text: str, family: str) -> _Demo:
    whole = parsed(_Trajectory, values, position)
    if "trajectory" not in whole.model_fields_set:
        look = parsed(_Look, values, position)
        looks = [(position, look, look.backstep.step or _OwnStep())]
    else:
        places = (f"{position}.trajectory[{place}]" for place in range(len(whole.trajectory)))
        looks = [(place, look, look.backstep) for place, look in zip(places, whole.trajectory, strict=True)]
    if not looks:
        raise MisplacedError(position, "trajectory", "it has no steps")
    codes = [_code(look, own, place) for place, look, own in looks]
    steps = tuple(
        ExemplarStep(
            observation=look.obs if "obs" in look.model_fields_set else look.state,
            raw=own.raw,
            thought=code.thought,
            actions=code.actions,
        )
        for (_, look, own), code in zip(looks, codes, strict=True)
    )
    pages = [look for _, look, _ in looks if {"state", "obs"} <= look.model_fields_set]
    pairs = [AbstractionPair(state=look.state, observation=look.obs) for look in pages]
    if whole.backstep.abstraction is not None:
        pairs = [AbstractionPair(**pair.model_dump()) for pair in whole.backstep.abstraction]
    page = next((look.state for _, look, _ in looks if look.state), "")
    task = whole.task or _query(page) or _specified_task(text) or steps[0].observation.strip() or family
    return _Demo(
        position=position,
        number=number,
        task=task,
        steps=steps,
        pairs=tuple(pairs),
        remarks=tuple(
            f"{place}.act: {one}"
            for (place, *_), code in zip(looks, codes, strict=True)
            for one in code.remarks
        ),
        environment=whole.backstep.environment,
        own=tuple(whole.backstep.exemplars),
    )


def _code(look: _Look, own: _OwnStep, position: str) -> Code:
    if own.actions:
        return Code(actions=tuple(own.actions), thought=own.thought)
    try:
        return read_code(look.act)
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


def _with_texts(demos: list[_Demo], texts: list[str]) -> Iterator[tuple[_Demo, str, _OwnExemplar | None]]:
    """Give each demonstration with a text that it is found by, until all texts are used.

    A text goes to the demonstration of the same task, else to the one at its
    own place, else in turn to those there are.
    """
    if any(demo.own for demo in demos):
        for demo in demos:
            for own in demo.own or (None,):
                number = own.specifier if own is not None else None
                is_known = isinstance(number, int) and 0 <= number < len(texts)
                yield demo, texts[int(number or 0)] if is_known else "", own
        return
    given: list[list[str]] = [[] for _ in demos]
    tasks = [" ".join(demo.task.split()) for demo in demos]
    for number, text in enumerate(texts):
        if text:
            at = next(
                (place for place, demo in enumerate(demos) if demo.number == number), number % len(demos)
            )
            told = _specified_task(text)
            same = [place for place, task in enumerate(tasks) if task == told]
            places = [at, *same] if at in same else same or [at]
            place = next((place for place in places if not given[place]), (same or [at])[0])
            given[place].append(text)
    for demo, own_texts in zip(demos, given, strict=True):
        for text in own_texts or [""]:
            yield demo, text, None


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def _program(prompts: tuple[KeptPrompt, ...], task: str) -> str:
    """Return the program that a prompt shows for this task; one that it shows alone is for all tasks."""
    wanted = _bare(task)
    texts = [text for one in prompts if one.name == "code_filter_prompt" for text in one.texts]
    shown = [part.partition("\nCode:") for text in texts for part in text.split(_ASKED)[1:]]
    programs = [(asked, _PROGRAM.match(code.lstrip())) for asked, _, code in shown]
    for asked, program in programs:
        if program is not None and _bare(asked) == wanted:
            return program[1]
    alone = [program for text in texts for program in _PROGRAM.findall(text)]
    return str(alone[0]) if len(alone) == 1 and not any(program for _, program in programs) else ""


def _bare(task: str) -> str:
    return " ".join(task.split()).rstrip(".").casefold()
