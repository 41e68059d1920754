"""Exemplars as Synapse's two files: demonstrations by family, and the texts by which a family is found.

The exemplars themselves stand under the key ``backstep``, which Synapse does
not look at: read again, the files give the same exemplars.
"""

import json
from typing import Any

from core.exemplars.exchange.agent_code import write_code
from core.schema.exemplar import Exemplar, ExemplarStep, metadata_of

OWN = "backstep"


def export_synapse(exemplars: tuple[Exemplar, ...]) -> dict[str, str]:
    """Return the two files by name."""
    families: dict[str, list[Exemplar]] = {}
    for exemplar in exemplars:
        families.setdefault(exemplar.family, []).append(exemplar)
    specifiers = {family: list(map(specifier_of, members)) for family, members in families.items()}
    contents = {
        "exemplars.json": {family: _family(members) for family, members in families.items()},
        "specifiers.json": specifiers,
    }
    return {
        name: json.dumps(content, indent=1, ensure_ascii=False) + "\n" for name, content in contents.items()
    }


def specifier_of(exemplar: Exemplar) -> str:
    """Return the text by which an exemplar is found, which Synapse must have."""
    is_given = exemplar.metadata.strip()
    return exemplar.metadata if is_given else metadata_of(exemplar.task, exemplar.steps[0].observation)


def demo_of(exemplar: Exemplar, *, single: bool) -> dict[str, Any]:
    """Return the demonstration; a `single` one has its only look at its own level, as its family has no other."""
    pairs = list(exemplar.abstraction)
    looks: list[dict[str, Any]] = []
    for step in exemplar.steps:
        raw = pairs.pop(0).state if pairs and pairs[0].observation == step.observation else None
        looks.append(_look(step, raw))
    return {"task": exemplar.task, **(looks[0] if single else {"trajectory": looks})}


def _family(members: list[Exemplar]) -> dict[str, Any]:
    prompts = next((exemplar.prompts for exemplar in members if exemplar.prompts), ())
    names = {prompt.name for prompt in prompts}
    if len(names) < len(prompts) or names & {"demo", OWN}:
        prompts = ()  # They cannot stand at the family.
    single = all(len(exemplar.steps) == 1 for exemplar in members)
    demos: dict[tuple[object, ...], dict[str, Any]] = {}
    for place, exemplar in enumerate(members):
        demo = demos.setdefault(
            (exemplar.task, exemplar.steps, exemplar.abstraction),
            {**demo_of(exemplar, single=single), OWN: []},
        )
        demo[OWN].append({"specifier": place, "exemplar": exemplar.model_dump(exclude_defaults=True)})
    shown = {prompt.name: prompt.texts[0] if len(prompt.texts) == 1 else prompt.texts for prompt in prompts}
    return {**shown, "demo": list(demos.values())}


def _look(step: ExemplarStep, raw: str | None) -> dict[str, Any]:
    # A page that is kept whole is what Synapse calls a state.
    name = "state" if raw is None and step.observation.startswith("<") else "obs"
    look = {} if raw is None else {"state": raw}
    return {**look, name: step.observation, "act": write_code(step.thought, step.actions)}
