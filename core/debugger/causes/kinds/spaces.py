"""Causes in a state space: its rules, its actions, and what these do."""

import json
import re
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from typing import Any

from core.agent.spaces.file import SpaceAction, SpaceState
from core.agent.spaces.recognition import missing_for
from core.debugger.causes.facts import FailureFacts, RunFacts
from core.debugger.causes.kinds.kind import CauseKind, patch_of, told
from core.debugger.causes.kinds.policies import line_of_key, with_listed
from core.debugger.causes.records import Cause, Evidence, Patch
from core.debugger.compare.views import comparable
from core.schema.action import Named
from core.schema.action_space import PermissibleAction
from core.schema.action_text import parse_action
from core.schema.errors import ActionSyntaxError
from core.schema.observation import Observation
from core.schema.step import Acted, Committed, Fit, Primitive, Recognised
from core.settings.toml_layout import Location, layout
from core.trace.records import StepRow

_ELEMENT = re.compile(r'(?P<role>\w+) "(?P<name>[^"]+)"')
"""An element as a page action names it."""
_PLAIN = re.compile(r"[\w .,:;!?&()/+-]+")
"""A name that can stand in a file as it is."""
_GENERAL = "page"
"""The state of a page that no state of a space fits."""


def _known_state(facts: FailureFacts, page: Observation | None) -> str:
    """Return the state that a success recognised the page of this address as, where it is the only one."""
    if facts.success is None or page is None:
        return ""
    states = set()
    for step in facts.success.steps:
        other = facts.success.page(step.number)
        if other is not None and _path(other.url) == _path(page.url):
            states.add(facts.success.state_of(step.number))
    states -= {"", _GENERAL}  # There it was not recognised either.
    return states.pop() if len(states) == 1 else ""


def _path(url: str) -> str:
    """Return the path of an address, without what is another one at each visit."""
    rest = url.partition("://")[2] or url
    return "/" + rest.partition("/")[2].partition("?")[0].partition("#")[0]


def _rule(state: SpaceState, fit: Fit) -> Location:
    """Return the key and position of the first rule of a state that did not fit."""
    for key in ("must", "must_not"):
        for at, pattern in enumerate(getattr(state, key)):
            if pattern in fit.missed:
                return (key, at)
    return ("url",) if state.url and "URL" in fit.missed else ()


def _without_rule(facts: FailureFacts, location: Location) -> Patch | None:
    """Return the change that takes one rule out of a list."""
    if facts.space is None or len(location) < 4 or not isinstance(location[-1], int):
        return None
    text, spans = facts.space.text, layout(facts.space.text).values
    if location not in spans or location[:-1] not in spans:
        return None
    (start, end), around = spans[location], spans[location[:-1]]
    rest = text[end : around.end]
    gap = len(rest) - len(rest.lstrip(", \t\r\n")) if rest.lstrip().startswith(",") else 0
    before = text[around.start : start]
    before = before if gap else before.rstrip(", \t\r\n")  # It was the last of the list.
    return patch_of(facts.space_file, text, *around, before + text[end + gap : around.end])


def _without_line(facts: FailureFacts, location: Location) -> Patch | None:
    """Return the change that takes out a key with its value."""
    if facts.space is None or (span := layout(facts.space.text).values.get(location)) is None:
        return None
    text = facts.space.text
    start, end = text.rfind("\n", 0, span.start) + 1, text.find("\n", span.end) + 1
    if not re.match(rf"\s*{location[-1]}\s*=", text[start : span.start]):
        return None  # It shares its line with other values.
    return patch_of(facts.space_file, text, start, end or len(text), "")


def _with_nearest(facts: FailureFacts, step: StepRow, action: Location, failed: Primitive) -> Patch | None:
    """Return the change that names the element of the page whose name is nearest to one that it does not have."""
    named = _ELEMENT.search(str(failed.action))
    if facts.space is None or named is None:
        return None
    pages = filter(None, (facts.page(number) for number in (step.number, step.number + 1)))
    # A name is of the page, and must not become anything but a name in the file.
    names = (element.name for page in pages for element in page.elements if element.role == named["role"])
    there = [name for name in names if _PLAIN.fullmatch(name)]
    close = get_close_matches(named["name"], there, n=1)
    spans = layout(facts.space.text).values
    parts = (span for place, span in spans.items() if place[:-1] == (*action, "does"))
    for start, end in parts:
        old = facts.space.text[start:end]
        if close and close[0] != named["name"] and named[0] in old:
            new = old.replace(named[0], f'{named["role"]} "{close[0]}"')
            return patch_of(facts.space_file, facts.space.text, start, end, new)
    return None


class StateNotRecognised(CauseKind):
    """No state fits a page: a rule of the one that was meant is too strict, or the state is missing."""

    name = "state-not-recognised"
    weight = 0.9

    def find(self, facts: FailureFacts) -> Iterator[Cause]:
        for step in facts.steps:
            recognised = facts.part(step.number, Recognised)
            if recognised is None or not recognised.fits or any(fit.fits for fit in recognised.fits):
                continue
            yield self._cause(facts, step, recognised)
            return

    def _cause(self, facts: FailureFacts, step: StepRow, recognised: Recognised) -> Cause:
        page = facts.page(step.number)
        known = _known_state(facts, page)
        nearest = max(recognised.fits, key=lambda fit: (fit.state == known, len(fit.matched)))
        place = facts.state(nearest.state)
        rule = _rule(place[1], nearest) if place is not None else ()
        is_known = bool(known) and nearest.state == known
        return _misread(
            facts,
            step,
            f"No state fits the page; {nearest.state} misses it: {nearest.missed}.",
            "; ".join(f"{fit.state}: {fit.missed}" for fit in recognised.fits),
            known,
            ("state", place[0], *rule) if place is not None else ("state",),
            certainty="sure" if is_known and facts.is_first(step.number, "state") else "likely",
            why="" if is_known else "The nearest state is the one of which most rules fit.",
        )


def _misread(
    facts: FailureFacts, step: StepRow, what: str, seen: str, known: str, location: Location, **more: Any
) -> Cause:
    """Return the cause that a page was not taken for the state that it is; `known` is that of the success."""
    page, by = (
        facts.page(step.number),
        facts.by_success(f"recognised such a page as {known}") if known else (),
    )
    return told(
        step.number,
        what,
        Evidence(
            step=step.number, part="page", text=f"{page.title} ({page.url})" if page is not None else ""
        ),
        Evidence(step=step.number, part="state", text=seen),
        *by,
        at=(facts.space_file, facts.line_in_space(*location)),
        patch=_without_rule(facts, location),
        **{**more, "why": more.get("why") or f"Run {by[0].run} succeeded with such a page as {known}."},
    )


class WrongState(CauseKind):
    """A page is recognised as another state than in a success: a rule is too loose, or too strict."""

    name = "wrong-state"
    weight = 0.85

    def find(self, facts: FailureFacts) -> Iterator[Cause]:
        if facts.space is None:
            return
        if (other := _other_space(facts)) is not None:
            yield other
            return
        for step in facts.steps:
            recognised, page = facts.part(step.number, Recognised), facts.page(step.number)
            if recognised is None or page is None or not any(fit.fits for fit in recognised.fits):
                continue
            meant = _known_state(facts, page)
            if not meant or meant == recognised.state:
                continue
            fit = next((fit for fit in recognised.fits if fit.state == meant), None)
            is_loose = fit is not None and fit.fits
            place = facts.state(recognised.state if is_loose or fit is None else meant)
            rule: Location = _rule(place[1], fit) if place and fit is not None and not is_loose else ()
            why = f"; {recognised.state} fits it as well and comes first" if is_loose else ""
            why = f"; the state space has no state {meant}" if fit is None else why or f": {fit.missed}"
            is_same = facts.is_first(step.number, "state")
            yield _misread(
                facts,
                step,
                f"The page was taken for {recognised.state}, and is {meant}{why}.",
                recognised.why,
                meant,
                ("state", place[0], *(rule or ("must",))) if place is not None else ("state",),
                certainty="sure" if is_same else "likely",
                weight=0.0 if is_same else 0.3,
            )
            return


def _other_space(facts: FailureFacts) -> Cause | None:
    """Return the cause that a run used another state space than the success; None if it did not."""
    spaces = []
    for run in (facts, facts.success):
        parts = [run.part(step.number, Recognised) for step in run.steps] if run is not None else []
        spaces.append(next(((part.space, part) for part in parts if part and part.diagram), None))
    mine, theirs = spaces
    if mine is None or theirs is None or mine[0] == theirs[0]:
        return None
    step = next(one for one in facts.steps if facts.part(one.number, Recognised) is mine[1])
    key = next((key for key in ("environments", "url") if facts.line_in_space(key)), "")
    return told(
        step.number,
        f"The state space is {mine[0]}; in the success it is {theirs[0]}.",
        Evidence(step=step.number, part="state", text=f"{mine[0]}: {mine[1].why}"),
        *facts.by_success(f"used {theirs[0]}"),
        at=(facts.space_file, facts.line_in_space(key) if key else 1),
        certainty="sure" if facts.is_same_seed else "likely",
        weight=0.97,
        why="Of the spaces that fit a task, the first is used, unless the preset names one.",
    )


class StateStopped(CauseKind):
    """A state that ends runs ended this one."""

    name = "state-stops"
    weight = 0.85

    def find(self, facts: FailureFacts) -> Iterator[Cause]:
        step = facts.steps[-1] if facts.steps else None
        committed = facts.part(step.number, Committed) if step is not None else None
        place = facts.state(committed.stops) if committed is not None and committed.stops else None
        if step is None or place is None:
            return
        at, state = place
        success = facts.success
        if success is None or not any(success.state_of(one.number) == state.name for one in success.steps):
            return  # A success ended so as well, or none is known: most runs end in such a state.
        location = ("state", at, "stops")
        yield told(
            step.number,
            f"The run ended when it came to {state.name}, which stops runs.",
            Evidence(step=step.number, part="state", text=state.name),
            *facts.by_success(f"went on from {state.name}"),
            at=(facts.space_file, facts.line_in_space(*location)),
            certainty="sure",
            patch=_without_line(facts, location),
            why="The success went on from there.",
        )


class ActionNotThere(CauseKind):
    """A success took an action that was not permissible here."""

    name = "action-not-permissible"
    weight = 0.8

    def find(self, facts: FailureFacts) -> Iterator[Cause]:
        step, instead, success = facts.at, facts.instead, facts.success
        if facts.differs is not None and facts.differs[2] == "offered":
            step, instead = facts.differs[0].number, facts.differs[1]
        recognised = facts.part(step, Recognised) if step else None
        other = (
            success.part(instead.number, Recognised) if success is not None and instead is not None else None
        )
        if recognised is None or instead is None or success is None or other is None:
            return
        name = instead.action.partition(" ")[0]
        there = [one.name for one in other.permissible.actions]
        less = [one for one in there if recognised.permissible.action(one) is None]
        if facts.is_first(step, "offered") and less and name not in less:
            name = less[0]
        offered = recognised.permissible.action(name) if name else None
        if any(one.name == name and one.origin == "policy" for one in other.permissible.actions):
            return
        action = success.action(instead.number)
        parameter, gone = _lost(offered, other.permissible.action(name))
        if not gone and not less and facts.is_first(step, "offered"):
            for one in other.permissible.actions:  # Those of another action than the success took.
                parameter, gone = _lost(recognised.permissible.action(one.name), one)
                if gone:
                    name, offered = one.name, recognised.permissible.action(one.name)
                    break
        here = (recognised.state, recognised.budget_note, recognised.over)
        taken = name == instead.action.partition(" ")[0]
        # At another seed, other values are asked for.
        is_named = offered is not None and taken and isinstance(action, Named) and facts.is_same_seed
        lost = recognised.permissible.problem(action) if is_named and action is not None else None
        if offered is not None and gone and not lost and facts.is_first(step, "offered"):
            lost = f'{parameter} lacks "{gone[0]}"'
        if not name or (offered and not lost) or (other.state, other.budget_note, other.over) != here:
            return  # At a limit, nothing else is permissible.
        place = facts.space_action(recognised.state, name)
        location = place[0] if place is not None else _where_missing(facts, recognised.state, name, there)
        missing = "is not an action of the state" if place is None else "was not offered on this page"
        page = facts.page(step)
        lacks = (
            missing_for(place[1], page, facts.html(step)) if place is not None and page is not None else ()
        )
        if lost:
            missing = f"was not offered with these values ({lost})"
            location = _where_values(place[1], location, parameter) if place is not None else location
        elif place is not None and lacks:
            location, missing = (*location, *lacks), _lacking(place[1], lacks)
        file, line = (facts.space_file, facts.line_in_space(*location)) if location else ("", 0)
        patch = (
            _without_line(facts, (*place[0], "needs")) if place is not None and lacks == ("needs",) else None
        )
        if facts.frames(step) and place is None:
            name_of_policy = facts.texts.name_of(facts.frames(step)[-1].file)
            file = name_of_policy if name_of_policy in facts.texts.names else ""
            key = line_of_key(facts, file, "actions")
            own = [
                one.name for one in other.permissible.actions if one.name in less and one.origin != "policy"
            ]
            line, patch = key or 1, with_listed(facts, file, key, *own)
            missing = "is not permitted to the policy"
        where = f" in {recognised.state}" if recognised.state else ""
        yield told(
            step,
            f"{name} {missing}{where}; the success {'took' if taken else 'had'} it here.",
            *facts.by_success(f"did {instead.action}", instead.number),
            Evidence(step=step, part="action", text=f"not permissible here: {', '.join(less) or lost}"),
            at=(file, line if file else 0),
            field="" if file else "permissible actions",
            certainty="sure" if facts.is_first(step, "offered") else "likely",
            weight=0.0 if facts.is_first(step, "offered") else 0.4,
            patch=patch,
            why=f"Run {success.row.run} went on from the same page with it, and succeeded."
            if taken and facts.is_first(step, "offered")
            else f"Run {success.row.run} had it in this state, and succeeded.",
        )


def _lacking(action: SpaceAction, key: Location) -> str:
    """Return in words what an action does not find on the page, by the key for which the page has nothing."""
    given = action.parameter[int(key[1])] if len(key) > 1 else None
    source = given.from_page if given is not None else None
    if given is None or key[-1] == "needs" or source is None:
        needs = ", ".join((given or action).needs)
        return f"needs {needs}{f' for {given.name}' if given else ''}, which the page does not show"
    within = f" within {source.within}" if source.within else ""
    return f"takes {given.name} from {source.element or source.css}{within}, and finds none on the page"


def _lost(here: PermissibleAction | None, there: PermissibleAction | None) -> tuple[str, list[str]]:
    """Return the first parameter of an action that lacks values which another step has for it, and these values."""
    for theirs in there.parameters if here is not None and there is not None else ():
        mine = here.parameter(theirs.name) if here is not None else None
        values = {one.value for one in (mine.choices if mine is not None else None) or ()}
        gone = [one.value for one in theirs.choices or () if one.value not in values]
        if gone and theirs.type != "integer":
            return theirs.name, gone
    return "", []


def _where_values(action: SpaceAction, location: Location, name: str) -> Location:
    """Return where an action takes the values of an argument from; of the first that has any, where it has no such."""
    known = [(at, one) for at, one in enumerate(action.parameter) if one.from_page is not None or one.choices]
    for at, parameter in sorted(known, key=lambda one: one[1].name != name):
        return (*location, "parameter", at, "from_page" if parameter.from_page is not None else "choices")
    return (*location, "option_groups") if action.option_groups is not None else location


def _where_missing(facts: FailureFacts, state: str, name: str, offered: list[str]) -> Location:
    """Return the location that an action had in the file when a success used it: behind those that came before it."""
    place = facts.state(state)
    if place is None:
        return ()
    at, known = place
    before = offered[: offered.index(name)] if name in offered else []
    there = [number for number, one in enumerate(known.action) if one.name in before]
    following = (there[-1] if there else -1) + 1
    if following < len(known.action):
        return ("state", at, "action", following)
    following_state: Location = ("state", at + 1)
    return following_state if facts.line_in_space(*following_state) else ("state", at)


class MacroDiffers(CauseKind):
    """A state's action stopped at one of its page actions, or did others than in a success."""

    name = "macro"
    weight = 0.8

    def find(self, facts: FailureFacts) -> Iterator[Cause]:
        for step in facts.steps:
            acted = facts.part(step.number, Acted)
            if acted is None:
                continue
            failed = next((one for one in acted.primitives if one.outcome == "failed"), None)
            if failed is not None:
                yield self._stopped(facts, step, acted, failed)
                return
            if (cause := self._differs(facts, step, acted)) is not None:
                yield cause
                return

    def _stopped(self, facts: FailureFacts, step: StepRow, acted: Acted, failed: Primitive) -> Cause:
        name = step.action.partition(" ")[0]
        place = facts.space_action(step.state, name)
        number = acted.primitives.index(failed)
        return told(
            step.number,
            f"{name} stopped at {failed.action}: {failed.message}",
            Evidence(step=step.number, part="action", text=failed.message),
            at=(
                facts.space_file if place is not None else "",
                facts.line_in_space(*place[0], "does", number) if place is not None else 0,
            ),
            field="" if place is not None else "action",
            why="The page refused this part of it.",
            patch=_with_nearest(facts, step, place[0], failed) if place is not None else None,
        )

    def _differs(self, facts: FailureFacts, step: StepRow, acted: Acted) -> Cause | None:
        name = step.action.partition(" ")[0]
        place, (done, is_same) = facts.space_action(step.state, name), _same_action(facts.success, step)
        if place is None or done is None or facts.success is None:
            return None
        here, there = (_did(one.primitives, is_same and facts.is_same_seed) for one in (acted, done))
        if here == there or not there:
            return None
        at = next(
            (at for at, pair in enumerate(zip(here, there, strict=False)) if pair[0] != pair[1]),
            min(len(here), len(there)),
        )
        # Parts without their argument are left out: only the end is sure.
        last = max(len(place[1].does) - 1, 0)
        line = facts.line_in_space(*place[0], "does", min(at, last) if at < len(here) else last)
        missing = there[at] if at < len(there) else ""
        return told(
            step.number,
            f"{name} did {', '.join(here) or 'nothing'}; in the success it did {', '.join(there)}.",
            Evidence(step=step.number, part="action", text="; ".join(here)),
            *facts.by_success("; ".join(there)),
            at=(facts.space_file, line),
            certainty="sure" if facts.is_first(step.number, "effect") else "likely",
            why=f"The success went on by {missing}." if missing else "It does more than in the success.",
            patch=_as_done(facts, step, place, acted, done) if is_same and facts.is_same_seed else None,
        )


def _as_done(
    facts: FailureFacts, step: StepRow, place: tuple[Location, SpaceAction], acted: Acted, done: Acted
) -> Patch | None:
    """Return the change that has an action do what it did in the success, with the same arguments.

    None if parts of it were left out, for want of an argument: what these are cannot be seen there.
    """
    location, action = place
    span = layout(facts.space.text).values.get((*location, "does")) if facts.space is not None else None
    written = facts.action(step.number)
    if facts.space is None or span is None or len(acted.primitives) != len(action.does):
        return None
    names = [one.name for one in action.parameter]
    given = written.arguments if isinstance(written, Named) else ()
    parts = []
    for one in done.primitives:
        part = str(one.action)
        for name, value in zip(names, given, strict=False):
            part = part.replace(f"[{value}]", f"[{{{name}}}]").replace(f'"{value}"', f'"{{{name}}}"')
        parts.append(json.dumps(part, ensure_ascii=False))
    return patch_of(facts.space_file, facts.space.text, *span, f"[{', '.join(parts)}]")


def _did(primitives: Sequence[Primitive], is_same: bool) -> list[str]:
    """Return what page actions did; unless both runs were asked for the same, only on what kind of element."""
    if is_same:
        return [comparable(f"{one.action} {one.target}".strip()) for one in primitives]
    return [f"{one.action.kind} {one.target.partition(' ')[0]}".strip() for one in primitives]


def _given(action: str) -> tuple[str, ...]:
    """Return the name of an action, and for each of its arguments whether it has one."""
    try:
        written = parse_action(action, (action.partition(" ")[0],))
    except ActionSyntaxError:
        return (action,)
    arguments = written.arguments if isinstance(written, Named) else ()
    return (written.name, *("given" if one else "" for one in arguments))


def _same_action(success: RunFacts | None, step: StepRow) -> tuple[Acted | None, bool]:
    """Return what the success did at a step with this action in this state, and whether its arguments are the same.

    Both give the same arguments, if not with the same values: those that are left out leave out parts of the action.
    """
    steps = success.steps if success is not None else ()
    given = _given(step.action)
    alike = [one for one in steps if one.state == step.state and _given(one.action) == given]
    for other in sorted(alike, key=lambda one: one.action != step.action):
        acted = success.part(other.number, Acted) if success is not None else None
        if acted is not None and acted.primitives:
            return acted, other.action == step.action
    return None, False
