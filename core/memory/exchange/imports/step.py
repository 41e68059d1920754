"""SteP's policies, as JSON or as the Python modules that are published.

Each decision of their examples is put together to trajectories.

An example is one decision with the actions before it. Those of one policy
that follow one another with the same objective and more and more actions are
one trajectory. The policies themselves become policy files by
core/agent/policies/step_import.py.
"""

import re
from collections.abc import Iterable
from typing import Any

from core.memory.exchange.records import (
    Candidate,
    Document,
    MisplacedError,
    Reading,
    ReadOptions,
    fault_of,
    id_of,
    list_at,
    made_exemplar,
    object_of,
    text_at,
)
from core.schema.action import ACTIONS
from core.schema.action_text import parse_action
from core.schema.errors import ActionSyntaxError
from core.schema.exemplar import ExemplarStep
from core.schema.record import Record
from core.trace.imports.records import FaultyError, FileEntry

_PARTS = ("OBJECTIVE", "OBSERVATION", "URL", "PREVIOUS ACTIONS", "REASON", "ACTION")
_PART = re.compile(rf"^[ \t]*({'|'.join(_PARTS)}):[ \t]*", re.MULTILINE)
# A value ends where the next element begins: one without its end is not a reason to look through all that follows.
_ELEMENT = re.compile(r"<(\w+) id=(\d{1,9}) val=((?:(?!<\w{1,40} id=).)*?) ?/>")
_ENTER = re.compile(r"(.*\])\s*\[(?:press_enter_after\s*=\s*)?([01])\]\s*\Z", re.DOTALL)
_ROLES = {
    "a": "link",
    "input_text": "textbox",
    "input_password": "textbox",
    "input_date": "textbox",
    "input_checkbox": "checkbox",
    "input_radio": "radio",
    "textarea": "textbox",
    "select": "combobox",
    "li": "listitem",
    "ul": "list",
    "p": "paragraph",
    "t": "text",
}


class Decision(Record):
    """One example of a policy."""

    position: str
    number: int
    objective: str
    observation: str
    url: str = ""
    before: tuple[str, ...] = ()
    """The actions before it."""
    thought: str = ""
    action: str
    remark: str = ""


class StepPolicy(Record):
    """A policy with those of its examples that can be read."""

    name: str
    instruction: str
    decisions: tuple[Decision, ...] = ()
    faulty: tuple[FileEntry, ...] = ()


def is_step(document: Document) -> bool:
    value = document.value
    return (
        isinstance(value, dict)
        and bool(value)
        and any(isinstance(one, dict) and {"instruction", "examples"} <= set(one) for one in value.values())
    )


def read_step(document: Document, beside: Document | None, options: ReadOptions) -> Reading:
    """Read the trajectories; a policy without examples is left out."""
    found: list[Candidate] = []
    left_out: list[FileEntry] = []
    policies, faulty = read_policies(document)
    for policy in policies:
        faulty += policy.faulty
        if not policy.decisions and not policy.faulty:
            left_out.append(FileEntry(position=policy.name, why="the policy has no examples"))
        for chain in _chains(policy.decisions):
            try:
                found.append(_candidate(policy, chain, options))
            except FaultyError as error:
                faulty.append(fault_of(error, chain[0].position))
    return Reading(candidates=tuple(found), left_out=tuple(left_out), faulty=tuple(faulty))


def read_policies(document: Document) -> tuple[tuple[StepPolicy, ...], list[FileEntry]]:
    """Return the policies of the file, and what of it is none."""
    policies: list[StepPolicy] = []
    faulty = list(document.faulty)
    names = [name for name in document.value if re.fullmatch(r"[A-Za-z][A-Za-z0-9_]{0,63}", name)]
    for name, values in document.value.items():
        try:
            if name not in names:
                raise FaultyError("a policy's name can contain only letters, digits and _")
            policies.append(_policy(name, object_of(values, name), names))
        except FaultyError as error:
            faulty.append(fault_of(error, name))
    return tuple(policies), faulty


def _policy(name: str, values: dict[str, Any], names: Iterable[str]) -> StepPolicy:
    instruction = text_at(values, "instruction", name)
    if rules := _rules_of(values.get("input")):
        instruction = f"{instruction.rstrip()}\n\n{rules}"
    decisions: list[Decision] = []
    faulty: list[FileEntry] = []
    for number, example in enumerate(list_at(values, "examples", name, optional=True)):
        position = f"{name}.examples[{number}]"
        try:
            decisions.append(_decision(object_of(example, position), position, number, instruction, names))
        except FaultyError as error:
            faulty.append(fault_of(error, position))
    return StepPolicy(name=name, instruction=instruction, decisions=tuple(decisions), faulty=tuple(faulty))


def _rules_of(template: object) -> str:
    """Return what the template of the input says below its last value: some policies have their rules there."""
    return template.rpartition("{previous_actions}")[2].strip() if isinstance(template, str) else ""


def _decision(
    values: dict[str, Any], position: str, number: int, instruction: str, names: Iterable[str]
) -> Decision:
    inputs = _parts(text_at(values, "input", position))
    reply = _parts(text_at(values, "response", position))
    for wanted, of, name in (
        ("OBJECTIVE", inputs, "input"),
        ("OBSERVATION", inputs, "input"),
        ("ACTION", reply, "response"),
    ):
        if not of.get(wanted):
            raise MisplacedError(f"{position}.{name}", f"it has no {wanted}")
    action, remark = _action(reply["ACTION"], instruction, names)
    return Decision(
        position=position,
        number=number,
        objective=inputs["OBJECTIVE"],
        observation=_page(inputs["OBSERVATION"]),
        url=inputs.get("URL", ""),
        before=tuple(line.strip() for line in inputs.get("PREVIOUS ACTIONS", "").split("\n") if line.strip()),
        thought=reply.get("REASON", ""),
        action=action,
        remark=f"{position}: {remark}" if remark else "",
    )


def _parts(text: str) -> dict[str, str]:
    """Return the texts under the headings; the first of a heading counts."""
    found: dict[str, str] = {}
    marks = list(_PART.finditer(text))
    ends = [*(mark.start() for mark in marks[1:]), len(text)]
    for mark, end in zip(marks, ends, strict=False):
        found.setdefault(mark[1], text[mark.end() : end].strip())
    return found


def _page(observation: str) -> str:
    """Return the page with its elements as this program writes them."""

    def line(match: re.Match[str]) -> str:
        tag = match[1]
        role = "heading" if re.fullmatch(r"h[1-6]", tag) else _ROLES.get(tag, tag)
        role = "generic" if role in ("div", "span", "body", "tbody") else role
        name = match[3].strip()
        return f'[{match[2]}] {role} "{name}"' if name else f"[{match[2]}] {role}"

    return "\n".join(_ELEMENT.sub(line, one) for one in observation.split("\n"))


def _action(text: str, instruction: str, names: Iterable[str]) -> tuple[str, str]:
    """Return the action as this program writes it, with a remark where it has no word for it."""
    plain = text.strip().strip("`").strip()
    kind = re.match(r"\w*", plain)
    if kind is not None and kind[0] == "type":
        enter = _ENTER.match(plain)
        # SteP's type presses Enter by itself where the policy can say that it should not.
        by_itself = "press_enter_after" in instruction
        if enter is not None and plain.count("[") > 2:
            plain = enter[1] + (" [enter=1]" if enter[2] == "1" else "")
        elif by_itself:
            plain += " [enter=1]"
    try:
        own = [name for name in names if name not in ACTIONS]
        return str(parse_action(plain, own)), ""
    except ActionSyntaxError as error:
        return plain, f"the action is kept unchanged: {error}"


def _chains(decisions: tuple[Decision, ...]) -> list[list[Decision]]:
    chains: list[list[Decision]] = []
    for one in decisions:
        last = chains[-1][-1] if chains else None
        goes_on = (
            last is not None
            and last.objective == one.objective
            and len(one.before) > len(last.before)
            and one.before[: len(last.before)] == last.before
        )
        if goes_on:
            chains[-1].append(one)
        else:
            chains.append([one])
    return chains


def _candidate(policy: StepPolicy, chain: list[Decision], options: ReadOptions) -> Candidate:
    first = chain[0]
    remarks = [one.remark for one in chain if one.remark]
    if first.before:
        went = "1 action" if len(first.before) == 1 else f"{len(first.before)} actions"
        more = f"{went} before its first decision, whose pages are not in the file"
        remarks.append(f"{first.position}: {more}")
    exemplar = made_exemplar(
        id=id_of("step", policy.name, first.number),
        family=options.family or policy.name,
        task=first.objective,
        steps=tuple(
            ExemplarStep(
                observation=f"{one.observation}\nURL: {one.url}" if one.url else one.observation,
                thought=one.thought,
                actions=(one.action,),
            )
            for one in chain
        ),
        source=f"SteP, {first.position}",
        tags=("step",),
    )
    return Candidate(position=first.position, exemplar=exemplar, remarks=tuple(remarks))
