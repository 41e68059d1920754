"""What an exemplar does at one step: the step's question asked again with all exemplars, and with each left out.

What is attributed to an exemplar is by how much likelier the step's own action
is answered with it than without it: leave-one-out, as context attribution does it
(B. Cohen-Wang et al., ContextCite, NeurIPS 2024, compare leaving one source out).
"""

import contextlib
import time
from collections.abc import Callable, Iterable, Sequence

from pydantic import ValidationError

from core.agent.llm_calls import Answerer
from core.debugger.ask_again.prompt_parts import Item, dropped, found_again
from core.debugger.ask_again.repeat import ask_again, deciding_call, goes_by_data
from core.debugger.ask_again.views import Attribution, Question, WhatIf
from core.memory.library.store import Library
from core.schema.errors import UsageError
from core.schema.messages import Message
from core.trace.store import TraceStore


async def attribute_step(
    store: TraceStore,
    llm: Answerer,
    run: int,
    step: int,
    *,
    times: int,
    temperature: float | None = None,
    only: Sequence[str] = (),
    on_answers: Callable[[WhatIf], None] = lambda so_far: None,
) -> tuple[Attribution, ...]:
    """Return the attributions of a step's exemplars, or of those of `only`.

    All answers are stored with the step, as any that is asked again. Raises
    UsageError where the step had no exemplars or they are not found in the prompt,
    and TraceError.
    """
    if goes_by_data(llm, "decide"):
        raise UsageError("The built-in LLM reads no exemplars: choose another LLM to ask.")
    detail = store.step(run, step)
    prompt = store.prompt(deciding_call(detail))
    items = found_again(prompt.messages, prompt.parts, list(enumerate(prompt.messages)))
    chosen = [
        place
        for place, one in enumerate(items)
        if one.part.kind == "exemplar" and one.state != "lost" and (not only or one.part.id in only)
    ]
    missing = sorted(set(only) - {items[place].part.id for place in chosen})
    if missing:
        raise UsageError(f"The prompt of step {step} of run {run} has no exemplar {missing[0]}.")
    if not chosen:
        raise UsageError(f"The prompt of step {step} of run {run} has no exemplars: none can have a credit.")

    async def asked(messages: tuple[Message, ...]) -> WhatIf:
        question = Question(run=run, step=step, messages=messages, temperature=temperature, count=times)
        return await ask_again(store, llm, question, on_answer=on_answers)

    whole = await asked(())
    success = store.run(run).verdict.success
    found: list[Attribution] = []
    for place in chosen:
        without = await asked(dropped(prompt.messages, items, place).messages)
        found.append(_attribution(store, items[place], whole, without, success))
    return tuple(found)


def kept_attributions(
    library: Library, ids: Iterable[str] = (), *, limit: int = 5000
) -> tuple[Attribution, ...]:
    """Return the attributions that are kept, of a step asked about more than once the last; raises LibraryError."""
    found: dict[tuple[object, ...], Attribution] = {}
    for _, content in library.proofs("credit", ids, limit=limit):
        with contextlib.suppress(ValidationError):  # One that a later program has written.
            one = Attribution.model_validate_json(content)
            found[one.id, one.trace, one.run, one.step, one.llm, one.temperature] = one
    return tuple(found.values())


def _attribution(
    store: TraceStore, item: Item, whole: WhatIf, without: WhatIf, success: bool | None
) -> Attribution:
    with_same, with_all = _counted(whole)
    without_same, without_all = _counted(without)
    return Attribution(
        id=item.part.id,
        family=item.part.family,
        trace=str(store.path.absolute()),
        run=whole.run,
        step=whole.step,
        llm=whole.llm,
        temperature=whole.temperature,
        action=whole.recorded,
        with_same=with_same,
        with_all=with_all,
        without_same=without_same,
        without_all=without_all,
        when=time.time(),
        success=success,
    )


def _counted(asked: WhatIf) -> tuple[int, int]:
    """Return how many answers were the step's own action, and how many came at all, usable or not."""
    came = [one for one in asked.answers if one.action or one.thought or one.tokens]
    return sum(one.action == asked.recorded for one in came), len(came)
