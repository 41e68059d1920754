"""align: judging on the page before and after, with the paper's questions or with one for all of them."""

from hashlib import sha256
from typing import Any

from core.agent.abstraction.plain import clean_of, tokens_of
from core.agent.abstraction.ranking import ranked
from core.agent.policies.frame import place_of_page
from core.agent.prompt_builder import Prompter
from core.agent.reflection.judgement import SCHEMA, read_aligned, read_judgement, read_subtask, read_yes_no
from core.agent.state import RunState
from core.llm.reply_parser import split_thinking
from core.schema.messages import Message, Purpose
from core.schema.observation import CleanObservation, Observation
from core.schema.step import Aligned

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
