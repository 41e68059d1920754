"""State abstraction by the LLM, or by a program that it writes.

After Synapse (Zheng et al. 2024): explicit abstraction is shown pairs of page and clean observation; implicit
abstraction is shown pairs of task and code, and the code runs on the page's HTML. The result is compared with
the page (`core.agent.abstraction_check`). If it fails the check, the LLM is asked for the clean observation
without pairs. If that fails too, the page is ranked without an LLM.
"""

import asyncio
import re
from typing import Literal

from core.agent.abstraction import clean_of, ranked_page, tokens_of
from core.agent.abstraction_check import left_out_in_view, part_refs, problem_of
from core.agent.prompt_builder import Prompter
from core.agent.state import RunState
from core.agent.world import World
from core.llm.replies import split_thinking, why_nothing
from core.sandbox.running import code_in, confinement, run_parser
from core.schema.errors import PromptTooLong
from core.schema.exemplar import AbstractionPair
from core.schema.messages import Message
from core.schema.observation import CleanObservation, Observation
from core.schema.step import Abstracted

_FENCE = re.compile(r"\A\s*```[^\n]*\n(.*?)\n?```\s*\Z", re.DOTALL)


def way_of(state: RunState) -> Literal["ranked", "explicit", "implicit"]:
    """Return how the page is shortened: as the preset says, or as the recalled exemplars have it."""
    how = state.abstraction_settings.how
    if how != "exemplars":
        return how
    exemplars = Prompter.exemplars(state)
    if any(exemplar.abstraction for exemplar in exemplars):
        return "explicit"
    return "implicit" if any(exemplar.parser for exemplar in exemplars) else "ranked"


class Abstractor:
    """Asks the LLM for clean observations. Its program is reused for the pages of its frame."""

    def __init__(self, prompter: Prompter) -> None:
        self._prompter = prompter

    async def explicit(self, state: RunState) -> Abstracted:
        """Return what the LLM left of the page, shown the pairs of the recalled exemplars.

        Raises LLMError and DataError.
        """
        pairs = tuple(pair for exemplar in self._prompter.exemplars(state) for pair in exemplar.abstraction)
        most = state.abstraction_settings.pairs
        shown = pairs[max(len(pairs) - most, 0) :]
        return await self._written(state, [shown, ()] if shown else [()])

    async def implicit(self, state: RunState, world: World) -> Abstracted:
        """Return what the LLM's program made of the page's HTML; if it fails, as `explicit` without pairs.

        A program that has failed is not kept. Raises LLMError and DataError.
        """
        confined = await asyncio.to_thread(confinement)
        if not confined.is_confined:
            reason = f"Programs written by an LLM are not run here: {confined.reason}"
            return await self._written(state, [()], reason)
        calls: list[int] = []
        code, known, problem = state.programs.get(state.frame, ""), True, ""
        html = await world.marked_html()
        if not code:
            code, problem = await self._program(state, html, calls)
            known = False
        if code:
            how = "the program from an earlier step" if known else "the program that the LLM wrote"
            parsed = await run_parser(code, html, task=self._prompter.objective(state))
            problem = parsed.error
            if not problem:
                made = _read(parsed.text, state.observation, how, calls)
                lost, problem = left_out_in_view(made.clean, state.observation)
                problem = self._problem_of(made.clean, state) or problem
                if not problem:
                    state.programs[state.frame] = code
                    left = f"{made.how}; left out of what is in view: {lost}" if lost else made.how
                    return made.replace(code=code, how=left)
                problem = f"The result of {how} was not used. {problem}"
        state.programs.pop(state.frame, None)
        fallback = await self._written(state, [()], problem, calls)
        return fallback.replace(code=code)

    async def _program(self, state: RunState, html: str, calls: list[int]) -> tuple[str, str]:
        """Return the program that the LLM writes, and why there is none."""
        if problem := self._prompter.out_of_calls(state):
            return "", problem
        # The exemplars of a family may share one program: it is shown with the task that is nearest.
        shown = {
            exemplar.parser: exemplar.task for exemplar in self._prompter.exemplars(state) if exemplar.parser
        }
        text = self._prompter.render(
            state, state.preset.prompts.parser, pairs=[(task, code) for code, task in shown.items()], raw=html
        )
        messages = (Message(role="user", text=text),)
        request = self._prompter.request(state, "parser", messages, raw=html)
        try:
            reply, number = await self._prompter.ask(state, request)
        except PromptTooLong as error:
            return "", str(error)
        calls.append(number)
        code = code_in(split_thinking(reply.text)[1])
        return code, "" if code else why_nothing(reply) or "The LLM's reply contains no program."

    async def _written(
        self,
        state: RunState,
        ways: list[tuple[AbstractionPair, ...]],
        problem: str = "",
        calls: list[int] | None = None,
    ) -> Abstracted:
        """Ask for the clean observation with each set of pairs in turn; rank the page if all fail.

        `problem` is the earlier failure.
        """
        problems, calls = [problem] if problem else [], [] if calls is None else calls
        for pairs in ways:
            if problem := self._prompter.out_of_calls(state):
                problems.append(problem)
                break
            if problems:
                problems.append("Instead, the LLM was asked for the clean observation, without examples.")
            text, why = await self._ask(state, pairs, calls)
            how = f"the LLM, shown {len(pairs)} pairs" if pairs else "the LLM, without examples"
            made = _read(text, state.observation, how, calls)
            problem = why or self._problem_of(made.clean, state)
            if not problem:
                return made.replace(problem=" ".join(problems))
            problems.append(f"The LLM's clean observation was not used. {problem}")
        problems.append("Instead, the page was ranked by the words of the task.")
        keep = state.abstraction_settings.keep
        made = ranked_page(
            state.observation, state.ranked_by, keep=min(keep, state.shortened.elements or keep)
        )
        return made.replace(problem=" ".join(problems), calls=tuple(calls))

    def _problem_of(self, clean: CleanObservation, state: RunState) -> str:
        done = [f"{turn.action} {turn.target}" for turn in state.history]
        return problem_of(clean, state.observation, self._prompter.objective(state), done=done)

    async def _ask(
        self, state: RunState, pairs: tuple[AbstractionPair, ...], calls: list[int]
    ) -> tuple[str, str]:
        raw = clean_of(state.observation).text
        system = self._prompter.render(state, state.preset.prompts.abstract)
        examples = [
            message
            for pair in pairs
            for message in (
                Message(role="user", text=f"Page:\n{pair.state}"),
                Message(role="assistant", text=pair.observation),
            )
        ]
        messages = (
            Message(role="system", text=system),
            *examples,
            Message(role="user", text=f"Page:\n{raw}"),
        )
        request = self._prompter.request(state, "abstract", messages, raw=raw)
        try:
            reply, number = await self._prompter.ask(state, request)
        except PromptTooLong as error:
            return "", str(error)
        calls.append(number)
        text = split_thinking(reply.text)[1]
        fenced = _FENCE.match(text)
        return (fenced[1] if fenced else text).rstrip(), why_nothing(reply)


def read_clean(text: str, observation: Observation) -> tuple[CleanObservation, str]:
    """Return the clean observation of a text, and the refs in it that the page does not have, as ``[4], [7]``.

    Its elements are those whose refs the text names.
    """
    named, _ = part_refs(text, observation)
    kept = tuple(element for element in observation.elements if element.ref in named)
    unknown = sorted(named - {element.ref for element in kept})
    clean = CleanObservation(
        url=observation.url,
        title=observation.title,
        elements=kept,
        text=text,
        left_out=len(observation.elements) - len(kept) + observation.omitted,
    )
    return clean, ", ".join(f"[{ref}]" for ref in unknown[:5]) + ("…" if len(unknown) > 5 else "")


def _read(text: str, observation: Observation, how: str, calls: list[int]) -> Abstracted:
    clean, _ = read_clean(text, observation)
    return Abstracted(clean=clean, tokens=tokens_of(clean), how=how, calls=tuple(calls))
