"""Carries out an exemplar's actions on its task again, to check whether it still succeeds."""

import asyncio
import time
from collections.abc import Callable, Iterable
from typing import Any

from core.agent.general_space import label_of
from core.agent.world import World
from core.debugger.evaluations.worth import sources_of
from core.debugger.exemplars.scripted import Look, Script, perform
from core.debugger.exemplars.trying.views import ReplayResult
from core.debugger.headless import ALLOW, answer_by
from core.environments.registry import Environments
from core.exemplars.library.records import Provenance
from core.exemplars.placeholders import values_in, with_values
from core.schema.action import Action, RefTarget, RoleTarget, Type
from core.schema.action_space import Permissible
from core.schema.action_text import parse_action
from core.schema.element_identity import find_by_line
from core.schema.errors import ActionError, DataError, NotInTraceError, UsageError
from core.schema.exemplar import Exemplar, ExemplarStep
from core.schema.observation import HIDDEN_TEXT, Observation, Ref, is_hidden
from core.schema.restore import Sent
from core.schema.secrets import names_in, variable_of
from core.schema.task import Task
from core.settings.settings import OnGate
from core.trace.records import RunRow
from core.trace.store import TraceStore

WorldOf = Callable[[Task], World]


async def replay(
    exemplar: Exemplar,
    provenance: Provenance,
    version: int,
    *,
    environments: Environments,
    world_of: WorldOf,
    store: TraceStore | None,
    on_gate: OnGate = "refuse",
    on_look: Callable[[str], None] = lambda _said: None,
) -> ReplayResult:
    """Open the task of an exemplar, repeat its actions and have the result judged.

    Unless the rule is to allow it, it stops before an action or request that cannot be undone. Nothing is
    stored in the trace. The result says what could not be tried, and which elements were not found for
    certain. Raises WorldError if the browser fails.
    """
    result = ReplayResult(id=exemplar.id, version=version, when=time.time())
    try:
        task, seed = source_of(exemplar, provenance, environments, store)
    except (UsageError, DataError) as error:
        return result.replace(problem=str(error))
    result = result.replace(task=task.id, seed=seed)
    world = world_of(task)
    world.ask = answer_by(on_gate)
    guessed: list[str] = []
    looks, at, held = 0, 0, ""

    async def may_leave(sent: Sent) -> bool:
        nonlocal held
        held = held or f"It was stopped before it sent {sent}, which cannot be undone. {ALLOW}"
        return False

    def script(instruction: str, page: Observation) -> Script:
        nonlocal looks, at, held
        values = values_in(exemplar.task, instruction)
        if values is None:
            asked = " ".join(instruction.split())
            raise ActionError(f"The task asks for something else at this seed: {asked[:200]}")
        for step in with_values(exemplar, values).steps:
            at += 1
            on_look(f"step {at} of {len(exemplar.steps)}")
            actions = on_page(step, page, guessed.append)
            held = held or ("" if on_gate == "allow" else _held(world, task, actions, page))
            if held:
                raise ActionError(held)
            looks += 1
            page = yield Look(thought=step.thought, actions=tuple(map(str, actions)))
            if held:
                raise ActionError(held)
        at = 0

    names = {name for one in exemplar.steps for action in one.actions for name in names_in(action)}
    for name in names - set(task.secrets):
        if value := await asyncio.to_thread(world.find_secret, variable_of(name)):
            world.know_secret(task, name, value)
    # A task of a seed, and a site of ours, are started again with each replay.
    free = on_gate == "allow" or task.seeded or world.keeper is not None
    try:
        recorded = await perform(world, task, seed, script, before_sending=None if free else may_leave)
    except UsageError as error:
        return result.replace(problem=str(error))
    return result.replace(
        success=None if recorded.unjudged or held else not recorded.problem,
        looks=looks,
        stopped_at=at,
        problem=held or recorded.problem,
        guessed=tuple(guessed),
        when=time.time(),
    )


def _held(world: World, task: Task, actions: Iterable[Action], page: Observation) -> str:
    """Return why one of these actions is not carried out, as it cannot be undone, or nothing."""
    for action in actions:
        label = label_of(page, action)
        reason = world.gates.reason(action, label, Permissible(), task.environment)
        if reason is not None:
            return f"It was stopped before {action} on {label}: {reason}, which cannot be undone. {ALLOW}"
    return ""


def source_of(
    exemplar: Exemplar, provenance: Provenance, environments: Environments, store: TraceStore | None
) -> tuple[Task, int]:
    """Return the task and seed that an exemplar came from; raises UsageError if that is not known, and DataError."""
    row = _run(provenance, store)
    found = sources_of([exemplar])
    if row is not None and (not found or found[0] == (row.task, row.seed)):
        if row.environment == "web":
            return environments.find(row.task, url=row.start_url, instruction=row.instruction), row.seed
        return environments.find(row.task), row.seed
    if not found:
        raise UsageError("Its source names no task. Add one, such as “miniwob/click-button seed 3”.")
    task, seed = found[0]
    return environments.find(task), seed


def _run(provenance: Provenance, store: TraceStore | None) -> RunRow | None:
    if provenance.run is None or store is None:
        return None
    try:
        return store.run(provenance.run)
    except NotInTraceError:
        return None


OnGuess = Callable[[str], None]


def on_page(step: ExemplarStep, page: Observation, on_guess: OnGuess) -> tuple[Action, ...]:
    """Return a look's actions with the refs of `page`; `on_guess` gets each that is not certain.

    Raises ActionSyntaxError, and ActionError if an element is not there or
    it is not clear which one it is.
    """
    found: list[Action] = []
    for text in step.actions:
        action = parse_action(text)
        if isinstance(action, Type) and is_hidden(action.text):
            raise ActionError(f"It was stopped before {action}: {HIDDEN_TEXT}")
        changes: dict[str, Any] = {}
        for name in ("target", "to"):
            target = getattr(action, name, None)
            if isinstance(target, RefTarget):
                changes[name] = RefTarget(ref=_found(action, target.ref, step, page, on_guess))
            elif isinstance(target, RoleTarget):
                changes[name] = RefTarget(ref=_named(action, target, page))
        found.append(action.replace(**changes))
    return tuple(found)


def _found(action: Action, ref: Ref, step: ExemplarStep, page: Observation, on_guess: OnGuess) -> Ref:
    found = find_by_line(step.observation, ref, page.elements)
    if found.element is None:
        raise ActionError(f"{action}: {found.problem}.")
    if found.guess:
        on_guess(f"{action}: {found.guess}")
    return found.element.ref


def _named(action: Action, target: RoleTarget, page: Observation) -> Ref:
    fits = [
        element.ref for element in page.elements if (element.role, element.name) == (target.role, target.name)
    ]
    if len(fits) != 1:
        raise ActionError(f"{action}: {len(fits)} elements of the page are {target}.")
    return fits[0]
