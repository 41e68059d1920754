"""Exemplars as Synapse's two files: demonstrations by family, and the texts by which a family is found.

What Synapse has no field for stands under the key ``backstep``, which its
program does not look at: read again, the files give the same exemplars.
"""

import json
from collections.abc import Iterable
from typing import Any

from core.memory.exchange.agent_code import read_code, write_code
from core.memory.exchange.imports.synapse import ENVIRONMENT, OWN
from core.schema.exemplar import Exemplar, ExemplarStep, KeptPrompt, metadata_of
from core.trace.imports.records import FaultyError

_RESERVED = ("demo", OWN)


def export_synapse(exemplars: tuple[Exemplar, ...]) -> dict[str, str]:
    """Return the two files by name."""
    families: dict[str, list[Exemplar]] = {}
    for one in exemplars:
        families.setdefault(one.family, []).append(one)
    content: dict[str, Any] = {}
    specifiers: dict[str, list[str]] = {}
    for family, members in families.items():
        content[family], specifiers[family] = _family(members)
    return {
        "exemplars.json": json.dumps(content, indent=1, ensure_ascii=False) + "\n",
        "specifiers.json": json.dumps(specifiers, indent=1, ensure_ascii=False) + "\n",
    }


def _family(members: list[Exemplar]) -> tuple[dict[str, Any], list[str]]:
    prompts = _shared_prompts(members)
    shared: dict[tuple[object, ...], list[Exemplar]] = {}
    for one in members:
        shared.setdefault((one.task, one.environment, one.steps, one.abstraction), []).append(one)
    single = all(len(one.steps) == 1 for one in members)
    texts: list[str] = []
    demos: list[dict[str, Any]] = []
    for same in shared.values():
        entries: list[dict[str, Any]] = []
        for one in same:
            entries.append(_entry(one, prompts, len(texts)))
            texts.append(
                one.metadata if one.metadata.strip() else metadata_of(one.task, one.steps[0].observation)
            )
        demos.append(_demo(same[0], entries, single=single))
    kept = {one.name: one.texts[0] if len(one.texts) == 1 else list(one.texts) for one in prompts}
    return {**kept, "demo": demos}, texts


def _shared_prompts(members: Iterable[Exemplar]) -> tuple[KeptPrompt, ...]:
    """Return the prompts of the family, if they can stand at it."""
    found = next((one.prompts for one in members if one.prompts), ())
    names = [one.name for one in found]
    fits = len(set(names)) == len(names) and not set(names) & set(_RESERVED)
    return found if fits else ()


def _entry(one: Exemplar, prompts: tuple[KeptPrompt, ...], specifier: int) -> dict[str, Any]:
    entry: dict[str, Any] = {"id": one.id, "specifier": specifier}
    if not one.metadata.strip():
        # The text was made of task and page, as Synapse needs one.
        entry["derived"] = True
        if one.metadata:
            entry["metadata"] = one.metadata
    given = one.model_dump(
        mode="json", include={"parser", "source", "tags", "note", "archived"}, exclude_defaults=True
    )
    if one.prompts != prompts:
        given["prompts"] = [prompt.model_dump(mode="json") for prompt in one.prompts]
    return {**entry, **given}


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
    if raw is not None:
        entry: dict[str, Any] = {"state": raw, "obs": step.observation}
    else:
        # A page that is kept whole is what Synapse calls a state.
        entry = {"state" if step.observation.startswith("<") else "obs": step.observation}
    entry["act"] = write_code(step.thought, step.actions)
    own: dict[str, Any] = {}
    if not _says_the_same(entry["act"], step):
        own |= {"thought": step.thought, "actions": list(step.actions)}
    if step.raw:
        own["raw"] = step.raw
    if own:
        entry[OWN] = own
    return entry


def _says_the_same(code: str, step: ExemplarStep) -> bool:
    try:
        read = read_code(code)
    except FaultyError:
        return False
    return (read.thought, read.actions) == (step.thought, step.actions)
