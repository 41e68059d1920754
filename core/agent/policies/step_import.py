"""Converts SteP's policies to policy files (format: resources/policies/README.md) and checks each of them."""

import re
from collections.abc import Iterable
from pathlib import Path

import tomlkit

from core.agent.policies.call import what_it_does
from core.agent.policies.file import parse_policy
from core.agent.policies.prompt import with_enter_said
from core.exemplars.exchange.documents import Document
from core.exemplars.exchange.imports.step import Decision, StepPolicy, read_policies
from core.exemplars.exchange.plan import ReadOptions
from core.exemplars.exchange.reading import Reading
from core.schema.action import ACTIONS
from core.schema.errors import DataError
from core.schema.record import Record
from core.trace.imports.records import FileEntry

_OFFERED = re.compile(r"^[ \t]*`?(\w+)((?: \[[^\]\n]*\])*)`?:[ \t]*(.+)$", re.MULTILINE)
_RULES = re.compile(r"^[ \t]*Please follow (?:these|the following)[^\n]*\n", re.MULTILINE | re.IGNORECASE)
_NAME = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)*")


class PolicyFiles(Record):
    """Files by name, and what could not be converted."""

    files: dict[str, str]
    left_out: tuple[FileEntry, ...] = ()
    undefined: tuple[FileEntry, ...] = ()
    """What instructions offer that is neither an action nor a policy of the file."""
    first: tuple[str, ...] = ()
    """Of those that may call others, the ones that none may call: runs would begin with them."""


def policy_files(document: Document) -> PolicyFiles:
    """Return the policies of a file of SteP as policy files; an example that no policy file may have is left out."""
    reading = Reading(document, ReadOptions())
    policies = read_policies(reading)
    left_out = [
        FileEntry(position=entry.position, why=entry.why)
        for entry in reading.entries
        if entry.fate == "faulty"
    ]
    offered = {
        match[1]: (match[2], match[3].strip())
        for policy in policies
        for match in _OFFERED.finditer(policy.instruction)
    }
    names = {policy.name for policy in policies}
    files: dict[str, str] = {}
    calls: dict[str, list[str]] = {}
    undefined: list[FileEntry] = []
    for policy in policies:
        if not _NAME.fullmatch(policy.name) or what_it_does(policy.name) != "call":
            why = (
                f"{policy.name} is not a valid policy name here: rename it, in lowercase letters and digits with "
                "_ between words"
            )
            left_out.append(FileEntry(position=policy.name, why=why))
            continue
        undefined += _undefined(policy, names)
        calls[policy.name] = [one for one in _called(policy, policy.decisions, names) if one != policy.name]
        kept = list(policy.decisions)
        while True:
            text = _policy_text(policy, kept, names, offered)
            try:
                parse_policy(text, Path(f"{policy.name}.md"))
            except DataError as error:
                if not kept:
                    left_out.append(FileEntry(position=policy.name, why=str(error).rstrip(".")))
                    break
                # The last one goes first: the error names the one that is wrong only in words.
                wrong = next((one for one in kept if not _is_readable(policy, one, names, offered)), kept[-1])
                kept.remove(wrong)
                left_out.append(FileEntry(position=wrong.position, why=str(error).rstrip(".")))
                continue
            files[f"{policy.name}.md"] = text
            break
    by_others = {called for name, names in calls.items() if f"{name}.md" in files for called in names}
    return PolicyFiles(
        files=files,
        left_out=tuple(left_out),
        undefined=tuple(undefined),
        first=tuple(
            call for call in calls if f"{call}.md" in files and calls[call] and call not in by_others
        ),
    )


def _undefined(policy: StepPolicy, names: set[str]) -> list[FileEntry]:
    found: dict[str, FileEntry] = {}
    for match in _OFFERED.finditer(policy.instruction):
        name = match[1]
        if name not in ACTIONS and name not in names and name not in found:
            line = policy.instruction.count("\n", 0, match.start()) + 1
            why = f"line {line} offers {name}, which is neither an action nor a policy in the file"
            found[name] = FileEntry(position=f"{policy.name}.instruction", why=why)
    return list(found.values())


def _called(policy: StepPolicy, decisions: Iterable[Decision], names: set[str]) -> list[str]:
    """Return the policies of the file that one may call, by its instruction or its examples."""
    mentioned = [match[1] for match in _OFFERED.finditer(policy.instruction)]
    used = [decision.action.split(" ")[0] for decision in decisions]
    return [
        name for name in dict.fromkeys([*mentioned, *used]) if name in names and what_it_does(name) == "call"
    ]


def _is_readable(
    policy: StepPolicy, one: Decision, names: set[str], offered: dict[str, tuple[str, str]]
) -> bool:
    try:
        parse_policy(_policy_text(policy, [one], names, offered), Path(f"{policy.name}.md"))
    except DataError:
        return False
    return True


def _policy_text(
    policy: StepPolicy, decisions: list[Decision], names: set[str], offered: dict[str, tuple[str, str]]
) -> str:
    enters = "press_enter_after" in policy.instruction
    arguments, description = offered.get(policy.name, ("", ""))
    mentioned = [match[1] for match in _OFFERED.finditer(policy.instruction)]
    used = [decision.action.split(" ")[0] for decision in decisions]
    actions = [kind for kind in ACTIONS if kind in {*mentioned, *used} and kind not in ("stop", "note")]
    called = _called(policy, decisions, names)
    front = [
        f"description = {_toml(description or f'Carries out {policy.name} as SteP does.')}",
        *(["enter = true"] if enters else []),
        f"actions = [{', '.join(_toml(one) for one in actions)}]",
        f"policies = [{', '.join(_toml(one) for one in called)}]",
    ]
    for name in dict.fromkeys(_plain(one) for one in re.findall(r"\[([^\]]*)\]", arguments)):
        front += [
            "",
            "[[parameters]]",
            f"name = {_toml(name)}",
            f"description = {_toml(name.replace('_', ' '))}",
        ]
    rules = _RULES.split(policy.instruction, maxsplit=1)[-1].strip() or policy.instruction.strip()
    body = ["# Instruction", "", _fenced(rules)]
    if decisions:
        body += ["", "# Examples"]
    for number, one in enumerate(decisions, start=1):
        body += ["", f"## Example {number}", "", "### Objective", "", _fenced(one.objective)]
        body += ["", "### Observation", "", _fenced(one.observation)]
        if one.before:
            history = "\n".join(f"{place}. {text}" for place, text in enumerate(one.before, start=1))
            body += ["", "### History", "", _fenced(history)]
        thought = " ".join(one.thought.split()) or "This is next."
        action = with_enter_said(one.action) if enters else one.action
        body += ["", "### Reply", "", _fenced(f"REASON: {thought}\nACTION: {action}")]
    return "\n".join(["+++", *front, "+++", "", *body, ""])


def _plain(name: str) -> str:
    """Return the name of a parameter as a policy file may have it."""
    found = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")
    return found if _NAME.fullmatch(found) else "objective"


def _toml(text: str) -> str:
    """Return a text as TOML quotes it."""
    return tomlkit.string(" ".join(text.split())).as_string()


def _fenced(text: str) -> str:
    """Return the text in a fence that nothing in it ends."""
    longest = max((len(match) for match in re.findall(r"`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}text\n{text}\n{fence}"
