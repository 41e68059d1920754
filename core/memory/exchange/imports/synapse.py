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
from typing import Any

from core.memory.exchange.agent_code import Code, read_code
from core.memory.exchange.records import (
    Candidate,
    Document,
    MisplacedError,
    Reading,
    ReadOptions,
    fault_of,
    id_of,
    is_sound,
    kind_of,
    list_at,
    made_exemplar,
    object_of,
    text_at,
)
from core.schema.exemplar import AbstractionPair, ExemplarStep, KeptPrompt
from core.schema.record import Record
from core.trace.imports.records import FaultyError, FileEntry

OWN = "backstep"
"""The key of what Synapse has no field for."""
ENVIRONMENT = "miniwob"
_QUERY = '<div id="query">'
_LONGEST_QUERY = 10_000
_TAG = re.compile(r"<[^>]*>")
_ASKED = "Write code within three backticks '```' to "
_ANY_PROGRAM = re.compile(r"```(?:python)?\n(.*?)\n?```", re.DOTALL)


class _Step(Record):
    step: ExemplarStep
    pair: AbstractionPair | None = None
    raw: str = ""
    """The page's HTML."""
    remarks: tuple[str, ...] = ()


class _Demo(Record):
    """A demonstration, before it is known by which text it is found."""

    position: str
    number: int
    task: str
    steps: tuple[_Step, ...]
    own: tuple[dict[str, Any], ...] = ()
    """What this program wrote next to it, an entry for each exemplar that has these steps."""
    pairs: tuple[AbstractionPair, ...] = ()
    environment: str = ENVIRONMENT


def is_synapse(document: Document) -> bool:
    value = document.value
    return (
        isinstance(value, dict)
        and bool(value)
        and any(isinstance(one, dict) and "demo" in one for one in value.values())
    )


def is_specifiers(document: Document) -> bool:
    value = document.value
    return (
        isinstance(value, dict)
        and bool(value)
        and all(isinstance(texts, list) and texts and _is_text(texts[0]) for texts in value.values())
    )


def _is_text(value: object) -> bool:
    return isinstance(value, str) and value.startswith("Task:")


def read_synapse(document: Document, beside: Document | None, options: ReadOptions) -> Reading:
    """Read the exemplars, with the specifiers of the file next to them if there is one."""
    found: list[Candidate] = []
    left_out: list[FileEntry] = []
    faulty: list[FileEntry] = []
    specifiers = beside.value if beside is not None and isinstance(beside.value, dict) else {}
    for family, values in document.value.items():
        if not family or not is_sound(family):
            faulty.append(
                FileEntry(
                    position=repr(family),
                    why="the name of the family contains half a character (a surrogate)",
                )
            )
            continue
        try:
            reading = _family(family, object_of(values, family), specifiers.get(family, []), options)
        except FaultyError as error:
            faulty.append(fault_of(error, family))
            continue
        found += reading.candidates
        left_out += reading.left_out
        faulty += reading.faulty
    for family in specifiers:
        if family not in document.value:
            why = "no demonstration has these metadata texts"
            left_out.append(FileEntry(position=f"specifiers: {family}", why=why))
    return Reading(candidates=tuple(found), left_out=tuple(left_out), faulty=tuple(faulty))


def _family(family: str, values: dict[str, Any], specifiers: object, options: ReadOptions) -> Reading:
    demos: list[_Demo] = []
    faulty: list[FileEntry] = []
    texts: list[str] = []
    if not isinstance(specifiers, list):
        faulty.append(
            FileEntry(position=f"specifiers: {family}", why=f"it must be a list, not {kind_of(specifiers)}")
        )
        specifiers = []
    for number, text in enumerate(specifiers):
        if isinstance(text, str) and text.strip() and is_sound(text):
            texts.append(text)
        else:
            texts.append("")
            faulty.append(FileEntry(position=f"specifiers: {family}[{number}]", why="it must be a text"))
    prompts = _prompts(family, values)
    for number, demo in enumerate(list_at(values, "demo", family)):
        position = f"{family}.demo[{number}]"
        try:
            text = texts[number] if number < len(texts) else ""
            demos.append(_demo(object_of(demo, position), position, number, text, family))
        except FaultyError as error:
            faulty.append(fault_of(error, position))
    if not demos:
        why = "it has no demonstration" if not faulty else "none of its demonstrations can be read"
        return Reading(left_out=(FileEntry(position=family, why=why),), faulty=tuple(faulty))
    candidates: list[Candidate] = []
    for demo, text, own in _with_texts(demos, texts):
        try:
            candidates.append(_candidate(family, demo, text, own, prompts, options))
        except FaultyError as error:
            faulty.append(fault_of(error, demo.position))
    return Reading(candidates=tuple(candidates), faulty=tuple(faulty))


def _prompts(family: str, values: dict[str, Any]) -> tuple[KeptPrompt, ...]:
    """Return the prompts of a family; a text is one for all steps, a list one for each."""
    found: list[KeptPrompt] = []
    for name, value in values.items():
        if name in ("demo", OWN):
            continue
        texts = [value] if isinstance(value, str) else value
        if not isinstance(texts, list) or not all(isinstance(one, str) and is_sound(one) for one in texts):
            raise MisplacedError(f"{family}.{name}", "a prompt must be a text, or a list of texts")
        found.append(KeptPrompt(name=name, texts=tuple(texts)))
    return tuple(found)


def _demo(values: dict[str, Any], position: str, number: int, text: str, family: str) -> _Demo:
    own = values.get(OWN, {})
    own = own if isinstance(own, dict) else {}
    if "trajectory" in values:
        places = [
            (f"{position}.trajectory[{place}]", one)
            for place, one in enumerate(list_at(values, "trajectory", position))
        ]
    else:
        places = [(position, values)]
    if not places:
        raise MisplacedError(f"{position}.trajectory", "it has no steps")
    steps = tuple(_step(object_of(one, place), place) for place, one in places)
    raw = next((one.raw for one in steps if one.raw), "")
    task = text_at(values, "task", position, without="") or _query(raw)
    exemplars = own.get("exemplars", [])
    pairs = own.get("abstraction")
    return _Demo(
        position=position,
        number=number,
        task=task or _specified_task(text) or steps[0].step.observation.strip() or family,
        steps=steps,
        own=tuple(one for one in exemplars if isinstance(one, dict)) if isinstance(exemplars, list) else (),
        pairs=_own_pairs(pairs, position)
        if pairs is not None
        else tuple(one.pair for one in steps if one.pair is not None),
        environment=text_at(own, "environment", f"{position}.{OWN}", without=ENVIRONMENT),
    )


def _own_pairs(value: object, position: str) -> tuple[AbstractionPair, ...]:
    place = f"{position}.{OWN}.abstraction"
    if not isinstance(value, list):
        raise MisplacedError(place, "it must be a list of pairs")
    pairs = [object_of(one, f"{place}[{number}]") for number, one in enumerate(value)]
    return tuple(
        AbstractionPair(
            state=text_at(one, "state", f"{place}[{number}]"),
            observation=text_at(one, "observation", f"{place}[{number}]"),
        )
        for number, one in enumerate(pairs)
    )


def _step(values: dict[str, Any], position: str) -> _Step:
    own = values.get(OWN, {}) if "trajectory" not in values else {}
    own = own.get("step", own) if isinstance(own, dict) else {}
    raw = text_at(values, "state", position, without="")
    clean = text_at(values, "obs", position, without="")
    code = text_at(values, "act", position)
    if isinstance(own.get("actions"), list) and own["actions"]:
        read = Code(
            actions=_own_actions(own, position), thought=text_at(own, "thought", position, without="")
        )
    else:
        read = _code(code, position)
    observation = clean if "obs" in values else raw
    return _Step(
        step=ExemplarStep(
            observation=observation,
            raw=text_at(own, "raw", position, without=""),
            thought=read.thought,
            actions=read.actions,
        ),
        pair=AbstractionPair(state=raw, observation=clean) if "state" in values and "obs" in values else None,
        raw=raw,
        remarks=tuple(f"{position}.act: {one}" for one in read.remarks),
    )


def _code(code: str, position: str) -> Code:
    try:
        return read_code(code)
    except FaultyError as error:
        raise MisplacedError(f"{position}.act", str(error)) from error


def _own_actions(own: dict[str, Any], position: str) -> tuple[str, ...]:
    if not all(isinstance(one, str) and is_sound(one) for one in own["actions"]):
        raise MisplacedError(f"{position}.{OWN}.actions", "an action must be a text")
    return tuple(own["actions"])


def _query(raw: str) -> str:
    """Return the instruction as the page's HTML shows it."""
    inside = raw.partition(_QUERY)[2].partition("</div>")[0][:_LONGEST_QUERY]
    return " ".join(html.unescape(_TAG.sub("", inside)).split())


def _specified_task(text: str) -> str:
    """Return the task that a metadata text tells."""
    said, state, _ = text.partition("\nState:")
    return " ".join(said.removeprefix("Task:").split()) if state and said.startswith("Task:") else ""


def _with_texts(demos: list[_Demo], texts: list[str]) -> Iterator[tuple[_Demo, str, dict[str, Any] | None]]:
    """Yield each demonstration with a text that it is found by, until all texts are used.

    A text goes to the demonstration of the same task, else to the one at its
    own place, else in turn to those there are.
    """
    if any(demo.own for demo in demos):
        for demo in demos:
            entries: tuple[dict[str, Any] | None, ...] = demo.own or (None,)
            for own in entries:
                number = own.get("specifier") if own is not None else None
                known = isinstance(number, int) and 0 <= number < len(texts)
                yield demo, texts[number] if known and number is not None else "", own
        return
    given: dict[int, list[str]] = {place: [] for place in range(len(demos))}
    tasks = [" ".join(demo.task.split()) for demo in demos]
    for number, text in enumerate(texts):
        if not text:
            continue
        task = _specified_task(text)
        same = [place for place, one in enumerate(tasks) if one == task]
        fresh = [place for place in same if not given[place]]
        at = next((place for place, demo in enumerate(demos) if demo.number == number), number % len(demos))
        place = at if at in same and not given[at] else (fresh or same or [at])[0]
        given[place].append(text)
    for place, demo in enumerate(demos):
        for text in given[place] or [""]:
            yield demo, text, None


def _candidate(
    family: str,
    demo: _Demo,
    text: str,
    own: dict[str, Any] | None,
    prompts: tuple[KeptPrompt, ...],
    options: ReadOptions,
) -> Candidate:
    place = f"{demo.position}.{OWN}"
    shared: dict[str, Any] = {
        "family": options.family or family,
        "task": demo.task,
        "environment": demo.environment,
        "metadata": text,
        "steps": tuple(one.step for one in demo.steps),
        "abstraction": demo.pairs,
    }
    remarks = tuple(remark for one in demo.steps for remark in one.remarks)
    if own is None:
        exemplar = made_exemplar(
            id=id_of("synapse", family, demo.number, *([_digest(text)] if text else [])),
            **shared,
            prompts=prompts,
            parser=_program(prompts, demo.task),
            source=f"Synapse, {demo.position}",
        )
        return Candidate(position=demo.position, exemplar=exemplar, remarks=remarks)
    if own.get("derived") is True:
        shared["metadata"] = text_at(own, "metadata", place, without="")
    tags = own.get("tags", [])
    if not isinstance(tags, list):
        raise MisplacedError(f"{place}.tags", "it must be a list")
    exemplar = made_exemplar(
        id=text_at(own, "id", place),
        **shared,
        prompts=own.get("prompts", prompts),
        parser=text_at(own, "parser", place, without=""),
        source=text_at(own, "source", place, without=""),
        note=text_at(own, "note", place, without=""),
        tags=tuple(tags),
        archived=own.get("archived", False),
    )
    return Candidate(position=demo.position, exemplar=exemplar, remarks=remarks, has_own_id=True)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def _program(prompts: tuple[KeptPrompt, ...], task: str) -> str:
    """Return the program that a prompt shows for this task; one that it shows alone is for all tasks."""
    texts = [text for one in prompts if one.name == "code_filter_prompt" for text in one.texts]
    wanted = _bare(task)
    shown = [part.partition("\nCode:") for text in texts for part in text.split(_ASKED)[1:]]
    programs = [(asked, _ANY_PROGRAM.match(code.lstrip())) for asked, _, code in shown]
    for asked, program in programs:
        if program is not None and _bare(asked) == wanted:
            return program[1]
    alone = [program for text in texts for program in _ANY_PROGRAM.findall(text)]
    return str(alone[0]) if len(alone) == 1 and not any(program for _, program in programs) else ""


def _bare(task: str) -> str:
    return " ".join(task.split()).rstrip(".").casefold()
