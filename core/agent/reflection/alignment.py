"""The judgement after an action: what it did, whether it served the subtask, what is done now.

It is asked on the page before and after, with the paper's questions or with
one for all of them.
"""

import re
from hashlib import sha256
from typing import Any, Literal

from core.agent.abstraction import clean_of, ranked, tokens_of
from core.agent.policies.stack import place_of_page
from core.agent.prompt_builder import Prompter
from core.agent.state import RunState
from core.llm.replies import load_json, split_thinking
from core.schema.messages import Message, Purpose
from core.schema.observation import CleanObservation, Observation
from core.schema.step import Aligned, Judgement

_YES = re.compile(r"\W*(?:answer\s*[:=]\s*)?\W*(yes|no|true|false)\b", re.IGNORECASE)
_LAST = re.compile(r"\b(?:answer|verdict|conclusion)\s*(?:is|:|=)\s*\W*(yes|no)\b", re.IGNORECASE)
_ALONE = re.compile(r"[\W_]*(?:\w+\s*:\s*)?[\W_]*(yes|no)[\W_]*", re.IGNORECASE)
_SUBTASK = re.compile(r"\b(done|needless|open|yes|no)\b", re.IGNORECASE)
_OBJECT = re.compile(r"\{.*\}", re.DOTALL)

SubtaskSaid = Literal["open", "done", "needless"]

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "effect": {"type": "string", "description": "One sentence: what the action did in the page."},
        "aligned": {"type": "boolean", "description": "Whether it served the current subtask."},
        "subtask": {"type": "string", "enum": ["open", "done", "needless"]},
        "task_done": {"type": "boolean", "description": "Whether nothing of the task is left to do."},
    },
    "required": ["effect", "aligned", "subtask", "task_done"],
    "additionalProperties": False,
}
"""The structured reply that answers all four questions at once."""


def read_yes_no(text: str) -> bool | None:
    """Return what a reply says: its first word, or else what it calls its answer; None where it tells neither."""
    match = _YES.match(text) or _LAST.search(text)
    if match is None:
        return None
    return match[1].lower() in ("yes", "true")


def read_aligned(text: str) -> Judgement:
    """Return what a reply of a sentence and a line with yes or no says; either may come first."""
    lines = [line.strip() for line in split_thinking(text)[1].splitlines() if line.strip()]
    for number in reversed(range(len(lines))):
        if alone := _ALONE.fullmatch(lines[number]):
            sentence = " ".join((*lines[:number], *lines[number + 1 :]))
            return Judgement(sentence=sentence, aligned=alone[1].lower() == "yes")
    whole = " ".join(lines)
    return Judgement(sentence=whole, aligned=read_yes_no(lines[-1]) if lines else None)


def read_subtask(text: str) -> SubtaskSaid | None:
    """Return what a reply says of the subtask; its first word of that kind counts, yes for done."""
    match = _SUBTASK.search(split_thinking(text)[1])
    if match is None:
        return None
    said = match[1].lower()
    if said in ("yes", "done"):
        return "done"
    return "needless" if said == "needless" else "open"


def read_judgement(text: str) -> Judgement:
    """Return what a structured reply says; what it does not say is None."""
    found = _OBJECT.search(split_thinking(text)[1])
    try:
        values = load_json(found[0]) if found is not None else {}
    except ValueError:
        values = {}
    aligned, over, task = values.get("aligned"), values.get("subtask"), values.get("task_done")
    known = over in ("open", "done", "needless")
    return Judgement(
        sentence=str(values.get("effect") or "").strip(),
        aligned=aligned if isinstance(aligned, bool) else None,
        subtask_done=over != "open" if known else None,
        needless=over == "needless",
        task_done=task if isinstance(task, bool) else None,
    )


# Asking

RANKED = 60
"""Elements that a page shortened by ranking keeps."""


class AlignmentJudge:
    """Asks what an action did, and whether that was right."""

    def __init__(self, prompter: Prompter) -> None:
        self._prompter = prompter

    async def judge(self, state: RunState) -> Aligned:
        """Return the judgement of the step's action; a failed action is judged without the LLM.

        Raises LLMError and DataError with nothing judged.
        """
        acted, action = state.acted, state.pending.action
        assert acted is not None
        assert state.before is not None
        if acted.outcome == "failed":
            return Aligned(
                judged=True,
                sentence=acted.message or "The action failed.",
                aligned=False,
                by_rule="The action failed.",
            )
        fast = state.judgement_settings.mode == "fast"
        calls: list[int] = []
        before, shortened = await self._shown(state, state.before.observation, fast, calls)
        after, shortened_too = await self._shown(state, state.observation, fast, calls)
        view: dict[str, Any] = {
            "observation": after,
            "before": before,
            "action": str(action) if action is not None else "",
            "target": acted.target,
            "result": f"{acted.outcome}. {acted.message}" if acted.message else acted.outcome,
            "thought": state.pending.thought,
        }
        changed = place_of_page(state.before.observation) != place_of_page(state.observation)
        aligned = await (self._at_once if fast else self._in_turn)(state, view, changed, calls)
        return aligned.replace(judged=True, summarised=shortened or shortened_too, calls=tuple(calls))

    async def _ask(
        self,
        state: RunState,
        purpose: Purpose,
        template: str,
        view: dict[str, Any],
        changed: bool,
        calls: list[int],
    ) -> str | None:
        """Return the reply, or None where no call is left."""
        if self._prompter.out_of_calls(state):
            return None
        shown = {name: value for name, value in view.items() if name not in ("observation", "thought")}
        text = self._prompter.render(state, template, page=view["observation"], changed=changed, **shown)
        request = self._prompter.request(state, purpose, (Message(role="user", text=text),), **view)
        if purpose == "judgement":
            request = request.replace(reply_schema=SCHEMA)
        reply, number = await self._prompter.ask(state, request)
        calls.append(number)
        return reply.text

    async def _at_once(
        self, state: RunState, view: dict[str, Any], changed: bool, calls: list[int]
    ) -> Aligned:
        template = state.preset.prompts.judgement
        text = await self._ask(state, "judgement", template, view, changed, calls)
        return _OUT_OF_CALLS if text is None else Aligned(**dict(read_judgement(text)))

    async def _in_turn(
        self, state: RunState, view: dict[str, Any], changed: bool, calls: list[int]
    ) -> Aligned:
        files = state.preset.prompts
        text = await self._ask(state, "aligned", files.aligned, view, changed, calls)
        if text is None:
            return _OUT_OF_CALLS
        aligned = Aligned(**dict(read_aligned(text)))
        if aligned.aligned is False:
            return aligned
        plan = self._prompter.plan(state)
        if plan is not None and plan.current is not None:
            text = await self._ask(state, "subtask", files.subtask, view, changed, calls)
            over = read_subtask(text) if text is not None else None
            aligned = aligned.replace(
                subtask_done=None if over is None else over != "open",
                needless=over == "needless",
            )
        text = await self._ask(state, "task", files.task, view, changed, calls)
        return aligned.replace(task_done=read_yes_no(split_thinking(text)[1]) if text is not None else None)

    async def _shown(
        self, state: RunState, observation: Observation, fast: bool, calls: list[int]
    ) -> tuple[CleanObservation, str]:
        """Return the page as it is judged, and by what it was shortened."""
        clean = clean_of(observation)
        if tokens_of(clean) <= state.judgement_settings.summarise_above:
            return clean, ""
        plan = self._prompter.plan(state)
        subtask = plan.current.text if plan is not None and plan.current is not None else ""
        if fast or self._prompter.out_of_calls(state):
            return ranked(
                observation, (*state.objectives, subtask), keep=RANKED
            ), "ranking by the task's words"
        key = sha256(f"{subtask}\n{clean.text}".encode("utf-8", "replace")).hexdigest()
        known = state.reflection.summaries
        if key not in known:
            text = self._prompter.render(state, state.preset.prompts.summarise, page=clean, raw=clean.text)
            messages = (Message(role="user", text=text),)
            request = self._prompter.request(state, "summarise", messages, observation=clean, raw=clean.text)
            reply, number = await self._prompter.ask(state, request)
            calls.append(number)
            known[key] = split_thinking(reply.text)[1] or "(nothing was said of it)"
        return clean.replace(text=known[key]), "a summary by the LLM"


_OUT_OF_CALLS = Aligned(by_rule="No LLM call was left to judge with.")
