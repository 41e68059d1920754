"""decide: from the page to a thought and an action, in one LLM call or two, with one repair turn."""

from collections.abc import Iterable

from core.agent.asking import Asker
from core.agent.knowledge import Knowledge
from core.agent.outlines import outlined
from core.agent.policies.prompting import FramePrompt, frame_prompt
from core.agent.records import Decided, Proposal
from core.agent.state import RunState
from core.llm.protocol import (
    Image,
    LLMRequest,
    Message,
    PromptView,
    Purpose,
    Sampling,
    Tool,
    Turn,
)
from core.llm.repair import read_reply, repair_messages


class Decider:
    """Builds the requests of a preset and reads the replies."""

    def __init__(self, knowledge: Knowledge, asker: Asker) -> None:
        self._knowledge = knowledge
        self._asker = asker

    async def decide(self, state: RunState) -> Decided:
        """Return the step's proposal; a reply that cannot be used is repaired once, then told as the problem.

        No call goes beyond the budget: without a call left the proposal's
        problem says so. Raises LLMError and DataError.
        """
        queued = self._from_queue(state)
        if queued is not None:
            return queued
        if state.recognised is not None and state.recognised.over:
            return Decided(proposal=Proposal(problem=state.recognised.over))
        if state.calls_left < state.preset.calls:
            return Decided(proposal=Proposal(problem=self._out_of_calls(state)))
        calls: list[int] = []
        if state.preset.calls == 2:
            request, thought = await self._rationale(state, calls)
        else:
            request, thought = self._one_call(state), ""
        reply, number = await self._asker.ask(state, request)
        calls.append(number)
        proposal, queue = read_reply(reply, request, state.preset.reply_format)
        if proposal.problem and state.calls_left:
            repair = repair_messages(request, reply, proposal.problem)
            reply, number = await self._asker.ask(state, repair)
            calls.append(number)
            proposal, queue = read_reply(reply, request, state.preset.reply_format)
        if thought:
            proposal = proposal.model_copy(update={"thought": thought})
        if not state.preset.several_actions:
            queue = ()
        return Decided(proposal=proposal, queue=queue, calls=tuple(calls))

    @staticmethod
    def _out_of_calls(state: RunState) -> str:
        return f"The run has used its {state.budget.llm_calls} LLM calls; raise max_llm_calls for more."

    @staticmethod
    def _from_queue(state: RunState) -> Decided | None:
        if not state.queue:
            return None
        if state.observation.document != state.queue_url or state.permissible.problem(state.queue[0]):
            state.queue.clear()
            return None
        action = state.queue[0]
        proposal = Proposal(action=action, thought=state.last_proposal.thought)
        return Decided(proposal=proposal, queue=tuple(state.queue[1:]), from_queue=True)

    async def _rationale(self, state: RunState, calls: list[int]) -> tuple[LLMRequest, str]:
        files = state.preset.prompts
        system = self._render(state, files.system)
        user = self._render(state, files.user) + "\n\n" + self._render(state, files.rationale)
        first = self._request(state, "rationale", self._messages(state, system, user, "rationale"))
        reply, number = await self._asker.ask(state, first)
        calls.append(number)
        thought = reply.text.strip()
        messages = (
            *self._messages(state, system, user, "function"),
            Message(role="assistant", text=thought or "(an empty reply)"),
            Message(role="user", text=self._render(state, files.function)),
        )
        return self._with_actions(state, self._request(state, "function", messages)), thought

    def _one_call(self, state: RunState) -> LLMRequest:
        files = state.preset.prompts
        user = self._render(state, files.user)
        if files.one_call:
            user += "\n\n" + self._render(state, files.one_call)
        messages = self._messages(state, self._render(state, files.system), user, "decide")
        return self._with_actions(state, self._request(state, "decide", messages))

    def _messages(self, state: RunState, system: str, user: str, purpose: Purpose) -> tuple[Message, ...]:
        return (
            Message(role="system", text=system),
            Message(role="user", text=user, images=self._images(state, purpose)),
        )

    def _images(self, state: RunState, purpose: Purpose) -> tuple[Image, ...]:
        capture = state.capture
        if state.preset.pictures == "none" or capture is None or not capture.screenshot:
            return ()
        if not self._asker.takes_images(purpose):
            return ()
        if state.preset.pictures == "plain":
            return (Image(data=capture.screenshot),)
        return (
            Image(data=outlined(capture.screenshot, state.observation, targets(state)), mime="image/png"),
        )

    def _request(self, state: RunState, purpose: Purpose, messages: tuple[Message, ...]) -> LLMRequest:
        assert state.clean is not None
        frame = self._frame(state)
        return LLMRequest(
            purpose=purpose,
            messages=messages,
            permissible=state.permissible,
            view=PromptView(
                objective=frame.objective if frame is not None else state.episode.instruction,
                observation=state.clean,
                history=frame.history if frame is not None else self._history(state),
                notes=frame.notes if frame is not None else tuple(state.notes),
            ),
            sampling=state.preset.sampling.get(purpose, Sampling()),
        )

    def _with_actions(self, state: RunState, request: LLMRequest) -> LLMRequest:
        if state.preset.reply_format != "tools":
            return request
        tools = tuple(
            Tool(name=action.name, description=action.description, parameters=action.json_schema())
            for action in state.permissible.actions
        )
        return request.model_copy(update={"tools": tools, "tool_choice": "required"})

    def _frame(self, state: RunState) -> FramePrompt | None:
        """Return what the policy at work is asked, or None where none is."""
        if state.stack.top is None or not state.is_on("policies"):
            return None
        policies = self._knowledge.policies
        policy = policies.get(state.stack.top.policy)
        callables = policies.callable_from(policy, state.episode.task.environment, state.observation.url)
        return frame_prompt(
            state.stack,
            policy,
            callables,
            state.permissible,
            reply_format=state.preset.reply_format,
            history=state.preset.history,
        )

    @staticmethod
    def _history(state: RunState) -> tuple[Turn, ...]:
        return tuple(state.history[-state.preset.history :]) if state.preset.history else ()

    def _render(self, state: RunState, template: str) -> str:
        recognised = state.recognised
        here = state.space_state[1] if state.space_state is not None else None
        remembered = state.memory.remembered
        frame = self._frame(state)
        return self._knowledge.prompts.render(
            template,
            objective=frame.objective if frame is not None else state.episode.instruction,
            page=state.clean,
            tabs=state.observation.tabs,
            history=frame.history if frame is not None else self._history(state),
            notes=frame.notes if frame is not None else state.notes,
            permissible=state.permissible,
            left_out=state.permissible.left_out,
            reply_format=state.preset.reply_format,
            several=state.preset.several_actions,
            space=recognised.space if recognised else "",
            state=recognised.state if recognised else "",
            state_why=recognised.why if recognised else "",
            instruction=here.instruction.strip() if here is not None else "",
            layout=here.layout.strip() if here is not None else "",
            shown={name: remembered[name] for name in here.shows if name in remembered} if here else {},
            **({"frame": frame} if frame is not None else {}),
        )


def targets(state: RunState) -> Iterable[int]:
    """Return the refs that permissible actions name, each once, in page order."""
    seen: dict[int, None] = {}
    for action in state.permissible.actions:
        parameter = action.parameter("target")
        if action.name not in ("click", "type", "select", "check", "upload", "drag"):
            continue
        for choice in (parameter.choices or ()) if parameter else ():
            seen.setdefault(int(choice.value))
    return seen
