"""An LLM that only knows what its prompt shows: the rules LLM, given no more than the messages of a request say.

The rules LLM matches words of the data that the messages were made of. This one has that data cut to what stands in
the messages, or in the tools that are sent with them. So it obeys a prompt:

- The task, the subtask, notes, lessons and mistakes are known where the text has them.
- Of a page the elements are known whose lines the text has; of the steps before, those whose action it has.
- An action can be chosen where its name stands in the text or among the tools, and a value of it where that does.
- While a policy is at work it calls only the policies that its instruction or an example names. One that was called
  presses only the buttons that end a form which these name, or say to submit.
- An example of a policy whose page is the one in view is imitated: its kind of action is taken.
- Where exemplars are shown, only kinds of actions are taken that one of them shows.
- What it cannot see of a page it does not judge to have worked.
- It gives an action, or a verdict such as YES, in a form only where the text asks for that form.

It is an LLM without the missing part, not a broken one: it takes the next best action, or stops. The same request
always gets the same reply.
"""

import re
from collections.abc import Callable

from core.llm.rules.llm import RulesLLM
from core.llm.rules.page import is_submit
from core.schema.action_space import Choice, Parameter, Permissible, PermissibleAction
from core.schema.messages import LLMReply, LLMRequest, PromptView, Retry
from core.schema.observation import CleanObservation

_REF = re.compile(r"^\s*\[(\d+)\]")
_LINE = re.compile(r"^\s*\[\d+\] (.+)$", re.MULTILINE)
_ACTION = re.compile(r"^ACTION: (\w+)|\"name\": \"(\w+)\"", re.MULTILINE)
_VERDICT = re.compile(r"^(?:YES|NO|DONE|NEEDLESS|OPEN)$", re.MULTILINE)
_FORM = re.compile(r"ACTION:|\"actions\"")
_JUDGES = ("aligned", "subtask", "task")
_LEAST_LIKE = 3
"""Lines of an example's page from which on it can be taken for the one in view."""


class ObedientLLM:
    """Answers as the rules LLM would that knows only the text of a request."""

    name = "obedient"
    takes_images = False

    def __init__(self) -> None:
        self._rules = RulesLLM()

    async def reply(
        self,
        request: LLMRequest,
        *,
        on_text: Callable[[str], None] | None = None,
        on_retry: Callable[[Retry], None] | None = None,
    ) -> LLMReply:
        if request.view is None:
            return await self._rules.reply(request, on_text=on_text)
        prompt = "\n\n".join(message.text for message in request.messages)
        text = "\n".join(
            [prompt, *(one.model_dump_json() for one in request.tools), str(request.reply_schema or "")]
        )
        view = _shown(request.view, text)
        permissible = request.permissible and _obeyed(
            request, view, _offered(request.permissible, text), text
        )
        reply = await self._rules.reply(
            request.replace(view=view, permissible=permissible), on_text=on_text, on_retry=on_retry
        )
        own = request.messages[-1].text + (
            request.messages[0].text if request.messages[0].role == "system" else ""
        )
        if permissible is not None and request.purpose != "rationale" and not reply.tool_calls:
            asked = bool(request.reply_schema) or _FORM.search(own) is not None
            return reply if asked else reply.replace(text=_FORM.sub("", reply.text))
        if request.purpose in _JUDGES and not view.observation.elements:
            return reply.replace(
                text=_VERDICT.sub("NO" if request.purpose != "subtask" else "OPEN", reply.text)
            )
        return reply.replace(text=_VERDICT.sub(lambda word: word[0] if word[0] in own else "", reply.text))


# What is known


def _shown(view: PromptView, text: str) -> PromptView:
    """Return the data of a request as far as its text has it."""

    def known(words: str) -> str:
        return words if words and words in text else ""

    def all_known(several: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(filter(None, map(known, several)))

    return view.replace(
        objective=known(view.objective),
        observation=_page(view.observation, text),
        before=view.before and _page(view.before, text),
        history=tuple(
            turn.replace(result=known(turn.result))
            for turn in view.history
            if not turn.action or turn.action in text
        ),
        notes=all_known(view.notes),
        plan=all_known(view.plan),
        subtask=known(view.subtask),
        experience=all_known(view.experience),
        mistakes=tuple(one for one in view.mistakes if one.tried in text and one.right in text),
        action=known(view.action),
        target=known(view.target),
        result=known(view.result),
        raw="\n".join(line for line in view.raw.splitlines() if line.strip() in text),
        wanted=known(view.wanted),
        candidates=all_known(view.candidates),
    )


def _page(page: CleanObservation, text: str) -> CleanObservation:
    """Return a page with the elements whose lines the text has; boxes have no line, and are known with the others."""
    lines = page.text.splitlines()
    shown = [line for line in lines if line.strip() and line.strip() in text]
    hidden = {int(ref[1]) for line in lines if line not in shown and (ref := _REF.match(line))}
    elements = tuple(one for one in page.elements if one.ref not in hidden) if shown else ()
    return page.replace(elements=elements, text="\n".join(shown), url=page.url if page.url in text else "")


def _offered(permissible: Permissible, text: str) -> Permissible:
    """Return the actions whose names the text has, with the values that it has."""
    kept = [
        action.replace(parameters=tuple(_values(one, text) for one in action.parameters))
        for action in permissible.actions
        if re.search(rf"\b{action.name}\b", text)
    ]
    return permissible.replace(
        actions=tuple(one for one in kept if all(p.choices != () for p in one.parameters))
    )


def _values(parameter: Parameter, text: str) -> Parameter:
    if parameter.choices is None:
        return parameter
    of_elements = parameter.name == "target"
    kept = [
        Choice(
            value=one.value, label=one.label if of_elements or one.label in text else "", detail=one.detail
        )
        for one in parameter.choices
        if (f"[{one.value}]" if of_elements else one.value) in text
    ]
    return parameter.replace(choices=tuple(kept))


# What is obeyed


def _obeyed(request: LLMRequest, view: PromptView, permissible: Permissible, text: str) -> Permissible:
    """Return the actions that instruction, examples and exemplars let it take."""
    system = request.messages[0].text
    if view.policy:
        instruction, examples = _way_of_working(system)
        permissible = _by_policy(view, permissible, instruction + "".join(examples))
        return _as_example(view, permissible, examples)
    parts = [part for part in request.parts if part.kind == "exemplar"]
    shown = {
        verb
        for part in parts
        for message in request.messages[part.message : part.message + part.messages]
        if message.role == "assistant"
        for verb in _verbs(message.text)
    }
    kept = [one for one in permissible.actions if not parts or one.name in shown | {"stop"}]
    return permissible.replace(actions=tuple(kept))


def _verbs(reply: str) -> list[str]:
    return [one or other for one, other in _ACTION.findall(reply)]


def _way_of_working(system: str) -> tuple[str, list[str]]:
    """Return the instruction of the policy at work and its examples, as the system message has them."""
    instruction = re.search(r"How you work:\n(.*?)\n(?:Rules:|$)", system, re.DOTALL)
    examples = re.search(r"\nExamples:\n(.*)--- End of the examples", system, re.DOTALL)
    return instruction[1] if instruction else "", examples[1].split("\n--- ") if examples else []


def _by_policy(view: PromptView, permissible: Permissible, said: str) -> Permissible:
    words = said.casefold()
    unsaid = {
        str(one.ref)
        for one in view.observation.elements
        if view.called and is_submit(one) and one.name.casefold() not in words and "submit" not in words
    }

    def less(action: PermissibleAction) -> PermissibleAction | None:
        if action.origin == "policy":
            return action if action.name in said else None
        target = action.parameter("target")
        if action.name != "click" or target is None or target.choices is None:
            return action
        choices = tuple(one for one in target.choices if one.value not in unsaid)
        rest = tuple(one for one in action.parameters if one is not target)
        return action.replace(parameters=(target.replace(choices=choices), *rest)) if choices else None

    kept = [less(action) for action in permissible.actions]
    return permissible.replace(actions=tuple(one for one in kept if one is not None))


def _as_example(view: PromptView, permissible: Permissible, examples: list[str]) -> Permissible:
    """Return only the kind of action by which an example goes on from the page in view, if there is one."""
    page = set(_LINE.findall(view.observation.text))
    for example in examples:
        lines = _LINE.findall(example.partition("\nReply:")[0])
        verbs = _verbs(example.partition("\nReply:")[2])
        if len(lines) >= _LEAST_LIKE and verbs and set(lines) <= page:
            kept = [one for one in permissible.actions if one.name in verbs]
            return permissible.replace(actions=tuple(kept)) if kept else permissible
    return permissible
