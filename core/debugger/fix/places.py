"""What can be changed at a step of a run, likeliest first, and where in its file to look."""

import re
from collections.abc import Iterator, Sequence

from core.agent.presets import Preset
from core.agent.resources import AgentResources
from core.debugger.editing.files import AgentFiles
from core.debugger.fix.views import Clue, FixPlace, PlaceKind
from core.schema.changes import OWN, Changes
from core.schema.errors import BackstepError, UsageError
from core.schema.step import PhaseRecord, Recalled, Recognised, record_of
from core.settings.toml_layout import layout

_KINDS: dict[str, PlaceKind] = {
    "policies": "policy", "state_spaces": "state space", "presets": "preset", "prompts": "prompt",
}  # fmt: skip
_INSTRUCTION = re.compile(r" {0,3}#[ \t]+Instruction\b", re.IGNORECASE)


def places_of(
    records: Sequence[PhaseRecord],
    recalled: Recalled | None,
    clue: Clue | None,
    *,
    preset: Preset,
    resources: AgentResources,
    files: AgentFiles,
    changes: Changes,
) -> tuple[FixPlace, ...]:
    """Return what can be changed where a step left these records.

    `changes` hold for the run: a policy that it uses a text of its own for is
    changed in that text.
    """
    recognised = record_of(Recognised, records)
    used = recalled.exemplars if recalled is not None else ()
    places = (
        *_policies(recognised, clue, resources, files, changes),
        *_spaces(recognised, files),
        *_prompts(preset, files),
        *_presets(preset, files),
        *(FixPlace(kind="exemplar", name=id, title=f"Exemplar {id}") for id in used),
        FixPlace(kind="action", name="action", title="The action of this step only"),
    )
    if clue is None or clue.file not in files.names():
        return places
    at_fault = next((place for place in places if place.name == clue.file), None) or _other(clue.file)
    named = at_fault.replace(line=clue.line or at_fault.line)
    return (named, *(place for place in places if place is not at_fault))


def _other(name: str) -> FixPlace:
    """Return a file that the step itself did not use."""
    kind = _KINDS.get(name.partition("/")[0], "prompt")
    return FixPlace(kind=kind, name=name, title=f"{kind[0].upper()}{kind[1:]} {name.partition('/')[2]}")


def _policies(
    recognised: Recognised | None,
    clue: Clue | None,
    resources: AgentResources,
    files: AgentFiles,
    changes: Changes,
) -> Iterator[FixPlace]:
    """Yield the policy of a clue, and those on the stack, the one at work first."""
    stack = recognised.stack if recognised is not None else None
    paths = [frame.file for frame in reversed(stack.frames) if frame.file] if stack is not None else []
    if clue is not None and clue.file.startswith("policies/") and clue.file in files.names():
        paths.insert(0, str(files.path(clue.file)))
    for path in dict.fromkeys(filter(None, paths)):
        try:
            name = files.name_of(path)
        except UsageError:
            name = ""  # It is of a folder that the run was forked with.
        id = next((one for one in resources.policies.names() if resources.policies.path_of(one) == path), "")
        if not id:
            continue
        of_run = id in changes.policy_texts or not name or changes.policies not in (None, OWN)
        text = resources.policies.get(id).text if of_run else files.read(name)
        yield FixPlace(
            kind="policy",
            name=name or f"policies/{id}.md",
            title=f"Policy {id}",
            policy=id if of_run else "",
            line=_line_of_instruction(text),
        )


def _line_of_instruction(text: str) -> int:
    """Return the first line of the instruction."""
    lines = text.splitlines()
    head = next((at for at, line in enumerate(lines) if _INSTRUCTION.match(line)), 0)
    return next((at + 1 for at in range(head + 1, len(lines)) if lines[at].strip()), 1)


def _spaces(recognised: Recognised | None, files: AgentFiles) -> Iterator[FixPlace]:
    if recognised is None or recognised.diagram is None or not recognised.diagram.file:
        return
    try:
        name = files.name_of(recognised.diagram.file)
        line = _line_of_state(files.read(name), recognised)
    except BackstepError:
        return  # It was recorded elsewhere, or is gone.
    yield FixPlace(kind="state space", name=name, title=f"State space {recognised.space}", line=line)


def _line_of_state(text: str, recognised: Recognised) -> int:
    """Return the line of the state, or of the first rule that spoke against the nearest one."""
    fits = recognised.fits
    known = any(fit.fits for fit in fits)
    state = recognised.state if known or not fits else max(fits, key=lambda fit: len(fit.matched)).state
    missed = "" if known else next((fit.missed for fit in fits if fit.state == state), "")
    places = layout(text)
    said = {location: text[span.start : span.end] for location, span in places.values.items()}
    names = [it for it in said if it[:1] == ("state",) and it[2:] == ("name",) and said[it][1:-1] == state]
    rules = [it for it in said if names and it[:2] == names[0][:2] and it[2] in ("url", "must", "must_not")]
    texts = [it for it in rules if said[it][:1] in ("'", '"') and len(said[it]) > 2]
    at_fault = [it for it in texts if said[it][1:-1] in missed]
    return next((places.line_of(it) or 1 for it in (*at_fault, *rules, *names)), 1)


def _prompts(preset: Preset, files: AgentFiles) -> Iterator[FixPlace]:
    names = preset.prompts
    more = (names.rationale, names.function) if preset.calls == 2 else (names.one_call,)
    there = set(files.names())
    for name in dict.fromkeys(filter(None, (names.system, names.user, *more))):
        if f"prompts/{name}" in there:
            yield FixPlace(kind="prompt", name=f"prompts/{name}", title=f"Prompt {name}")


def _presets(preset: Preset, files: AgentFiles) -> Iterator[FixPlace]:
    name = f"presets/{preset.name}.toml"
    if name in files.names():
        yield FixPlace(kind="preset", name=name, title=f"Preset {preset.name}")
