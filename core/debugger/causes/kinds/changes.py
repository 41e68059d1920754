"""Causes in the files of an agent: one that is wrong, and what was changed since a success or of bundled files."""

import re
import tomllib
from collections.abc import Callable, Iterator, Sequence
from difflib import SequenceMatcher
from itertools import takewhile
from typing import Any, NamedTuple

from core.debugger.causes.facts import FailureFacts, RunFacts
from core.debugger.causes.kinds.kind import CauseKind, patch_of, told
from core.debugger.causes.records import Cause, Evidence, EvidencePart, Patch
from core.debugger.compare.views import comparable
from core.schema.messages import Prompt
from core.schema.secrets import placeholders_in
from core.schema.step import Abstracted, CallRecord, Committed
from core.settings.toml_layout import layout
from core.trace.calls import stored_prompt
from core.trace.records import StepRow

_TAG = re.compile(r"\{[{%#].*?[}%#]\}")
_HEADING = re.compile(r"\[+[\w.]+\]+")
SHOWS_PAGE = re.compile(r"\{[{%][^}]*\b(?:page|observation)\.text\b")
"""Where a template shows the page."""
OF_PAGE = re.compile(r"\{[{%][^}]*\bpage\.")
"""Where one says something of the page."""
SHOWS_TASK = re.compile(r"\{[{%][^}]*\bobjective\b")
"""Where one shows the task."""
_LEAST_LETTERS = 4
"""Letters of its own by which a line of a file is found again in a prompt."""
_LEAST_OF_PART = 12
"""The same, of one part of a line whose others may be left out."""
_OF_PROMPTS = ("prompt", "judgement")
_SHOWN = 100
"""Characters of a line that a cause quotes."""
_BEFORE = 40
"""Characters before what differs that it quotes of a long line."""
_EDITS = 5
"""Changes of a bundled file that are told, at most."""
_SHOWN_IN: dict[str, EvidencePart] = {"state_spaces": "state", "policies": "policy"}
"""The part of a step that shows what a file of a folder does; of others the prompt."""
_SINCE = 0.75
"""The weight of a change since a success; what shows an effect of it goes before."""
_ELSEWHERE = 0.3
"""The weight of a change in a state that the run did not come to."""


class _Change(NamedTuple):
    """One place where a text differs from an earlier one."""

    at: int
    """The line in the new text, from 0."""
    gone: str
    """The first line that went, and that came, but no heading of a table alone; empty for none."""
    came: str
    start: int
    """The part of the new text, in characters, and what was there before."""
    end: int
    before: str


def _first_line(lines: Sequence[str]) -> str:
    """Return the first line that says something, of those that are no heading of a table if there are any."""
    some = [line.rstrip("\r\n") for line in lines if line.strip()]
    return next((line for line in some if not _HEADING.fullmatch(line)), next(iter(some), ""))


def _changes(old: str, new: str) -> Iterator[_Change]:
    """Yield the changes of a text that say anything."""
    olds, news = (text.splitlines(keepends=True) for text in (old, new))
    # The last line may have no end.
    a, b = ([line.rstrip("\r\n") for line in lines] for lines in (olds, news))
    for tag, first, last, start, end in SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        gone, came = (_first_line(some) for some in (olds[first:last], news[start:end]))
        blocks = ("".join(olds[first:last]), "".join(news[start:end]))
        is_hidden = placeholders_in(blocks[0]) != placeholders_in(blocks[1])
        if tag != "equal" and (gone or came) and not is_hidden:
            begin, stop = (sum(map(len, news[:at])) for at in (start, end))
            yield _Change(start, gone, came, begin, stop, "".join(olds[first:last]))


class FileWrong(CauseKind):
    """A file of the agent ended the run: it cannot be used."""

    name = "file-wrong"
    weight = 0.99

    def find(self, facts: FailureFacts) -> Iterator[Cause]:
        said = re.search(r"(?P<path>/\S+|[A-Za-z]:\\\S+), line (?P<line>\d+): ", facts.row.error)
        file = facts.texts.name_of(said["path"]) if said is not None else ""
        if said is None or not file or not facts.steps:
            return
        step = facts.store.steps(facts.row.run)[-1].number  # It may have ended before there was an action.
        yield told(
            step,
            f"{file} cannot be used: {facts.row.error[said.end() :]}",
            Evidence(step=step, part="log", text=facts.row.error),
            at=(file, int(said["line"])),
            certainty="sure",
            why="The run ended by it.",
        )


class PresetChanged(CauseKind):
    """The preset was another one when the run succeeded."""

    name = "preset-changed"
    weight = 0.95

    def find(self, facts: FailureFacts) -> Iterator[Cause]:
        changed, file = _preset_change(facts), facts.preset_place()[0]
        if changed is not None and file and facts.steps:
            more: dict[str, Any] = {
                "at": (file, changed.at + 1),
                "certainty": "sure" if facts.is_same_seed else "likely",
            }
            what, why = "The preset is another than in the success", "The presets of both runs differ in it."
            yield _cause(facts, facts.at, what, changed, why=why, patch=_reverted(facts, file), **more)


def _reverted(facts: FailureFacts, file: str) -> Patch | None:
    """Return the change that takes back the first change of the preset, if the file is still as it was in the run."""
    changed, text = _preset_change(facts), facts.texts.now(file)
    if changed is None or text is None or text != facts.store.preset_text(facts.row.run):
        return None
    return patch_of(file, text, changed.start, changed.end, changed.before)


class PromptDiffers(CauseKind):
    """The first thing in which a run differs from a success is what it told the LLM."""

    name = "prompt-differs"
    weight = 0.9

    def find(self, facts: FailureFacts) -> Iterator[Cause]:
        differs, success = facts.differs, facts.success
        if differs is None or success is None or differs[2] not in _OF_PROMPTS or _preset_change(facts):
            return
        step, there = differs[0].number, success.calls.get(differs[1].number, ())
        for call, other in zip(facts.calls.get(step, ()), there, strict=False):
            prompt, *_ = prompts = [stored_prompt(facts.store, one) for one in (call, other)]
            messages = [one.messages for one in prompts]
            least = min(map(len, messages))  # Between the first and the last are exemplars.
            numbers = (-1, 0, *range(1, least - 1)) if call.purpose == other.purpose else (1,)[: least - 1]
            for number in numbers:
                mine, theirs = (some[number] for some in messages)
                text = comparable(mine.text)
                changed = next(_changes(comparable(theirs.text), text), None)
                if changed is None:
                    continue
                names = files_of(facts, step, call, is_system=number == 0 and mine.role == "system")
                *at, is_sure = _place_of_page(facts, step, names, changed) or _place(
                    facts, names, text.splitlines(), changed
                )
                more: dict[str, Any] = {"at": tuple(at), "field": "prompt"}
                more["certainty"] = "sure" if is_sure else "likely"
                if exemplar := _exemplar(prompt, number):
                    more |= {"at": ("", 0), "field": f"exemplar {exemplar}", "certainty": "likely"}
                what = f"The prompt for {call.purpose} is another than in the success"
                why = "Up to there both runs saw the same pages and did the same."
                yield _cause(facts, step, what, changed, why=why, **more)
                return


class FileEdited(CauseKind):
    """A file that the run used is another one than in the success; without one, than the bundled one."""

    name = "file-edited"
    weight = 0.9

    def find(self, facts: FailureFacts) -> Iterator[Cause]:
        success, used = facts.success, _used_files(facts)
        policies = [
            frame.file
            for step in (success.steps if success is not None else ())
            for frame in (success.frames(step.number) if success is not None else ())
        ]
        for file in dict.fromkeys((*used, *filter(None, map(facts.texts.name_of, policies)))):
            if success is None:
                yield from self._of_bundled(facts, file, used[file])
            elif file.startswith("presets/"):
                continue  # Their texts are compared in any case.
            elif success.is_stored(file):
                yield from self._since(facts, file, used.get(file, 0), success)
            elif file in used:
                yield from self._of_bundled(facts, file, used[file])

    def _since(self, facts: FailureFacts, file: str, step: int, success: RunFacts) -> Iterator[Cause]:
        """Yield what was changed in a file since the success; `step` used it first, 0 for none."""
        before, then = facts.texts.of(success, file), facts.texts.of(facts, file)
        why = "Your own files are stored with each run."
        if not facts.is_stored(file):
            why = f"Which text of it run {facts.row.run} was made with is not stored; it is compared as it is now."
        if before is None or then is None:
            if before != then:
                how = "new" if before is None else "gone"
                what = f"{file} is {how} since {facts.success_in_words}, began."
                seen = Evidence(step=step or facts.at, part=_part_of(file), text=file)
                yield told(step or facts.at, what, seen, at=(file, 0), certainty="possible", why=why)
            return
        for at, change in _placed(facts, file, step, before, then):
            is_likely = at and facts.is_stored(file)
            more: dict[str, Any] = (
                {"certainty": "likely", "weight": _SINCE} if is_likely else {"weight": _ELSEWHERE}
            )
            what = f"{file} was another one when {facts.success_in_words}, began"
            yield self._edit(
                facts, file, at, what, change, then, why=why, **{"certainty": "possible", **more}
            )

    def _of_bundled(self, facts: FailureFacts, file: str, step: int) -> Iterator[Cause]:
        """Yield the changes that the user's own copy of a bundled file makes."""
        bundled, then, now = facts.texts.bundled(file), facts.texts.of(facts, file), facts.texts.now(file)
        if bundled is None or then is None or bundled in (then, now):
            return
        is_now = "is" if then == now else "was"
        why = (
            "No success of this agent at this task is stored, so nothing shows that the edit works."
            if facts.success is None
            else f"Whether run {facts.success.row.run} succeeded with it is not stored."
        )
        for at, change in _placed(facts, file, step, bundled, then):
            more = {"weight": 0.0 if at and facts.success is None else _ELSEWHERE, "certainty": "possible"}
            what = f"Your own {file} {is_now} not like the bundled one"
            yield self._edit(facts, file, at, what, change, then, why=why, **more)

    def _edit(
        self, facts: FailureFacts, file: str, at: int, what: str, change: _Change, then: str, **more: Any
    ) -> Cause:
        is_now = facts.texts.now(file) == then
        if is_now:
            more["patch"] = patch_of(file, then, change.start, change.end, change.before)
        place = (file, change.at + 1 if is_now or not facts.texts.changed_since(facts, file) else 0)
        return _cause(facts, at or facts.at, what, change, _part_of(file), at=place, **more)


def _placed(facts: FailureFacts, file: str, step: int, before: str, then: str) -> list[tuple[int, _Change]]:
    """Return the changes of a file, each with the first step that used it: first those that one did."""
    placed = [
        (_step_at(facts, file, then, step, change.at + 1) if step else 0, change)
        for change in _changes(before, then)
    ]
    return sorted(placed, key=lambda one: not one[0])[:_EDITS]


def _part_of(file: str) -> EvidencePart:
    """Return the part of a step that shows what a file does."""
    return _SHOWN_IN.get(file.partition("/")[0], "prompt")


def _own_steps(facts: FailureFacts) -> list[StepRow]:
    """Return the steps that were made with the files of the run: those before a branch are another run's."""
    return [step for step in facts.steps if step.number >= (facts.row.parent_step or 0)]


def _used_files(facts: FailureFacts) -> dict[str, int]:
    """Return the files that a run used, each with the first step that did."""
    used: dict[str, int] = {}
    for step in _own_steps(facts):
        used.setdefault(facts.preset_place()[0], step.number)
        for call in facts.calls.get(step.number, ()):
            for is_system in (True, False):
                for name in files_of(facts, step.number, call, is_system=is_system):
                    used.setdefault(name, step.number)
        for frame in facts.frames(step.number):
            used.setdefault(facts.texts.name_of(frame.file), step.number)
    used.pop("", None)
    return used


def _step_at(facts: FailureFacts, file: str, text: str, first: int, line: int) -> int:
    """Return the first step that used a line of a file; 0 for a line of a state that the run did not come to."""
    if file != facts.space_file:
        return first
    places = layout(text)
    lines = [(places.line_of(("state", at)) or 0, name) for at, name in enumerate(_names_of_states(text))]
    name = next((name for start, name in reversed(lines) if start <= line), "")
    if not name:
        return first
    return next((step.number for step in _own_steps(facts) if name in _states_of(facts, step.number)), 0)


def _names_of_states(text: str) -> list[str]:
    try:
        return [str(state.get("name", "")) for state in tomllib.loads(text).get("state", ())]
    except (tomllib.TOMLDecodeError, AttributeError, TypeError):
        return []  # No run was made with it.


def _states_of(facts: FailureFacts, step: int) -> tuple[str, str]:
    """Return the state of a step, and the one after it if that ended the run."""
    committed = facts.part(step, Committed)
    return facts.state_of(step), committed.stops if committed is not None else ""


def _cause(
    facts: FailureFacts, step: int, what: str, changed: _Change, part: EvidencePart = "prompt", **more: Any
) -> Cause:
    # Of a long line, what differs is to be seen.
    pairs = zip(changed.gone.strip(), changed.came.strip(), strict=False)
    at = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    start = max(at - _BEFORE, 0) if max(map(len, (changed.gone, changed.came))) > _SHOWN else 0
    said = ((changed.gone, "is gone"), (changed.came, "is new"))
    text = ", ".join(
        f"“{'…' if start else ''}{line.strip()[start:][:_SHOWN]}” {how}" for line, how in said if line
    )
    seen = Evidence(step=step, part=part, text=text)
    by_success = facts.by_success(changed.gone or "without it") if more.get("certainty") != "possible" else ()
    return told(step, f"{what}: {text}.", seen, *by_success, **more)


def _preset_change(facts: FailureFacts) -> _Change | None:
    """Return the first place in which the preset is not that of the success."""
    if facts.success is None or facts.success.row.preset != facts.row.preset:
        return None
    texts = [facts.store.preset_text(row.run) for row in (facts.success.row, facts.row)]
    return next(_changes(*texts), None) if all(texts) else None


def _place(
    facts: FailureFacts, names: Sequence[str], lines: Sequence[str], changed: _Change
) -> tuple[str, int, bool]:
    """Return file and line of a change in a message, and whether it was found by what came or went, not around it."""
    at, gone, came, *_ = changed
    files = {name: (facts.texts.now(name) or "").splitlines() for name in names if name}
    before, after = (next(filter(str.strip, some), "") for some in (lines[:at][::-1], lines[at:]))
    first = next(iter(files), "")
    for words, further in ((came, 0), (gone, 0), (before, 1), (after if before else "", 0)):
        own = [
            (_own_letters(line, words), -place, -number, name)
            for place, (name, text) in enumerate(files.items())
            for number, line in enumerate(text, 1)
        ]
        letters, _, number, name = max(own, default=(0, 0, 0, ""))
        if letters >= _LEAST_LETTERS:
            return name, further - number, words in (came, gone)
    return first, (len(files[first]) if before and not after else 1) if first else 0, False


def line_that(
    shows: re.Pattern[str], names: Sequence[str], text_of: Callable[[str], str | None]
) -> tuple[str, int] | None:
    """Return the file and line in which templates show something; None if none of them does."""
    for name in filter(None, names):
        for number, line in enumerate((text_of(name) or "").splitlines(), 1):
            if shows.search(line):
                return name, number
    return None


def edit_that_hid(
    shows: re.Pattern[str], facts: FailureFacts, names: Sequence[str]
) -> tuple[str, int, Patch] | None:
    """Return where the user's own copies of bundled files no longer show something, and what takes that back.

    That is a line of a template, or the name of a template in the preset. None if no copy says so.
    """
    preset, bundled_of = facts.preset_place()[0], facts.texts.bundled
    for name in filter(None, (*names, preset)):
        bundled, now = bundled_of(name), facts.texts.now(name)
        is_own = None not in (bundled, now) and facts.texts.of(facts, name) == now
        for change in _changes(bundled or "", now or "") if is_own else ():
            named = re.findall(r'"([^"]+\.j2)"', change.before) if name == preset else ()
            before = _with_included([f"prompts/{each}" for each in named], facts.texts.names, bundled_of)
            if line_that(shows, before, bundled_of) or (shows.search(change.before) and name != preset):
                return name, change.at + 1, patch_of(name, now or "", change.start, change.end, change.before)
    return None


def _place_of_page(
    facts: FailureFacts, step: int, names: Sequence[str], changed: _Change
) -> tuple[str, int, bool] | None:
    """Return where a template shows the page, if what changed is a line of it; None if it is not."""
    abstracted = facts.part(step, Abstracted)
    lines = comparable(abstracted.clean.text).splitlines() if abstracted is not None else []
    words = {line.strip() for line in (changed.gone, changed.came)} - {""}
    is_of_page = any(line.strip() in words for line in lines)
    place = line_that(SHOWS_PAGE, names, facts.texts.now) if is_of_page else None
    return (*place, False) if place is not None else None


def _exemplar(prompt: Prompt, number: int) -> str:
    """Return the exemplar that a message of a prompt is of, or nothing."""
    of_exemplars = (part for part in prompt.parts if part.kind == "exemplar")
    return next((part.id for part in of_exemplars if 0 <= number - part.message < part.messages), "")


def _own_letters(line: str, words: str) -> int:
    """Return how many letters of a line's own a text has, its tags being anything; 0 if it has too little."""
    parts = [part.strip() for part in _TAG.split(line) if part.strip()]
    letters = {part: len(re.findall(r"\w", part)) for part in parts}
    is_there = words and re.search(".*?".join(map(re.escape, parts)), words)
    longest = max((letters[part] for part in parts if part in words), default=0)
    return sum(letters.values()) if is_there else longest if longest >= _LEAST_OF_PART else 0


def files_of(facts: FailureFacts, step: int, call: CallRecord, *, is_system: bool) -> list[str]:
    """Return the files that a message's words are of, the likeliest first: templates, policy, state space."""
    if facts.preset is None:
        return []
    prompts = facts.preset.prompts
    own = str(getattr(prompts, call.purpose, "") or (prompts.one_call if call.purpose == "decide" else ""))
    is_question = call.purpose not in ("decide", "rationale", "function", "remedies")
    names = [own] if is_question else [prompts.system] if is_system else [own, prompts.user]
    templates = [f"prompts/{name}" for name in names if name]
    found = _with_included(templates, facts.texts.names, facts.texts.now)
    return [*found, *(facts.texts.name_of(frame.file) for frame in facts.frames(step)[-1:]), facts.space_file]


def _with_included(
    names: Sequence[str], known: frozenset[str], text_of: Callable[[str], str | None]
) -> list[str]:
    """Return those of the templates that are known, with those that they include."""
    found = [name for name in names if name in known]
    for name in found:
        for start, more in re.findall(r'include "([^"]+)"( ~)?', text_of(name) or ""):
            included = (one for one in sorted(known) if one.startswith(f"prompts/{start}"))
            found += [one for one in included if (more or one == f"prompts/{start}") and one not in found]
    return found
