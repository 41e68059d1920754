"""Reads and checks a policy file (format: resources/policies/README.md).

Only the file itself is checked here. core/agent/policies/catalogue.py checks whether the policies that it
calls exist.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from core.agent.policies.call import Call, read_call
from core.agent.policies.conditions import condition_problem
from core.environments.webarena_config import SITES
from core.llm.replies import read_lines
from core.schema.action import ACTIONS, RefTarget
from core.schema.action_space import ParameterType
from core.schema.action_text import parse_action
from core.schema.errors import ActionSyntaxError, DataError
from core.schema.messages import LLMReply
from core.schema.pattern import Expression
from core.schema.record import Record
from core.settings.user_file import MOST_TOLD, UserFile, near, read_text, split_front_matter

_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})[^`]*")


class PolicySection(Record):
    """A heading with the text below it, up to the next known heading."""

    level: int
    title: str
    line: int
    """The heading's line in the file, from 1."""
    text: str = ""
    """Without blank lines around it; a code fence around all of it is taken off."""
    text_line: int = 0
    """The line its text begins in."""
    parts: tuple["PolicySection", ...] = ()

    def part(self, title: str) -> "PolicySection | None":
        """Return the part of that title, whatever its capitals."""
        wanted = title.casefold()
        return next((part for part in self.parts if part.title.casefold() == wanted), None)


def sections(
    body: str, first_line: int, level: int = 1, deepest: int = 3
) -> tuple[str, tuple[PolicySection, ...]]:
    """Return the text before the first heading of `level`, and the sections.

    Sections hold the headings of the next levels as parts, down to
    `deepest`; what is deeper is text, as is everything in a code fence. A
    section's text is all that stands in it, headings of its parts included.
    """
    lines = body.split("\n")
    found: list[tuple[int, str]] = []
    fence = ""
    for index, line in enumerate(lines):
        mark = _FENCE.fullmatch(line)
        if fence:
            if mark and mark[1][0] == fence[0] and len(mark[1]) >= len(fence):
                fence = ""
        elif mark:
            fence = mark[1]
        elif (heading := _HEADING.fullmatch(line)) and len(heading[1]) == level:
            found.append((index, heading[2]))
    before = "\n".join(lines[: found[0][0]] if found else lines).strip()
    ends = [*(index for index, _ in found[1:]), len(lines)]
    made: list[PolicySection] = []
    for (index, title), end in zip(found, ends, strict=False):
        content = lines[index + 1 : end]
        text, offset = _trimmed(content)
        parts: tuple[PolicySection, ...] = ()
        if level < deepest:
            _, parts = sections("\n".join(content), first_line + index + 1, level + 1, deepest)
        made.append(
            PolicySection(
                level=level,
                title=title,
                line=first_line + index,
                text=text,
                text_line=first_line + index + 1 + offset,
                parts=parts,
            )
        )
    return before, tuple(made)


def _trimmed(lines: list[str]) -> tuple[str, int]:
    """Return the text without blank lines and fence around it, and how many lines were before it."""
    start, end = 0, len(lines)
    while start < end and not lines[start].strip():
        start += 1
    while end > start and not lines[end - 1].strip():
        end -= 1
    if end - start >= 2:
        first, last = _FENCE.fullmatch(lines[start]), lines[end - 1].strip()
        inside = lines[start + 1 : end - 1]
        if first and last == first[1] and not any(line.strip().startswith(first[1]) for line in inside):
            return "\n".join(inside), start + 1
    return "\n".join(lines[start:end]), start


# The file

SECTIONS = ("Instruction", "Examples")
EXAMPLE_PARTS = ("Objective", "Page", "Observation", "History", "Notes", "Reply")
ALWAYS = ("stop",)
"""What every policy may do, whatever its list says: else it could not end."""

_WORDS = r"^[a-z][a-z0-9]*(_[a-z0-9]+)*$"
_SITE = re.compile(r"__([A-Z_]+?)__")
_TYPES: dict[ParameterType, tuple[str, str]] = {
    "string": ("a text", ".*"),
    "integer": ("a whole number", r"[+-]?\d{1,15}"),
    "number": ("a number", r"[+-]?(\d+\.?\d*|\.\d+)"),
    "boolean": ("true or false", "true|false|1|0"),
}
"""Of each type of argument, what it is called and the form it has."""
_REF = re.compile(r"^\s*\[(\d+)\]", re.MULTILINE)


def _or_all(value: Any) -> Any:
    return None if value == "all" else value


Names = Annotated[tuple[str, ...] | None, BeforeValidator(_or_all)]
"""A list of names; None, in the file "all", for any."""


class PolicyParameter(Record):
    """An argument that the caller of the policy gives."""

    name: str = Field(pattern=_WORDS, max_length=64)
    type: ParameterType = "string"
    description: str = ""


OBJECTIVE = PolicyParameter(
    name="objective", description="What is to be done, with every name and value that it takes."
)


class Applies(Record):
    """Where a policy can be used."""

    environments: tuple[str, ...] = ()
    """Their ids; empty: in any."""
    urls: tuple[Expression, ...] = ()
    """Regular expressions, one of which is found in the URL; empty: at any. ``__GITLAB__`` and the
    like stand for the addresses of WebArena's sites."""


class PolicyHead(Record):
    """The keys of the front matter."""

    name: str = Field(default="", pattern=_WORDS, max_length=64)
    description: str = Field(min_length=1)
    """Its line among the actions of the policies that may call it."""
    parameters: tuple[PolicyParameter, ...] = (OBJECTIVE,)
    applies: Applies = Applies()
    actions: Names = None
    """Kinds of action it may use."""
    policies: Names = None
    """Policies it may call, itself too: by name, or by id where they belong to another environment."""
    enter: bool = False
    """Whether Enter is pressed after text that is typed, unless the reply says 0, as SteP has it."""
    top: bool = False
    """Whether a run begins with it where it applies."""
    called: bool = True
    """Whether policies may call it."""


class PolicyExample(Record):
    """An example decision of the policy."""

    title: str
    line: int
    objective: str = ""
    page: str = ""
    """Title and URL of the page."""
    observation: str
    history: str = ""
    notes: str = ""
    thought: str
    call: Call


class Policy(PolicyHead):
    """A valid policy."""

    id: str
    """Its folder and name, as in ``webarena/find_commits``: one for each policy."""
    instruction: str
    examples: tuple[PolicyExample, ...] = ()
    text: str = Field(default="", repr=False)
    """The file as it was read."""
    path: Path

    def allows(self, kind: str) -> bool:
        """Return whether it may use this kind of action."""
        return kind in ALWAYS or self.actions is None or kind in self.actions

    def usage(self) -> str:
        """Return how it is called, as in ``fill_text [field] [text]``."""
        return " ".join([self.name, *(f"[{parameter.name}]" for parameter in self.parameters)])

    def call_problem(self, arguments: tuple[str, ...]) -> str:
        """Return what is wrong with the arguments of a call, in a sentence for the LLM, or nothing."""
        for parameter, argument in zip(self.parameters, arguments, strict=False):
            if not argument.strip():
                return f"{self.name} was called with an empty {parameter.name}: {self.usage()}."
            words, form = _TYPES[parameter.type]
            if not re.fullmatch(form, argument.strip(), re.DOTALL | re.IGNORECASE):
                return f'{self.name} takes {words} as its {parameter.name}, not "{argument}".'
        missing = [parameter.name for parameter in self.parameters[len(arguments) :]]
        if missing:
            return f"{self.name} needs {' and '.join(missing)}: {self.usage()}."
        if len(arguments) > len(self.parameters):
            return f"{self.name} was called with too many arguments ({len(arguments)}): {self.usage()}."
        return ""


def read_policy(path: Path, folder: Path | None = None) -> Policy:
    """Read a policy file, with its id from its place below `folder` (its own folder where None).

    Without `applies` a policy in a subfolder is for the environment of that
    name. Raises DataError with file, line, what is wrong and the nearest
    valid name.
    """
    return parse_policy(read_text(path), path, folder)


def parse_policy(text: str, path: Path, folder: Path | None = None) -> Policy:
    """Read a policy from a text, as if it stood in the file at `path`; raises as `read_policy` does."""
    front, body, body_line = split_front_matter(path, text)
    head = front.validated(PolicyHead)
    _refuse(path, _head_problems(head, front))
    before, found = sections(body, body_line)
    _refuse(path, _body_problems(before, found, body, body_line))
    below = path.relative_to(folder).parent.parts if folder is not None else ()
    name = head.name or path.stem
    applies = head.applies
    if "applies" not in head.model_fields_set and below:
        applies = Applies(environments=(below[0],))
    policy = Policy(
        **{**dict(head), "name": name, "applies": applies},
        id="/".join((*below, name)),
        instruction=found[0].text,
        examples=tuple(_example(part, path) for section in found[1:] for part in section.parts),
        text=text,
        path=path,
    )
    _refuse(path, _example_problems(policy))
    return policy


def _refuse(path: Path, problems: Iterable[tuple[int, str]]) -> None:
    if found := tuple(islice(problems, MOST_TOLD)):
        error = DataError(f"{path}, line {found[0][0]}: {found[0][1]}")
        error.problems = found
        raise error


def _head_problems(head: PolicyHead, front: UserFile) -> Iterator[tuple[int, str]]:
    name = head.name or front.path.stem
    where = front.line(("name",)) or 1
    if not re.fullmatch(_WORDS, name):
        yield (
            where,
            f'"{name}" is not a valid policy name: use lowercase letters and digits, with _ between words.',
        )
    if name in ACTIONS:
        yield where, f'"{name}" is the name of a page action: choose another.'
    for number, kind in enumerate(head.actions or ()):
        if kind not in ACTIONS:
            line = front.line(("actions", number)) or 1
            yield line, f'there is no action "{kind}"; {near(kind, ACTIONS)}'
    seen: set[str] = set()
    for number, parameter in enumerate(head.parameters):
        if parameter.name in seen:
            line = front.line(("parameters", number, "name")) or 1
            yield line, f'there are two parameters "{parameter.name}": rename one of them.'
        seen.add(parameter.name)
    for url in head.applies.urls:
        line = front.line(("applies", "urls")) or 1
        for site in _SITE.findall(url):
            if site not in SITES:
                yield line, f'there is no site "{site}"; {near(site, SITES)}'


def _body_problems(
    before: str, found: tuple[PolicySection, ...], body: str, body_line: int
) -> Iterator[tuple[int, str]]:
    for number, section in enumerate(found):
        if section.title not in SECTIONS:
            yield section.line, f'there is no heading "{section.title}"; {near(section.title, SECTIONS)}'
        if section.title in [other.title for other in found[:number]]:
            yield section.line, f'there are two headings "{section.title}": merge them.'
    if not found or found[0].title != "Instruction":
        yield body_line, 'the heading "# Instruction" is missing; add it below the front matter.'
    elif before:
        blank = len(body) - len(body.lstrip("\n"))
        yield body_line + blank, 'this text is before "# Instruction"; move it below.'
    elif not found[0].text:
        yield found[0].line, "the instruction is empty; write what the policy has to do."
    elif (problem := condition_problem(found[0].text)) is not None:
        yield found[0].text_line + problem[0] - 1, problem[1]
    for section in found[1:]:
        if section.text and not section.parts:
            yield section.line, 'each example needs its own heading, such as "## A first search".'
        for example in section.parts:
            yield from _example_heading_problems(example)


def _example_heading_problems(example: PolicySection) -> Iterator[tuple[int, str]]:
    for heading in example.parts:
        if heading.title not in EXAMPLE_PARTS:
            sentence = f'there is no heading "{heading.title}"; {near(heading.title, EXAMPLE_PARTS)}'
            yield heading.line, sentence
    for wanted in ("Observation", "Reply"):
        part = example.part(wanted)
        if part is None:
            yield example.line, f'the heading "### {wanted}" is missing in the example "{example.title}".'
        elif not part.text.strip():
            yield part.line, f"the {wanted.lower()} of this example is empty."


def _example(section: PolicySection, path: Path) -> PolicyExample:
    reply = section.part("Reply")
    assert reply is not None
    place = f"{path}, line {reply.text_line}"
    written = read_lines(LLMReply(text=reply.text))
    if written.problem:
        raise DataError(f"{place}: {written.problem}")
    if len(written.actions) != 1:
        raise DataError(f"{place}: an example shows one action, not {len(written.actions)}.")
    if not written.thought:
        raise DataError(f"{place}: the reply has no REASON line; give the reason as the policy should.")
    try:
        call = read_call(str(written.actions[0]))
    except ActionSyntaxError as error:
        raise DataError(f"{place}: {error}") from error
    # Of two parts of one title the first counts.
    texts: dict[str, Any] = {part.title.lower(): part.text for part in reversed(section.parts)}
    del texts["reply"]
    return PolicyExample(title=section.title, line=section.line, thought=written.thought, call=call, **texts)


def _example_problems(policy: Policy) -> Iterator[tuple[int, str]]:
    """Tell what an example does that its policy may not do, or on what its page does not show."""
    for example in policy.examples:
        call = example.call
        where = f'the example "{example.title}"'
        if call.does == "call":
            if policy.policies is not None and call.name not in [
                one.rpartition("/")[2] for one in policy.policies
            ]:
                known = (*(policy.actions if policy.actions is not None else ACTIONS), *policy.policies)
                yield (
                    example.line,
                    f'{where} calls "{call.name}", which is not among its policies; {near(call.name, known)}',
                )
            continue
        if not policy.allows(call.name):
            listed = (*(policy.actions or ()), *ALWAYS)
            yield (
                example.line,
                f'{where} uses "{call.name}", which is not among its actions; {near(call.name, listed)}',
            )
        if call.does != "act":
            continue
        shown = {int(number) for number in _REF.findall(example.observation)}
        for target in parse_action(str(call)).targets:
            if isinstance(target, RefTarget) and target.ref not in shown:
                yield example.line, f"{where} acts on [{target.ref}], which its observation does not show."
