"""The judgement after an action: its effect, whether it served the subtask, and what is done now.

The LLM is shown the page before and after, with the paper's questions or with one question for all of them.
If a reply leaves something open, it is asked once more.
"""

from collections.abc import Awaitable, Callable, Sequence
from hashlib import sha256
from typing import Any, Literal

from core.agent.abstraction import clean_of, ranked, tokens_of
from core.agent.fitting import leave_out
from core.agent.policies.stack import Frame, place_of_page
from core.agent.prompt_builder import Prompter
from core.agent.reflection.judgement_replies import (
    SCHEMA,
    read_aligned,
    read_judgement,
    read_subtask,
    read_yes_no,
)
from core.agent.state import RunState
from core.llm.replies import split_thinking, why_nothing
from core.schema.errors import PromptTooLong
from core.schema.messages import Message
from core.schema.observation import CleanObservation, Observation
from core.schema.step import Aligned, Judgement, JudgementPart

RANKED = 60
"""Elements that a page shortened by ranking keeps."""

AskedFor = Literal["aligned", "subtask", "task", "judgement"]
_FORMS: dict[AskedFor, str] = {
    "aligned": "Write the sentence on the first line, and just YES or NO on the second.",
    "subtask": "Reply with one of the words that were asked for, alone.",
    "task": "Reply with one word alone: YES or NO.",
    "judgement": "Reply with the JSON object and nothing else; aligned and task_done are true or false.",
}
"""What is said where a reply leaves open what was asked."""


class AlignmentJudge:
    """Asks for the effect of an action, and whether it was right."""

    def __init__(self, prompter: Prompter) -> None:
        self._prompter = prompter

    async def judge_action(self, state: RunState) -> Aligned:
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
        view = {
            "action": str(action) if action is not None else "",
            "target": acted.target,
            "result": f"{acted.outcome}. {acted.message}" if acted.message else acted.outcome,
            "thought": state.pending.thought,
        }
        return await self._judge(state, state.before.observation, view)

    async def judge_call(self, state: RunState, ended: Frame, began_on: Observation) -> Aligned:
        """Return the judgement of a policy call that has returned, on the page of the call and the page now.

        Raises LLMError and DataError with nothing judged.
        """
        view = {"action": ended.written, "target": "", "result": ended.outcome, "thought": ""}
        return await self._judge(state, began_on, view)

    async def _judge(self, state: RunState, page_before: Observation, view: dict[str, Any]) -> Aligned:
        fast = state.judgement_settings.mode == "fast"
        calls: list[int] = []
        changed = place_of_page(page_before) != place_of_page(state.observation)

        async def judge() -> Aligned:
            before, shortened = await self._shown(state, page_before, fast, calls)
            after, shortened_too = await self._shown(state, state.observation, fast, calls)
            pages = {**view, "observation": after, "before": before}
            aligned = await (self._at_once if fast else self._in_turn)(state, pages, changed, calls)
            return aligned.replace(judged=True, summarised=shortened or shortened_too, calls=tuple(calls))

        return await self._shortened(state, judge, page_before, state.observation)

    async def _shortened(
        self, state: RunState, judge: Callable[[], Awaitable[Aligned]], *pages: Observation
    ) -> Aligned:
        """Judge these pages, again with less of them, and then of the steps, while a prompt is too long."""
        while True:
            try:
                return await judge()
            except PromptTooLong:
                if not state.calls_left:
                    raise
                # Those with more elements are ranked by now, down to `RANKED`.
                some = min(max(len(page.elements) for page in pages), 2 * RANKED)
                told = len(self._prompter.whole_task(state)["history"])
                if not leave_out(state, elements=some) and not leave_out(state, steps=told):
                    raise

    async def check_stop(self, state: RunState) -> Aligned:
        """Return whether the task is done that the agent wants to stop; raises LLMError and DataError."""
        calls: list[int] = []

        async def judge() -> Aligned:
            fast = state.judgement_settings.mode == "fast"
            page, shortened = await self._shown(state, state.observation, fast, calls)
            view = {
                "observation": page,
                "action": str(state.pending.action),
                "target": "",
                "result": "not yet",
            }
            task = await self._ask(state, "task", view, False, calls, _task)
            if task is None:
                return _OUT_OF_CALLS
            return task.replace(
                judged=True,
                summarised=shortened,
                calls=tuple(calls),
                stop_refused=task.task_done is not True,
            )

        return await self._shortened(state, judge, state.observation)

    async def _ask(
        self,
        state: RunState,
        purpose: AskedFor,
        view: dict[str, Any],
        changed: bool,
        calls: list[int],
        read: Callable[[str], Aligned],
    ) -> Aligned | None:
        """Return what the reply says, asked once more where it leaves something open; None if no call is left.

        Whether the action was aligned is a question about the policy at work;
        all others are about the whole task.
        """
        files = state.preset.prompts
        template: str = getattr(files, purpose)
        shown = {name: value for name, value in view.items() if name not in ("observation", "thought")}
        whole = {} if purpose == "aligned" else self._prompter.whole_task(state)
        text = self._prompter.render(
            state, template, page=view["observation"], changed=changed, **(shown | whole)
        )
        messages: tuple[Message, ...] = (Message(role="user", text=text),)
        found: Aligned | None = None
        for _ in range(2):
            if self._prompter.out_of_calls(state):
                return found
            request = self._prompter.request(state, purpose, messages, **(view | whole))
            if purpose == "judgement":
                request = request.replace(reply_schema=SCHEMA)
            reply, number = await self._prompter.ask(state, request)
            calls.append(number)
            said = read(reply.text)
            found = said if found is None else _completed(found, said)
            if not found.unclear:
                break
            why = why_nothing(reply) or f"This does not say {_asked_for(found.unclear)}."
            again = f"{why} {_FORMS[purpose]}"
            messages = (
                *self._prompter.asker.sent(request, number).messages[:1],
                Message(role="assistant", text=split_thinking(reply.text)[1] or "(an empty reply)"),
                Message(role="user", text=again),
            )
        return found

    async def _at_once(
        self, state: RunState, view: dict[str, Any], changed: bool, calls: list[int]
    ) -> Aligned:
        parts: tuple[JudgementPart, ...] = ("aligned", "task")
        if self._prompter.subtask(state):
            parts = ("aligned", "subtask", "task")

        def read(text: str) -> Aligned:
            return _with_unclear(read_judgement(text), *parts)

        aligned = await self._ask(state, "judgement", view, changed, calls, read)
        return _OUT_OF_CALLS if aligned is None else aligned

    async def _in_turn(
        self, state: RunState, view: dict[str, Any], changed: bool, calls: list[int]
    ) -> Aligned:
        aligned = await self._ask(
            state, "aligned", view, changed, calls, lambda text: _with_unclear(read_aligned(text), "aligned")
        )
        if aligned is None:
            return _OUT_OF_CALLS
        if aligned.aligned is not True:
            return aligned
        said: list[Aligned | None] = [aligned]
        if self._prompter.subtask(state):
            said.append(await self._ask(state, "subtask", view, changed, calls, _subtask))
        said.append(await self._ask(state, "task", view, changed, calls, _task))
        return _joined([one for one in said if one is not None])

    async def _shown(
        self, state: RunState, observation: Observation, fast: bool, calls: list[int]
    ) -> tuple[CleanObservation, str]:
        """Return the page as it is judged, and by what it was shortened."""
        clean = clean_of(observation)
        keep = state.shortened.elements
        if keep is None and tokens_of(clean) <= state.judgement_settings.summarise_above:
            return clean, ""
        subtask = self._prompter.subtask(state)
        if keep or fast or self._prompter.out_of_calls(state):
            words = (*state.objectives, subtask)
            return ranked(observation, words, keep=min(keep or RANKED, RANKED)), "ranking by the task's words"
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
_PARTS: dict[JudgementPart, tuple[str, str]] = {
    "aligned": ("aligned", "whether the action was right"),
    "subtask": ("subtask_done", "how the subtask stands"),
    "task": ("task_done", "whether the task is done"),
}
"""The field of each part, and what it says."""


def _asked_for(parts: tuple[JudgementPart, ...]) -> str:
    return " or ".join(_PARTS[part][1] for part in parts)


def _with_unclear(said: Judgement, *wanted: JudgementPart) -> Aligned:
    """Return what was said, with those of the wanted parts that it leaves open."""
    unclear = tuple(part for part in wanted if getattr(said, _PARTS[part][0]) is None)
    return Aligned(**(dict(said) | {"unclear": unclear}))


def _subtask(text: str) -> Aligned:
    said = read_subtask(text)
    done = None if said is None else said != "open"
    return _with_unclear(Judgement(subtask_done=done, needless=said == "needless"), "subtask")


def _task(text: str) -> Aligned:
    sentence = " ".join(split_thinking(text)[1].split())
    return _with_unclear(Judgement(task_done=read_yes_no(text), sentence=sentence), "task")


def _completed(first: Aligned, again: Aligned) -> Aligned:
    """Return the first reply with what only the second one says."""
    values = {_PARTS[part][0]: getattr(again, _PARTS[part][0]) for part in first.unclear}
    if "subtask" in first.unclear:
        values["needless"] = again.needless
    unclear = tuple(part for part in first.unclear if part in again.unclear)
    return first.replace(**values, unclear=unclear, sentence=first.sentence or again.sentence)


def _joined(said: Sequence[Aligned]) -> Aligned:
    """Return the answers to several questions as one; the sentence is the first one's."""
    return said[0].replace(
        subtask_done=next((one.subtask_done for one in said if one.subtask_done is not None), None),
        needless=any(one.needless for one in said),
        task_done=next((one.task_done for one in said if one.task_done is not None), None),
        unclear=tuple(part for one in said for part in one.unclear),
    )
