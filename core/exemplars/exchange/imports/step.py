"""SteP's policies, as JSON or as the Python modules that are published, which are parsed and never run.

An example of a policy is one decision with the actions before it. Those that
follow one another with the same objective and more and more actions are one
trajectory. The policies become files by core/agent/policies/step_import.py.
"""

import re
from collections.abc import Collection
from typing import Any

from core.exemplars.exchange.documents import Document
from core.exemplars.exchange.foreign import AnyText, Foreign, MaybeList, MisplacedError, Text, parsed
from core.exemplars.exchange.reading import Reading, id_of
from core.schema.action import ACTIONS
from core.schema.action_text import parse_action
from core.schema.errors import ActionSyntaxError
from core.schema.exemplar import ExemplarStep
from core.schema.formats import count
from core.schema.record import Record
from core.trace.imports.records import FaultyError

_KEYS = {"instruction", "examples"}
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}")
_HEADING = re.compile(
    r"^[ \t]*(OBJECTIVE|OBSERVATION|URL|PREVIOUS ACTIONS|REASON|ACTION):[ \t]*", re.MULTILINE
)
# A value ends where the next element begins: one without its end is not a reason to look through all that follows.
_ELEMENT = re.compile(r"<(\w+) id=(\d{1,9}) val=((?:(?!<\w{1,40} id=).)*?) ?/>")
_ENTER = re.compile(r"(.*\])\s*\[(?:press_enter_after\s*=\s*)?([01])\]\s*\Z", re.DOTALL)
_ROLES = {"a": "link", "select": "combobox", "li": "listitem", "ul": "list", "p": "paragraph", "t": "text"}
_ROLES |= dict.fromkeys(("textarea", "input_text", "input_password", "input_date"), "textbox")
_ROLES |= {"input_checkbox": "checkbox", "input_radio": "radio"}
_ROLES |= dict.fromkeys(("div", "span", "body", "tbody"), "generic")
_ROLES |= dict.fromkeys(("h1", "h2", "h3", "h4", "h5", "h6"), "heading")


class _Policy(Foreign):
    instruction: Text
    examples: MaybeList = []
    input: AnyText = ""
    """The template of the input: some policies have their rules below its last value."""


class _Example(Foreign):
    input: Text
    response: Text


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

    @property
    def step(self) -> ExemplarStep:
        page = f"{self.observation}\nURL: {self.url}" if self.url else self.observation
        return ExemplarStep(observation=page, thought=self.thought, actions=(self.action,))


class StepPolicy(Record):
    """A policy with those of its examples that can be read."""

    name: str
    instruction: str
    decisions: tuple[Decision, ...]


def is_step(document: Document) -> bool:
    return any(map(_is_policy, _written(document).values()))


def read_step(reading: Reading) -> None:
    for policy in read_policies(reading):
        chains: list[list[Decision]] = []
        for decision in policy.decisions:
            last = chains[-1][-1] if chains else None
            before = decision.before
            if (
                last
                and last.objective == decision.objective
                and before[: len(last.before)] == last.before != before
            ):
                chains[-1].append(decision)
            else:
                chains.append([decision])
        for chain in chains:
            with reading.entry(chain[0].position):
                _add(reading, policy, chain)


def _add(reading: Reading, policy: StepPolicy, chain: list[Decision]) -> None:
    first = chain[0]
    remarks = [f"{decision.position}: {decision.remark}" for decision in chain if decision.remark]
    if number := len(first.before):
        before = f"{count(number, 'action')} before its first decision"
        remarks.append(f"{first.position}: {before}, whose pages are not in the file")
    values = {
        "id": id_of("step", policy.name, first.number),
        "family": policy.name,
        "task": first.objective,
        "steps": [decision.step for decision in chain],
        "source": f"SteP, {first.position}",
        "tags": ("step",),
    }
    reading.add(first.position, values, remarks)


def read_policies(reading: Reading) -> tuple[StepPolicy, ...]:
    """Return the policies of the file; what of it is none is reported, and examples that cannot be read."""
    written = _written(reading.document)
    names = [name for name in written if _NAME.fullmatch(name)]
    policies: list[StepPolicy] = []
    for name, values in written.items():
        with reading.entry(name):
            if not _NAME.fullmatch(name):
                raise FaultyError("a policy's name can contain only letters, digits and _")
            if policy := _policy(reading, name, values, names):
                policies.append(policy)
    return tuple(policies)


def _policy(reading: Reading, name: str, values: Any, names: Collection[str]) -> StepPolicy | None:
    if isinstance(values, dict):
        unread = {part: str(value) for part, value in values.items() if isinstance(value, FaultyError)}
        values = {part: value for part, value in values.items() if part not in unread}
        for part, why in unread.items():
            reading.fault(f"{name}.{part}", why)
        if "instruction" in unread:
            return None
    policy = parsed(_Policy, values, name)
    rules = policy.input.rpartition("{previous_actions}")[2].strip()
    instruction = f"{policy.instruction.rstrip()}\n\n{rules}" if rules else policy.instruction
    if not policy.examples:
        reading.leave_out(name, "the policy has no examples")
    decisions: list[Decision] = []
    for number, value in enumerate(policy.examples):
        position = f"{name}.examples[{number}]"
        with reading.entry(position):
            example = parsed(_Example, value, position)
            inputs = _parts(example.input, position, "input", "OBJECTIVE", "OBSERVATION")
            reply = _parts(example.response, position, "response", "ACTION")
            action, remark = _action(reply["ACTION"], instruction, names)
            before = inputs.get("PREVIOUS ACTIONS", "").split("\n")
            decisions.append(
                Decision(
                    position=position,
                    number=number,
                    objective=inputs["OBJECTIVE"],
                    observation=_ELEMENT.sub(_element, inputs["OBSERVATION"]),
                    url=inputs.get("URL", ""),
                    before=tuple(line.strip() for line in before if line.strip() not in ("", "None")),
                    thought=reply.get("REASON", ""),
                    action=action,
                    remark=remark,
                )
            )
    return StepPolicy(name=name, instruction=instruction, decisions=tuple(decisions))


def _parts(text: str, position: str, field: str, *needed: str) -> dict[str, str]:
    """Return the texts under the headings; the first of a heading counts. Raises MisplacedError."""
    _, *parts = _HEADING.split(text)
    headed = list(zip(parts[::2], parts[1::2], strict=True))
    texts = {heading: below.strip() for heading, below in reversed(headed)}
    for heading in needed:
        if not texts.get(heading):
            raise MisplacedError(position, field, f"it has no {heading}")
    return texts


def _element(match: re.Match[str]) -> str:
    """Return an element as this program writes it."""
    role, name = _ROLES.get(match[1], match[1]), match[3].strip()
    return f'[{match[2]}] {role} "{name}"' if name else f"[{match[2]}] {role}"


def _action(text: str, instruction: str, names: Collection[str]) -> tuple[str, str]:
    """Return the action as this program writes it, with a remark where it has no word for it."""
    plain = text.strip().strip("`").strip()
    if re.match(r"type\b", plain):
        enter = _ENTER.match(plain)
        if enter is not None and plain.count("[") > 2:
            plain = enter[1] + (" [enter=1]" if enter[2] == "1" else "")
        elif "press_enter_after" in instruction:
            # SteP's type presses Enter by itself where the policy can say that it should not.
            plain += " [enter=1]"
    try:
        return str(parse_action(plain, [name for name in names if name not in ACTIONS])), ""
    except ActionSyntaxError as error:
        return plain, f"the action is kept unchanged: {error}"


def _written(document: Document) -> dict[str, Any]:
    """Return the policies by name; those of a module have names of their own, or are in a dict of policies."""
    written = dict(document.fields)
    known: set[int] = set()
    for name, value in document.module.items():
        inside = value.items() if isinstance(value, dict) else ()
        for key, policy in ((name, value), *inside):
            if _is_policy(policy) and id(policy) not in known:
                known.add(id(policy))
                written[key] = policy
    return written


def _is_policy(value: object) -> bool:
    return isinstance(value, dict) and value.keys() >= _KEYS
