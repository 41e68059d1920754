"""Exemplars as Synapse's two files: demonstrations by family, and the texts by which a family is found.

What Synapse has no field for stands under the key ``backstep``, which its
program does not look at: read again, the files give the same exemplars.
"""

import json
from typing import Any

from core.memory.exchange.agent_code import read_code, write_code
from core.memory.exchange.imports.synapse import ENVIRONMENT, OWN
from core.schema.exemplar import Exemplar, ExemplarStep, KeptPrompt, metadata_of
from core.trace.imports.records import FaultyError


def export_synapse(exemplars: tuple[Exemplar, ...]) -> dict[str, str]:
    """Return the two files by name."""
    families: dict[str, list[Exemplar]] = {}
    for one in exemplars:
        families.setdefault(one.family, []).append(one)
    made = {family: _family(members) for family, members in families.items()}
    contents = {
        "exemplars.json": {family: content for family, (content, _) in made.items()},
        "specifiers.json": {family: texts for family, (_, texts) in made.items()},
    }
    return {
        name: json.dumps(content, indent=1, ensure_ascii=False) + "\n" for name, content in contents.items()
    }


def _family(members: list[Exemplar]) -> tuple[dict[str, Any], list[str]]:
    """Return the demonstrations and the metadata texts of a family."""
    prompts = next((one.prompts for one in members if one.prompts), ())
    names = [one.name for one in prompts]
    if len(set(names)) < len(names) or {"demo", OWN} & set(names):
        prompts = ()  # They cannot stand at the family.
    shared: dict[tuple[object, ...], list[Exemplar]] = {}
    for one in members:
        shared.setdefault((one.task, one.environment, one.steps, one.abstraction), []).append(one)
    texts: list[str] = []
    demos: list[dict[str, Any]] = []
    for same in shared.values():
        entries = [_entry(one, prompts, len(texts) + place) for place, one in enumerate(same)]
        texts += [
            one.metadata if one.metadata.strip() else metadata_of(one.task, one.steps[0].observation)
            for one in same
        ]
        demos.append(_demo(same[0], entries, single=all(len(one.steps) == 1 for one in members)))
    kept = {one.name: one.texts[0] if len(one.texts) == 1 else list(one.texts) for one in prompts}
    return {**kept, "demo": demos}, texts


def _entry(one: Exemplar, prompts: tuple[KeptPrompt, ...], specifier: int) -> dict[str, Any]:
    included = {"id", "parser", "source", "tags", "note", "archived"}
    entry = {
        "specifier": specifier,
        **one.model_dump(mode="json", include=included, exclude_defaults=True),
    }
    if not one.metadata.strip():
        # The text was made of task and page, as Synapse needs one.
        entry |= {"derived": True, "metadata": one.metadata}
    if one.prompts != prompts:
        entry["prompts"] = [prompt.model_dump(mode="json") for prompt in one.prompts]
    return entry


def _demo(one: Exemplar, entries: list[dict[str, Any]], *, single: bool) -> dict[str, Any]:
    own: dict[str, Any] = {"exemplars": entries}
    if one.environment != ENVIRONMENT:
        own["environment"] = one.environment
    pairs = list(one.abstraction)
    steps: list[dict[str, Any]] = []
    for step in one.steps:
        raw = pairs.pop(0).state if pairs and pairs[0].observation == step.observation else None
        steps.append(_step(step, raw))
    if pairs:
        own["abstraction"] = [pair.model_dump(mode="json") for pair in one.abstraction]
    if not single:
        return {"task": one.task, "trajectory": steps, OWN: own}
    if OWN in steps[0]:
        own["step"] = steps[0][OWN]
    return {"task": one.task, **steps[0], OWN: own}


def _step(step: ExemplarStep, raw: str | None) -> dict[str, Any]:
    # A page that is kept whole is what Synapse calls a state.
    name = "state" if raw is None and step.observation.startswith("<") else "obs"
    code = write_code(step.thought, step.actions)
    entry: dict[str, Any] = {} if raw is None else {"state": raw}
    entry |= {name: step.observation, "act": code}
    own: dict[str, Any] = {"raw": step.raw} if step.raw else {}
    try:
        read = read_code(code)
    except FaultyError:
        read = None
    if read is None or (read.thought, read.actions) != (step.thought, step.actions):
        own |= {"thought": step.thought, "actions": list(step.actions)}
    return {**entry, OWN: own} if own else entry
