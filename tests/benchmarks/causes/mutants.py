"""Faults planted in the files of an agent: each operator changes one thing, and knows its file and line."""

import json
import random
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, NamedTuple

from core.settings.toml_layout import Location, TextLayout

Obeys = Literal["rules", "obedient"]
"""Which LLM is asked: the rules LLM, or the one that only knows what its prompt shows."""
Place = tuple[str, int]
"""A file by its name, such as ``state_spaces/shop.toml``, and a line, from 1."""
Fault = tuple[int, str, str]
"""Line, text of the file with the fault, and what was changed."""
Plant = Callable[[str], Iterator[Fault]]
"""Yields the faults that can be planted in a text, each alone."""


class Operator(NamedTuple):
    """A way to plant a fault."""

    name: str
    folder: str
    """The folder of the files it is for."""
    llm: Obeys
    plant: Plant


class Mutant(NamedTuple):
    """Files with one fault, or with two."""

    operator: str
    llm: Obeys
    places: tuple[Place, ...]
    texts: dict[str, str]
    """The texts of the files that have the faults, by their names."""
    words: str
    """What was changed."""


OPERATORS: dict[str, Operator] = {}
"""All but `two_at_once`, by name."""


def operator(folder: str, llm: Obeys = "rules") -> Callable[[Plant], Plant]:
    def add(plant: Plant) -> Plant:
        name = plant.__name__.replace("_", " ")
        OPERATORS[name] = Operator(name, folder, llm, plant)
        return plant

    return add


def mutants(file: str, text: str) -> Iterator[Mutant]:
    """Yield a file with each fault that can be planted in it."""
    for way in OPERATORS.values():
        if file.startswith(f"{way.folder}/"):
            for line, changed, words in way.plant(text):
                if changed != text:
                    yield Mutant(way.name, way.llm, ((file, line),), {file: changed}, words)


def two_at_once(singles: Sequence[Mutant], most: int) -> Iterator[Mutant]:
    """Yield pairs of faults of different operators in different files; naming either is right."""
    pairs = [
        (one, other)
        for place, one in enumerate(singles)
        for other in singles[place + 1 :]
        if one.operator != other.operator and one.llm == other.llm and not set(one.texts) & set(other.texts)
    ]
    random.Random(0).shuffle(pairs)
    for one, other in pairs[:most]:
        yield Mutant(
            "two at once",
            one.llm,
            (*one.places, *other.places),
            {**one.texts, **other.texts},
            f"{one.operator}: {one.words}; {other.operator}: {other.words}",
        )


def _line(text: str, offset: int) -> int:
    return text.count("\n", 0, offset) + 1


def _put(text: str, start: int, end: int, put: str, words: str) -> Fault:
    return _line(text, start), text[:start] + put + text[end:], words


def _values(text: str, fits: Callable[[Location], bool]) -> Iterator[tuple[Location, int, int]]:
    for location, span in TextLayout(text).values.items():
        if fits(location):
            yield location, span.start, span.end


def _item_end(text: str, end: int) -> int:
    """Return where the item of a list ends with its comma."""
    rest = text[end:]
    gap = len(rest) - len(rest.lstrip(", \t\r\n")) if rest.lstrip().startswith(",") else 0
    return end + gap


def _is_rule(location: Location) -> bool:
    return len(location) == 4 and location[0] == "state" and location[2] == "must" and location[3] != ""


def _is_list(location: Location, key: str) -> bool:
    return len(location) == 3 and location[0] == "state" and location[2] == key


def _is_part(location: Location) -> bool:
    return len(location) == 6 and location[2] == "action" and location[4] == "does"


# State spaces


@operator("state_spaces")
def rule_tightened(text: str) -> Iterator[Fault]:
    """A pattern of `must` names what the page does not have."""
    for _, start, end in _values(text, _is_rule):
        old = text[start:end]
        new = re.sub(r'"(\^?)(\w+)', r'"\1Former \2', old, count=1)
        yield _put(text, start, end, new, f"{old} became {new}")


@operator("state_spaces")
def rule_added(text: str) -> Iterator[Fault]:
    """`must` asks for one more element, which no page has."""
    for location, start, end in _values(text, lambda one: _is_list(one, "must")):
        if text[start] == "[":
            put = f"""{text[start : end - 1]}, 'button "Sponsored"']"""
            yield _put(text, start, end, put, f"state {location[1]} also asks for a button")


@operator("state_spaces")
def rule_forbids(text: str) -> Iterator[Fault]:
    """`must_not` names what the page has: the first rule of `must`."""
    for location, start, end in _values(text, lambda one: _is_list(one, "must")):
        first = re.search(r"'[^']*'|\"[^\"]*\"", text[start:end])
        if first:
            line_end = text.find("\n", end)
            put = f"{text[start:line_end]}\nmust_not = ['link']"
            line, changed, words = _put(text, start, line_end, put, f"state {location[1]} forbids links")
            yield line + text.count("\n", start, line_end) + 1, changed, words


@operator("state_spaces")
def rule_loosened(text: str) -> Iterator[Fault]:
    """`must` asks only for what every page has."""
    for location, start, end in _values(text, lambda one: _is_list(one, "must")):
        if text[start] == "[":
            yield _put(text, start, end, "['link']", f"state {location[1]} fits any page with a link")


@operator("state_spaces")
def rule_removed(text: str) -> Iterator[Fault]:
    """`must` lacks one of its patterns."""
    for location, start, end in _values(text, _is_rule):
        yield _put(
            text, start, _item_end(text, end), "", f"rule {location[3]} of state {location[1]} removed"
        )


@operator("state_spaces")
def url_changed(text: str) -> Iterator[Fault]:
    """A state is looked for at another address."""
    for location, start, end in _values(text, lambda one: _is_list(one, "url")):
        yield _put(text, start, end, "'/former/'", f"the address of state {location[1]} is another one")


@operator("state_spaces")
def state_removed(text: str) -> Iterator[Fault]:
    """The space lacks a state, or what leads to it would not be valid: it is called by another name."""
    for match in re.finditer(r'^\[\[state\]\]\nname = "(\w+)"', text, re.MULTILINE):
        if f'"{match[1]}"' in text[: match.start()] + text[match.end() :]:
            continue
        following = re.search(r"^\[\[state\]\]", text[match.end() :], re.MULTILINE)
        end = match.end() + following.start() if following else len(text)
        yield _put(text, match.start(), end, "", f"state {match[1]} removed")


@operator("state_spaces")
def action_removed(text: str) -> Iterator[Fault]:
    """A state lacks one of its actions."""
    for start, end, name in _actions(text):
        yield _put(text, start, end, "", f"action {name} removed")


def _actions(text: str) -> Iterator[tuple[int, int, str]]:
    blocks = TextLayout(text).blocks
    for block in blocks:
        if block.kind == "state.action":
            end = block.end
            for one in (one for one in blocks if one.start >= block.end):
                if one.kind != "state.action.parameter":
                    break
                end = one.end
            name = re.search(r'name = "(\w+)"', text[block.start : end])
            yield block.start, end, name[1] if name else ""


@operator("state_spaces")
def action_swapped(text: str) -> Iterator[Fault]:
    """An action does what the one after it does."""
    does = list(_values(text, lambda one: len(one) == 5 and one[2] == "action" and one[4] == "does"))
    for (location, start, end), (_, first, last) in zip(does, [*does[1:], *does[:1]], strict=True):
        put = text[first:last]
        if put != text[start:end] and "{" not in put:
            yield _put(text, start, end, put, f"action {location[3]} of state {location[1]} does {put[:60]}")


@operator("state_spaces")
def part_removed(text: str) -> Iterator[Fault]:
    """A macro lacks one of its page actions."""
    for location, start, end in _values(text, _is_part):
        if sum(one[:-1] == location[:-1] for one in TextLayout(text).values) > 1:
            yield _put(text, start, _item_end(text, end), "", f"part {location[-1]} of a macro removed")


@operator("state_spaces")
def part_changed(text: str) -> Iterator[Fault]:
    """A page action of a macro acts on what the page does not have."""
    for _, start, end in _values(text, _is_part):
        old = text[start:end]
        new = re.sub(r'(button|link|textbox|searchbox|combobox|radio) "(\w+)', r'\1 "Old \2', old, count=1)
        yield _put(text, start, end, new, f"{old} became {new}")


@operator("state_spaces")
def value_swapped(text: str) -> Iterator[Fault]:
    """A page action of a macro types another argument than it should."""
    for _, start, end in _values(text, _is_part):
        old = text[start:end]
        new = re.sub(r"\[\{(?!choice)\w+\}\]", "[none]", old, count=1)
        yield _put(text, start, end, new, f"{old} became {new}")


@operator("state_spaces")
def needs_added(text: str) -> Iterator[Fault]:
    """An action is offered only where the page has what it never has."""
    for _, start, end in _values(text, lambda one: len(one) == 5 and one[2] == "action" and one[4] == "does"):
        head = text.rfind("\n", 0, start) + 1
        if "needs =" not in text[max(0, head - 300) : end + 200]:
            put = """needs = ['button "Sponsored"']\n"""
            yield _put(text, head, head, put, "an action needs a button that is not there")


@operator("state_spaces")
def values_lost(text: str) -> Iterator[Fault]:
    """The values of an argument are looked for in elements that the page does not have."""
    keys = ("from_page", "option_groups")
    for location, start, end in _values(text, lambda one: any(key in one for key in keys)):
        new = re.sub(
            r"'(listitem|radio|button|option|link|row|group)\b", "'article", text[start:end], count=1
        )
        if location[-1] in ("element", "group", "within"):
            yield _put(text, start, end, new, f"{location[-1]} became {new[:60]}")


@operator("state_spaces")
def leads_to_changed(text: str) -> Iterator[Fault]:
    """An action is said to lead to the first state."""
    names = re.findall(r'^\[\[state\]\]\nname = "(\w+)"', text, re.MULTILINE)
    for _, start, end in _values(text, lambda one: one[-1] == "leads_to"):
        yield _put(text, start, end, f'["{names[0]}"]', f"leads_to became {names[0]}")


@operator("state_spaces")
def gate_added(text: str) -> Iterator[Fault]:
    """An action stops at a gate."""
    for _, start, end in _values(text, lambda one: len(one) == 5 and one[2] == "action" and one[4] == "does"):
        head = text.rfind("\n", 0, start) + 1
        if "cannot_be_undone" not in text[max(0, head - 200) : end + 200]:
            yield _put(text, head, head, "cannot_be_undone = true\n", "an action has a gate")


@operator("state_spaces")
def limit_lowered(text: str) -> Iterator[Fault]:
    """A limit of the space is too low."""
    yield from _lowered(text)


@operator("presets")
def number_lowered(text: str) -> Iterator[Fault]:
    """A limit of the preset is too low."""
    yield from _lowered(text)


def _lowered(text: str) -> Iterator[Fault]:
    keys = (
        "transitions",
        "choose_at",
        "depth",
        "calls",
        "keep",
        "actions",
        "history",
        "count",
        "trials",
        "tokens",
    )
    for location, start, end in _values(text, lambda one: one[-1] in keys and "sampling" not in one):
        if text[start:end].isdigit() and int(text[start:end]) > 2:
            yield _put(text, start, end, "1", f"{location[-1]} became 1")


# Presets


@operator("presets", "obedient")
def template_swapped(text: str) -> Iterator[Fault]:
    """A preset uses another template of its prompts."""
    files = list(_values(text, lambda one: one[0] == "prompts" and len(one) == 2))
    for (location, start, end), (_, first, last) in zip(files, [*files[1:], *files[:1]], strict=True):
        yield _put(text, start, end, text[first:last], f"{location[1]} became {text[first:last]}")


@operator("presets")
def space_swapped(text: str) -> Iterator[Fault]:
    """A preset uses the state space of another site, or none."""
    for _, start, end in _values(text, lambda one: one == ("space",)):
        for put in ('"webshop"', '"none"', '"shop"', '"airline"'):
            yield _put(text, start, end, put, f"space became {put}")


@operator("presets")
def actions_narrowed(text: str) -> Iterator[Fault]:
    """A preset offers only some of the actions of any page."""
    head = text.find("\n", text.find("\nspace = ") + 1) + 1
    for name in ("click", "type", "check", "select", "press"):
        rest = [
            one
            for one in ("click", "type", "check", "select", "press", "scroll", "wait", "stop")
            if one != name
        ]
        yield _put(text, head, head, f"actions = {json.dumps(rest)}\n", f"{name} is not offered")


@operator("presets")
def abstraction_cut(text: str) -> Iterator[Fault]:
    """A preset keeps too few elements of a page."""
    match = re.search(r"^\[abstraction\]\n", text, re.MULTILINE)
    if match is None:
        yield (
            len(text.splitlines()) + 3,
            f'{text}\n[abstraction]\nhow = "ranked"\nkeep = 2\n',
            "two elements are kept",
        )
        return
    how = re.search(r"^how = .*$", text, re.MULTILINE)
    if how is not None:
        yield _put(text, how.start(), how.end(), 'how = "ranked"\nkeep = 2', "two elements are kept")


# Policies


def _list_of(text: str, key: str) -> tuple[re.Match[str] | None, list[str]]:
    match = re.search(rf"^{key} = \[(.+)\]", text, re.MULTILINE)
    return match, re.findall(r'"(\w+)"', match[1]) if match else []


@operator("policies")
def policy_call_removed(text: str) -> Iterator[Fault]:
    """A policy may not call one of those that it needs."""
    yield from _shortened(text, "policies", "callable")


@operator("policies")
def permission_removed(text: str) -> Iterator[Fault]:
    """A policy may not use one of the actions that it needs."""
    yield from _shortened(text, "actions", "permitted")


def _shortened(text: str, key: str, what: str) -> Iterator[Fault]:
    match, names = _list_of(text, key)
    for name in names:
        assert match is not None
        rest = json.dumps([one for one in names if one != name])
        yield _put(text, match.start(), match.end(), f"{key} = {rest}", f"{name} is not {what}")


@operator("policies")
def permission_added(text: str) -> Iterator[Fault]:
    """A policy that may use all actions may only look."""
    head = re.search(r"^description = .*\n", text)
    head = head or re.search(r"^description = .*\n", text, re.MULTILINE)
    if head is not None and _list_of(text, "actions")[0] is None:
        for names in (["scroll", "wait"], ["click", "scroll"], ["type", "scroll"]):
            yield _put(
                text,
                head.end(),
                head.end(),
                f"actions = {json.dumps(names)}\n",
                f"only {names} are permitted",
            )


@operator("policies")
def policy_elsewhere(text: str) -> Iterator[Fault]:
    """A policy is for another site."""
    match = re.search(r"^environments = .*$", text, re.MULTILINE)
    if match is not None:
        yield _put(text, match.start(), match.end(), 'environments = ["webarena"]', "it is for another site")


@operator("policies")
def argument_renamed(text: str) -> Iterator[Fault]:
    """An argument of a policy has a name that says nothing."""
    for match in re.finditer(r'^\[\[parameters\]\]\nname = "(\w+)"$', text, re.MULTILINE):
        start = match.start(1)
        yield _put(text, start, match.end(1), f"former_{match[1]}", f"{match[1]} has another name")


def _instruction(text: str) -> tuple[int, int]:
    head = re.search(r"^# Instruction\s*$", text, re.MULTILINE)
    if head is None:
        return 0, 0
    end = text.find("\n# ", head.end())
    return head.end(), end if end > 0 else len(text)


def _instruction_lines(text: str) -> Iterator[re.Match[str]]:
    start, end = _instruction(text)
    yield from re.compile(r"^ *(?:\d+\.|[a-z]\.|-) .+\n", re.MULTILINE).finditer(text, start, end)


@operator("policies", "obedient")
def instruction_removed(text: str) -> Iterator[Fault]:
    """An instruction lacks one of its lines."""
    for line in _instruction_lines(text):
        yield _put(text, line.start(), line.end(), "", f"removed: {line[0].strip()[:60]}")


@operator("policies", "obedient")
def instruction_swapped(text: str) -> Iterator[Fault]:
    """A line of an instruction names another policy or button."""
    for line in _instruction_lines(text):
        for match in re.finditer(
            r"`(\w+)`|(?<=[Pp]ress )[A-Z]\w+(?: \w+)?|(?<=button )[A-Z]\w+(?: \w+)?", line[0]
        ):
            start, end = line.start() + match.start(), line.start() + match.end()
            put = "`former_policy`" if match[1] else "the other button"
            yield _put(text, start, end, put, f"{match[0]} became {put}")


@operator("policies", "obedient")
def example_removed(text: str) -> Iterator[Fault]:
    """A policy lacks one of its examples."""
    for start, end in _examples(text):
        yield _put(text, start, end, "", f"removed: {text[start:end].splitlines()[0]}")


@operator("policies", "obedient")
def example_swapped(text: str) -> Iterator[Fault]:
    """An example replies with an end of the policy."""
    for start, end in _examples(text):
        match = re.compile(r"^ACTION: .*$", re.MULTILINE).search(text, start, end)
        if match is not None:
            yield _put(text, match.start(), match.end(), "ACTION: stop []", f"{match[0]} became a stop")


def _examples(text: str) -> Iterator[tuple[int, int]]:
    heads = [match.start() for match in re.finditer(r"^## ", text, re.MULTILINE)]
    yield from zip(heads, [*heads[1:], len(text)], strict=True)


# Prompts


_TELLS = re.compile(
    r"page\.text|before\.text|\b(?:objective|task|action|instruction|permissible|frame|history|plan|policy|subtask"
    r"|exemplar|changed|several|decided|stops|first|turn|reply|question|purpose)"
)
"""What a prompt puts in, or depends on, that is there in most runs."""
_ASKS = re.compile(r"YES|NO\b|DONE|REASON|ACTION|JSON|numbered list|[Rr]eply|Answer|Call")
"""Words of a sentence that says in which form to answer."""


def _whole_lines(text: str, fits: Callable[[str], bool]) -> Iterator[re.Match[str]]:
    """Yield the lines that can go without leaving half of a tag that has an end."""
    for line in re.finditer(r"^.+$", text, re.MULTILINE):
        opens, ends = (
            len(re.findall(rf"\{{%-? {tag}", line[0])) for tag in ("(?:if|for|with|macro) ", "end")
        )
        if opens == ends and "{% el" not in line[0] and fits(line[0]):
            yield line


@operator("prompts", "obedient")
def block_removed(text: str) -> Iterator[Fault]:
    """A prompt lacks what one of its lines puts in."""
    for line in _whole_lines(text, lambda one: bool(re.search(r"\{\{|include", one) and _TELLS.search(one))):
        yield _put(text, line.start(), line.end(), "", f"removed: {line[0].strip()[:60]}")


@operator("prompts", "obedient")
def block_cut(text: str) -> Iterator[Fault]:
    """A prompt shows only the beginning of a value."""
    for match in re.finditer(r"\{\{ ([\w.]+) \}\}", text):
        if _TELLS.search(match[1]):
            put = f"{{{{ ({match[1]} | string)[:12] }}}}"
            yield _put(text, match.start(), match.end(), put, f"{match[1]} is cut")


@operator("prompts", "obedient")
def block_swapped(text: str) -> Iterator[Fault]:
    """A prompt shows another value in place of one."""
    for match in re.finditer(r"\{\{ ([\w.]+)\b.*?\}\}", text):
        if _TELLS.search(match[1]):
            put = "{{ page.title }}"
            yield _put(text, match.start(), match.end(), put, f"{match[0]} became {put}")


@operator("prompts", "obedient")
def condition_inverted(text: str) -> Iterator[Fault]:
    """A part of a prompt is there only where it should not be."""
    for match in re.finditer(r"\{%(-?) if ([^%]+?) (-?)%\}", text):
        if _TELLS.search(match[2]):
            put = f"{{%{match[1]} if not ({match[2]}) {match[3]}%}}"
            yield _put(text, match.start(), match.end(), put, f"if not ({match[2][:50]})")


@operator("prompts", "obedient")
def question_removed(text: str) -> Iterator[Fault]:
    """A prompt lacks a sentence that says how to answer."""
    for line in _whole_lines(text, lambda one: bool(re.match(r"[A-Z-]", one) and _ASKS.search(one))):
        yield _put(text, line.start(), line.end(), "", f"removed: {line[0][:60]}")


# Exemplars: one in each line of a file


def _all_changed(
    text: str, change: Callable[[dict[str, Any]], dict[str, Any]], words: str
) -> Iterator[Fault]:
    """Yield the file with each of its exemplars changed: a prompt shows several of a family."""
    made = [json.dumps({**one, **change(one)}) for one in map(json.loads, text.splitlines())]
    yield 1, "\n".join(made) + "\n", words


@operator("exemplars")
def parser_loses(text: str) -> Iterator[Fault]:
    """The programs of a family lose elements: they give the beginning of what they find."""

    def cut(exemplar: dict[str, Any]) -> dict[str, Any]:
        return {
            "parser": re.sub(
                r"return (.+)$", r"return (\1)[:30]", exemplar.get("parser") or "", flags=re.MULTILINE
            )
        }

    yield from _all_changed(text, cut, "the programs give 30 characters of a page")


@operator("exemplars")
def parser_reads_text(text: str) -> Iterator[Fault]:
    """The programs of a family find nothing but text."""
    program = 'def parse(html):\n    return "[1] text \\"page\\""\n'
    yield from _all_changed(
        text,
        lambda one: {"abstraction": [], "parser": one.get("parser") and program},
        "the programs give one text",
    )


@operator("exemplars")
def contrast_wrong(text: str) -> Iterator[Fault]:
    """The exemplars of a family tell their first action to be wrong, and a stop to be right."""

    def contrast(exemplar: dict[str, Any]) -> dict[str, Any]:
        step = exemplar["steps"][0]
        told = {"observation": step["observation"], "tried": step["actions"][0], "right": "stop []"}
        return {"contrasts": [told]}

    yield from _all_changed(text, contrast, "the first action is told to be wrong")


@operator("exemplars", "obedient")
def exemplar_removed(text: str) -> Iterator[Fault]:
    """The exemplars of a family are retired."""
    yield from _all_changed(text, lambda one: {"review": {"status": "retired"}}, "the family is retired")


@operator("exemplars", "obedient")
def exemplar_of_another_family(text: str) -> Iterator[Fault]:
    """The exemplars of a family show another task."""
    for task, line, action in (
        ('Click on the "Ok" button.', '[2] button "Ok"', "click [2]"),
        ("Wait until the page is ready.", '[2] status "Loading"', "wait [1]"),
    ):
        steps = [{"observation": line, "thought": "It is asked for.", "actions": [action]}]
        other = {"task": task, "steps": steps, "parser": "", "abstraction": [], "contrasts": []}

        def change(one: dict[str, Any], other: dict[str, Any] = other) -> dict[str, Any]:
            # It is looked up as before.
            return {
                **other,
                "metadata": one.get("metadata") or f"{one['task']}\n{one['steps'][0]['observation']}",
            }

        yield from _all_changed(text, change, f"the family shows: {task}")
