"""Exemplars as text: as a prompt tells one, and whole, to be compared line by line."""

from core.agent.prompt_builder import EXEMPLARS, UNSAID, exemplar_messages
from core.agent.resources import Knowledge
from core.schema.errors import BackstepError
from core.schema.exemplar import Exemplar


def told_by(knowledge: Knowledge, preset: str, exemplar: Exemplar) -> str:
    """Return an exemplar as the prompt of a preset tells it, or why it cannot."""
    try:
        known = knowledge.presets.get(preset)
        if known.reply_format == "tools":
            return knowledge.prompts.render(EXEMPLARS, **{**UNSAID, "exemplars": (exemplar,)}).strip()
        messages = exemplar_messages(
            exemplar,
            known.reply_format,
            lambda **more: knowledge.prompts.render(known.prompts.turn, **{**UNSAID, **more}),
        )
    except BackstepError as error:
        return str(error)
    return "\n\n".join(f"─── {one.role} ───\n{one.text.strip()}" for one in messages)


def whole_text(exemplar: Exemplar) -> str:
    """Return all that an exemplar says as lines, the same part always in the same place."""
    lines = [
        f"family: {exemplar.family}",
        f"task: {exemplar.task}",
        f"environment: {exemplar.environment}",
        f"tags: {', '.join(exemplar.tags)}",
        f"source: {exemplar.source}",
        f"note: {exemplar.note}",
    ]
    if exemplar.metadata:
        lines += ["", "embedded text", exemplar.metadata]
    for number, step in enumerate(exemplar.steps, start=1):
        lines += ["", f"look {number}", step.observation, f"thought: {step.thought}", *step.actions]
    for number, contrast in enumerate(exemplar.contrasts, start=1):
        lines += ["", f"contrast {number}", contrast.observation]
        lines += [f"tried: {contrast.tried}", f"right: {contrast.right}", f"why: {contrast.why}"]
    for number, pair in enumerate(exemplar.abstraction, start=1):
        lines += ["", f"abstraction {number}, page", pair.state, f"abstraction {number}, what is left of it"]
        lines += [pair.observation]
    if exemplar.parser:
        lines += ["", "parser", exemplar.parser]
    return "\n".join(lines)
