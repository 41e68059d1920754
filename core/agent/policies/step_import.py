"""SteP's policies as policy files (format: resources/policies/README.md), each checked as it is read later."""

import re
from pathlib import Path

import tomlkit

from core.agent.policies.call import what_it_does
from core.agent.policies.file import parse_policy
from core.agent.policies.prompt import with_enter_said
from core.memory.exchange.imports.step import Decision, StepPolicy, read_policies
from core.memory.exchange.records import Document
from core.schema.action import ACTIONS
from core.schema.errors import DataError
from core.schema.record import Record
from core.trace.imports.records import FileEntry

_OFFERED = re.compile(r"^[ \t]*`?(\w+)((?: \[[^\]\n]*\])*)`?:[ \t]*(.+)$", re.MULTILINE)
_RULES = re.compile(r"^[ \t]*Please follow (?:these|the following)[^\n]*\n", re.MULTILINE | re.IGNORECASE)
_NAME = re.compile(r"[a-z]+(?:_[a-z]+)*")


class PolicyFiles(Record):
    """Files by name, and what did not become one."""

    files: dict[str, str]
    left_out: tuple[FileEntry, ...] = ()


def policy_files(document: Document) -> PolicyFiles:
    """Return the policies of a file of SteP as policy files; an example that no policy file may have is left out."""
    policies, left_out = read_policies(document)
    offered = {
        match[1]: (match[2], match[3].strip())
        for policy in policies
        for match in _OFFERED.finditer(policy.instruction)
    }
    names = {policy.name for policy in policies}
    files: dict[str, str] = {}
    for policy in policies:
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
    return PolicyFiles(files=files, left_out=tuple(left_out))


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
    used = [one.action.split(" ")[0] for one in decisions]
    actions = [kind for kind in ACTIONS if kind in {*mentioned, *used} and kind not in ("stop", "note")]
    called = [
        name for name in dict.fromkeys([*mentioned, *used]) if name in names and what_it_does(name) == "call"
    ]
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
    found = re.sub(r"[^a-z]+", "_", name.lower()).strip("_")
    return found if _NAME.fullmatch(found) else "objective"


def _toml(text: str) -> str:
    """Return a text as TOML quotes it."""
    return tomlkit.string(" ".join(text.split())).as_string()


def _fenced(text: str) -> str:
    """Return the text in a fence that nothing in it ends."""
    longest = max((len(match) for match in re.findall(r"`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}text\n{text}\n{fence}"
