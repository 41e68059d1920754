"""Causes in what was changed since a success: a preset, or what a file of a prompt says to the LLM."""

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from core.debugger.causes.facts import FailureFacts
from core.debugger.causes.kinds.kind import CauseKind
from core.debugger.causes.records import Cause, Evidence
from core.debugger.compare.views import comparable
from core.schema.step import Recognised

_TAG = re.compile(r"\{[{%#].*?[}%#]\}")
_LEAST_LETTERS = 4
"""Letters of its own by which a line of a file is found again in a prompt."""
_SHOWN = 100
"""Characters of a line that a cause quotes."""


class PresetChanged(CauseKind):
    """The preset was another one when the run succeeded."""

    name = "preset-changed"
    weight = 0.95

    def find(self, facts: FailureFacts) -> Iterator[Cause]:
        success, changed = facts.success, _preset_change(facts)
        file = f"presets/{facts.row.preset}.toml"
        if success is None or changed is None or file not in facts.files.names() or not facts.steps:
            return
        at, gone, came = changed
        yield Cause(
            step=facts.at,
            what=f"The preset has been changed since run {success.row.run}, which succeeded: {_said(gone, came)}.",
            evidence=(
                Evidence(step=0, part="success", run=success.row.run, text=gone or "without this line"),
                Evidence(step=facts.at, part="prompt", text=came or "without this line"),
            ),
            file=file,
            line=at + 1,
            certainty="sure" if facts.is_same_seed else "likely",
            why=f"The preset of run {success.row.run} and that of this run differ in it.",
        )


class PromptDiffers(CauseKind):
    """The first thing in which a run differs from a success is what it told the LLM."""

    name = "prompt-differs"
    weight = 0.9

    def find(self, facts: FailureFacts) -> Iterator[Cause]:
        differs, success = facts.differs, facts.success
        if (
            differs is None
            or success is None
            or differs[2] not in ("prompt", "judgement")
            or _preset_change(facts)
        ):
            return
        step = differs[0].number
        pairs = (
            (
                call,
                comparable(facts.prompt(call)).splitlines(),
                comparable(success.prompt(other)).splitlines(),
            )
            for call, other in zip(facts.calls[step], success.calls[differs[1].number], strict=False)
        )
        call, mine, theirs = next((pair for pair in pairs if pair[1] != pair[2]), (None, [], []))
        changed = _first_change(theirs, mine)
        if call is None or changed is None:
            return
        at, gone, came = changed
        before = next((line for line in reversed(mine[:at]) if line.strip()), "")
        file, line = place_of_words(facts, step, call.purpose, before, gone, came)
        yield Cause(
            step=step,
            what=f"The prompt for {call.purpose} is another than in the success: {_said(gone, came)}.",
            evidence=(
                Evidence(step=step, part="prompt", text=came or f"nothing after: {before}"),
                Evidence(step=step, part="success", run=success.row.run, text=gone or "without this line"),
            ),
            file=file,
            line=line,
            field="prompt",
            certainty="sure" if file else "likely",
            why="Up to there both runs saw the same pages and did the same.",
        )


def _preset_change(facts: FailureFacts) -> tuple[int, str, str] | None:
    """Return the first line in which the preset is not that of the success."""
    success = facts.success
    if success is None or success.row.preset != facts.row.preset:
        return None
    mine, theirs = (facts.store.preset_text(row.run).splitlines() for row in (facts.row, success.row))
    return _first_change(theirs, mine)


def _said(gone: str, came: str) -> str:
    said = (
        f"“{gone.strip()[:_SHOWN]}” is gone" if gone else "",
        f"“{came.strip()[:_SHOWN]}” is new" if came else "",
    )
    return ", ".join(filter(None, said))


def _first_change(old: Sequence[str], new: Sequence[str]) -> tuple[int, str, str] | None:
    """Return the position in `new` of the first change that says anything, with the lines that went and came."""
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    for tag, first, last, start, end in matcher.get_opcodes():
        gone = next((line for line in old[first:last] if line.strip()), "")
        came = next((line for line in new[start:end] if line.strip()), "")
        if tag != "equal" and (gone or came):
            return start, gone, came
    return None


def place_of_words(
    facts: FailureFacts, step: int, purpose: str, before: str, gone: str, came: str
) -> tuple[str, int]:
    """Return file and line of what a prompt says: of a line that came or went, or else behind the line before it."""
    files = {name: facts.files.read(name).splitlines() for name in _spoken_files(facts, step, purpose)}
    for words, further in ((came, 0), (gone, 0), (before, 1)):
        best = max(
            (
                (own, -place, name, number)
                for place, (name, lines) in enumerate(files.items())
                for number, line in enumerate(lines, 1)
                if (own := _own_letters(line, words)) >= _LEAST_LETTERS
            ),
            default=None,
        )
        if best is not None:
            return best[2], best[3] + further
    return next(((name, 1) for name in files), ("", 0))


def _own_letters(line: str, words: str) -> int:
    """Return how many letters of a line's own a text has, its tags being anything; 0 if the text has not all of it."""
    parts = [part.strip() for part in _TAG.split(line) if part.strip()]
    letters = sum(len(re.findall(r"\w", part)) for part in parts)
    if letters < _LEAST_LETTERS or not words:
        return 0
    return letters if re.search(".*?".join(map(re.escape, parts)), words) else 0


def _spoken_files(facts: FailureFacts, step: int, purpose: str) -> list[str]:
    """Return the files that a prompt's words are of, the likeliest first: templates, policy, state space."""
    if facts.preset is None:
        return []
    prompts = facts.preset.prompts
    own = "one_call" if purpose == "decide" and prompts.one_call else purpose
    names = [str(getattr(prompts, one, "")) for one in (own, "user", "system", "turn")]
    known = facts.files.names()
    found = [f"prompts/{name}" for name in names if name and f"prompts/{name}" in known]
    if purpose not in ("decide", "rationale", "function", "remedies"):
        found = found[:1]
    for name in found:
        included = (f"prompts/{one}" for one in re.findall(r'include "([^"]+)"', facts.files.read(name)))
        found += [one for one in included if one in known and one not in found]
    recognised = facts.part(step, Recognised)
    stack = recognised.stack.frames if recognised is not None and recognised.stack is not None else ()
    of_policy = [name for frame in stack[-1:] if (name := facts.name_of(frame.file))]
    shared = [name for name in known if re.fullmatch(r"prompts/[^/]+", name) and name not in found]
    return [*found, *of_policy, *filter(None, [facts.space_file]), *shared]
