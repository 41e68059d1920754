"""Records an exemplar: opens a task, runs a script, and saves the result if it is judged a success.

A script is a list of actions by a person, or computes them from the page. No agent takes part, and nothing is
stored in the trace.
"""

from collections.abc import AsyncIterator, Callable, Generator, Iterable
from contextlib import asynccontextmanager, nullcontext
from typing import Any

from pydantic import Field

from core.agent.abstraction import clean_of
from core.agent.gates import GATES, Gates, load_gates
from core.agent.world import World
from core.browser.actor import Actor
from core.browser.capturer import Capturer
from core.browser.channel import PageGone
from core.browser.driver import TabDriver
from core.browser.host import BrowserHost
from core.browser.sent_requests import Ask
from core.browser.tabs import Tabs
from core.environments.registry import Environments
from core.schema.action import Action, FocusTarget, RefTarget, RoleTarget, Stop
from core.schema.action_text import parse_action
from core.schema.errors import ActionError, ActionSyntaxError, BackstepError, BrowserError, UsageError
from core.schema.exemplar import AbstractionPair, Exemplar, ExemplarStep
from core.schema.hiding import Secrets
from core.schema.observation import Observation, Ref
from core.schema.record import Record
from core.schema.task import Episode, Task, Verdict
from core.schema.viewport import VIEWPORT

LOOKS = 100
"""Looks at the page after which a script that does not end is given up."""


class Look(Record):
    """The actions after one look at the page."""

    thought: str = ""
    """Why, in one sentence."""
    actions: tuple[str, ...] = Field(min_length=1)
    """In the text form of actions; a target is a ref of the page, or the role and name of one element."""
    needs: tuple[Ref, ...] = ()
    """Elements that the decision rests on, besides those that are acted on."""


Script = Generator[Look, Observation, None]
"""Yields looks and is sent the page after each; it ends where the task does.

It may raise ActionError or ActionSyntaxError if it cannot continue.
"""
ScriptOf = Callable[[str, Observation], Script]
"""Makes the script from the instruction and the page as it opens."""


class RecordedExemplar(Record):
    """What a script did, and where it left the page."""

    steps: tuple[ExemplarStep, ...]
    abstraction: tuple[AbstractionPair, ...]
    instruction: str
    page: Observation
    problem: str = ""
    """Why it is not an exemplar, in a sentence; nothing for a success."""
    unjudged: bool = False
    """Whether everything was carried out, but could not be judged."""


def written(looks: Iterable[Look]) -> ScriptOf:
    """Return the script that does these looks whatever the page shows."""
    kept = tuple(looks)

    def script(instruction: str, page: Observation) -> Script:
        # A generator, as a tuple cannot be sent the pages.
        yield from (look for look in kept)

    return script


@asynccontextmanager
async def open_world(
    host: BrowserHost, environments: Environments, task: Task, viewport: tuple[int, int] = VIEWPORT
) -> AsyncIterator[World]:
    """Start a browser for tasks of one environment and release it; raises BrowserError."""
    tabs = Tabs(host)
    await tabs.browser.start()
    try:
        yield world_for(tabs, environments, task, viewport=viewport)
    finally:
        await tabs.browser.close()


def world_for(
    tabs: Tabs,
    environments: Environments,
    task: Task,
    gates: Gates | None = None,
    *,
    viewport: tuple[int, int] = VIEWPORT,
) -> World:
    """Return the browser and the environment of a task, for what goes into no trace.

    `viewport` is the size of its pages unless the task says one.
    """
    return World(
        tabs=tabs,
        actor=Actor(tabs),
        capturer=Capturer(pictures=False),
        environment=environments.environment_of(task),
        gates=gates or load_gates(GATES),
        viewport=viewport,
    )


async def perform(
    world: World, task: Task, seed: int, script_of: ScriptOf, *, before_sending: Ask | None = None
) -> RecordedExemplar:
    """Open the task in a clean profile, carry the script out and have it judged.

    `before_sending` is asked whether what the actions send may leave. What goes
    wrong in the page is reported in `problem`. Raises UsageError, ActionError
    or WorldError where the task cannot be opened or read.
    """
    world.capturer.hidden = world.environment.hidden_selectors
    world.begin(task)
    task = await world.declare_secrets(task, Secrets())
    try:
        await world.tabs.open_profile(viewport=task.viewport or world.viewport)
        episode = await world.environment.open(task, seed, TabDriver(world.tabs))
        page = (await world.read()).observation
    except PageGone as error:
        raise BrowserError(
            f"The page of {task.id} went away while it was being opened; try again."
        ) from error
    world.bound(episode, [])
    async with world.tabs.held(before_sending) if before_sending is not None else nullcontext():
        return await _carried_out(world, episode, page, script_of)


async def _carried_out(
    world: World, episode: Episode, page: Observation, script_of: ScriptOf
) -> RecordedExemplar:
    driver = TabDriver(world.tabs)
    script = script_of(episode.instruction, page)
    steps: list[ExemplarStep] = []
    pairs: list[AbstractionPair] = []
    answer, is_over = "", False
    look, problem = _next(script, None)
    while look is not None and not problem:
        if is_over and _only_stops(look):
            break  # The page has ended the task, which is what was left to be done.
        if is_over or len(steps) == LOOKS:
            problem = (
                "The task ended before the script." if is_over else "The script does not end with a stop."
            )
            break
        try:
            actions = _with_refs(look.actions, page)
        except (ActionError, ActionSyntaxError) as error:
            problem = str(error)
            break
        steps.append(
            ExemplarStep(
                observation=clean_of(page).text, thought=look.thought, actions=tuple(map(str, actions))
            )
        )
        pairs += _pairs(page, look, actions)
        for action in actions:
            if isinstance(action, Stop):
                answer, is_over = answer if is_over else action.answer, True
                continue
            if is_over:
                problem = f"The task ended before {action}."
                break
            if problem := await _act(world, action):
                break
            is_over = await world.episode_ended()
        try:
            page = (await world.read()).observation
        except (PageGone, BrowserError) as error:
            problem = problem or str(error) or "The page went away."
            break
        if not problem:
            look, problem = _next(script, page)
    script.close()
    unjudged = False
    if not problem:
        try:
            verdict = await world.environment.judge(episode, driver, answer)
        except (BackstepError, PageGone) as error:
            verdict = Verdict(reason=f"The judge failed: {str(error) or 'the page went away.'}")
        unjudged = verdict.success is None
        if verdict.success is not True:
            problem = f"It was not judged a success. {verdict.reason}".strip()
    return RecordedExemplar(
        steps=tuple(steps),
        abstraction=tuple(pairs),
        instruction=episode.instruction,
        page=page,
        problem=problem,
        unjudged=unjudged,
    )


def exemplar_of(
    recorded: RecordedExemplar, task: Task, seed: int, *, family: str = "", parser: str = ""
) -> Exemplar:
    """Return a recorded success as an exemplar; raises UsageError for what is none."""
    if recorded.problem or not recorded.steps:
        reason = recorded.problem or "Nothing was done."
        raise UsageError(f"{task.id}, seed {seed}, did not become an exemplar: {reason}")
    name = task.id.removeprefix(f"{task.environment}/")
    return Exemplar(
        id=f"{task.id.lower()}/{seed}",
        family=family or name,
        task=recorded.instruction,
        environment=task.environment,
        steps=recorded.steps,
        abstraction=recorded.abstraction,
        parser=parser,
        source=f"{task.id} seed {seed}",
    )


def _only_stops(look: Look) -> bool:
    try:
        return all(isinstance(parse_action(text), Stop) for text in look.actions)
    except ActionSyntaxError:
        return False


def _next(script: Script, page: Observation | None) -> tuple[Look | None, str]:
    """Return the next look, None at the end, and why the script cannot continue."""
    try:
        return (next(script) if page is None else script.send(page)), ""
    except StopIteration:
        return None, ""
    except (ActionError, ActionSyntaxError) as error:
        return None, str(error)


async def _act(world: World, action: Action) -> str:
    """Carry out one action of the page and wait; returns why it failed, or nothing."""
    if not action.in_page:
        return ""
    before = world.tabs.mark()
    try:
        await world.actor.act(action)
        await world.tabs.settle(before)
    except (ActionError, BrowserError, PageGone) as error:
        return f"{action} failed: {error}"
    return ""


def _with_refs(texts: Iterable[str], page: Observation) -> tuple[Action, ...]:
    """Return the actions with the refs of this page in place of roles and names.

    Raises ActionSyntaxError, and ActionError for a target that the page does
    not have or has twice.
    """
    found: list[Action] = []
    for text in texts:
        action = parse_action(text)
        changed: dict[str, Any] = {
            name: RefTarget(ref=_ref(target, page, text))
            for name in ("target", "to")
            if not isinstance(target := getattr(action, name, None), FocusTarget | None)
        }
        found.append(action.replace(**changed))
    return tuple(found)


def _ref(target: object, page: Observation, text: str) -> Ref:
    if isinstance(target, RefTarget):
        if page.element(target.ref) is None:
            raise ActionError(f"{text}: the page shows no element [{target.ref}] at this step.")
        return target.ref
    if not isinstance(target, RoleTarget):
        raise ActionError(f"{text}: exemplars name elements by number, or by role and name.")
    fits = [
        element.ref for element in page.elements if (element.role, element.name) == (target.role, target.name)
    ]
    if len(fits) != 1:
        raise ActionError(f"{text}: {len(fits)} elements of the page are {target}; give a number instead.")
    return fits[0]


def _pairs(page: Observation, look: Look, actions: Iterable[Action]) -> Iterable[AbstractionPair]:
    """Return the whole page with the lines that the look needs of it, if it needs any."""
    wanted = set(look.needs)
    for action in actions:
        wanted |= {target.ref for target in action.targets if isinstance(target, RefTarget)}
    kept = [element.line() for element in page.elements if element.ref in wanted]
    if kept:
        yield AbstractionPair(state=page.lines(), observation="\n".join(kept))
