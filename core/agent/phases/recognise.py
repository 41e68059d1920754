"""recognise: the state of the page, and its permissible actions.

It starts with the state's actions, or with all that the page offers if no state space applies. Then it
removes what the file of the policy at work does not allow, and adds the policies that it can call.
"""

from collections.abc import Callable

from core.agent.general_space import permissible_of
from core.agent.policies.prompt import permissible_in
from core.agent.policies.stack import Frame, Stack, place_of_page
from core.agent.resources import AgentResources
from core.agent.spaces.choice import as_instructed, choice_of, is_due
from core.agent.spaces.file import SpaceState, StateSpace
from core.agent.spaces.reading import noticed
from core.agent.spaces.recognition import offered_actions, recognise_state
from core.agent.state import RunState
from core.agent.world import World
from core.schema.action_space import Permissible, PermissibleAction
from core.schema.step import Diagram, DiagramEdge, Fit, FrameRecord, Recognised, StackRecord


async def recognise(
    state: RunState, world: World, resources: AgentResources, *, pictures: bool = False
) -> Recognised:
    """Find the state and list the permissible actions; `pictures` is whether the LLM sees a picture of the page.

    Raises DataError and UsageError if a file it uses is wrong or missing.
    """
    back, forward = await world.history()
    return recognise_page(state, resources, back=back, forward=forward, pictures=pictures)


def recognise_page(
    state: RunState, resources: AgentResources, *, back: int, forward: int, pictures: bool
) -> Recognised:
    """Do the same for a page of which it is known how many pages lie behind and before it; raises the same."""
    whole = permissible_of(state.observation, back=back, forward=forward, pictures=pictures)
    state.offered = tuple(action.name for action in whole.actions)
    wanted = state.preset.actions or state.offered
    offered = whole.replace(actions=tuple(one for one in whole.actions if one.name in wanted))
    found = _in_space(state, resources, offered)
    permissible = _in_policy(state, resources, found.permissible, offered)
    permissible = _also_permitted(state, permissible, whole)
    works = state.is_on("policies") and state.stack.top
    stack = stack_record(state.stack, resources.policies.path_of) if works else None
    state.recognised = found.replace(permissible=permissible, stack=stack)
    return state.recognised


# State spaces


def _in_space(state: RunState, resources: AgentResources, offered: Permissible) -> Recognised:
    space = _space_for(state, resources)
    state.space_state = None
    if space is None:
        return _anywhere(state, offered)
    recognition = recognise_state(space, state.observation)
    if state.forced_state and space.state_named(state.forced_state) is not None:
        by_page = recognition.state or "no state of it"
        recognition = recognition.replace(
            state=state.forced_state, why=f"You set this state; by the page it is {by_page}."
        )
    if recognition.state is None:
        anywhere = _anywhere(state, offered, space=space, why=recognition.why, fits=recognition.fits)
        # The budget holds on a page of no state too, such as one that could not be loaded.
        if is_due(space, state.memory):
            return _at_the_budget(state, space, SpaceState(name=anywhere.state, url="."), anywhere)
        return anywhere
    here = space.state_named(recognition.state)
    assert here is not None
    html = state.capture.html if state.capture is not None else ""
    state.memory = noticed(state.memory.arrived(here.name), here, state.observation, html, step=state.number)
    own = offered_actions(here, state.observation, html, state.memory)
    actions = own + _beside(space, here.page_actions, own, offered)
    recognised = Recognised(
        space=space.name,
        state=here.name,
        why=recognition.why,
        also=recognition.also,
        fits=recognition.fits,
        memory=state.memory,
        permissible=Permissible(actions=actions, left_out=offered.left_out if here.page_actions else 0),
    )
    return _at_the_budget(state, space, here, recognised)


def _at_the_budget(
    state: RunState, space: StateSpace, here: SpaceState, recognised: Recognised
) -> Recognised:
    """Return what holds in the state by the space's budget, with the diagram of the space."""
    permissible, note, over = choice_of(space, here, state.memory, state.observation, recognised.permissible)
    here = as_instructed(space, here, state.memory, permissible)
    state.space_state = (space, here)
    return recognised.replace(
        why=f"{recognised.why} {note}".strip(),
        budget_note=note,
        over=over,
        diagram=_diagram(space, here),
        permissible=permissible,
    )


def _diagram(space: StateSpace, here: SpaceState | None) -> Diagram:
    edges = (
        DiagramEdge(source=state.name, action=action.name, target=target)
        for state in space.state
        for action in state.action
        for target in action.leads_to
    )
    return Diagram(
        title=space.title,
        file=space.path,
        states=tuple((state.name, state.title, state.stops) for state in space.state),
        edges=tuple(edges),
        transitions=space.backup.transitions if space.backup is not None else None,
        choose_at=space.backup.choose_at if space.backup is not None else None,
        instruction=here.instruction.strip() if here is not None else "",
    )


def _space_for(state: RunState, resources: AgentResources) -> StateSpace | None:
    if not state.is_on("states"):
        return None
    # Switched on where the preset has none, the space is the one that is meant for the page.
    wanted = "auto" if state.preset.space == "none" else state.preset.space
    if wanted == "general":
        return None
    if wanted == "auto":
        return resources.spaces.for_page(state.episode.task.environment, state.observation.url)
    return resources.spaces.get(wanted)


def _anywhere(
    state: RunState,
    offered: Permissible,
    *,
    space: StateSpace | None = None,
    why: str = "",
    fits: tuple[Fit, ...] = (),
) -> Recognised:
    """Return what holds on a page of no particular kind."""
    count = sum(1 for element in state.observation.elements if element.uses)
    what = "1 usable element" if count == 1 else f"{count} usable elements"
    if not state.is_on("states"):
        name, said = (
            "none",
            f"This preset has no states: every page offers all its actions. This one has {what}.",
        )
    else:
        name, said = "general", f"The general space has one state for all pages. This one has {what}."
    if offered.left_out:
        said += f" {offered.left_out} of them are not in the prompt."
    return Recognised(
        space=name,
        state="page",
        why=f"{why} {said}".strip(),
        fits=fits,
        memory=state.memory,
        diagram=_diagram(space, None) if space is not None else None,
        permissible=offered,
    )


def _beside(
    space: StateSpace, page_actions: bool, own: tuple[PermissibleAction, ...], offered: Permissible
) -> tuple[PermissibleAction, ...]:
    """Return what of the page's own actions stays permissible besides the state's."""
    if page_actions:
        return offered.actions
    names = ("stop",) if space.may_stop or not own else ()
    return tuple(action for action in offered.actions if action.name in names)


def _also_permitted(state: RunState, permissible: Permissible, offered: Permissible) -> Permissible:
    """Return what is permissible with what a person permits next to it in this step."""
    more = (offered.action(name) for name in state.also_permitted if permissible.action(name) is None)
    found = tuple(one for one in more if one is not None)
    return permissible.replace(actions=(*permissible.actions, *found)) if found else permissible


# Policies


def _in_policy(
    state: RunState, resources: AgentResources, permissible: Permissible, offered: Permissible
) -> Permissible:
    """Return what of `permissible` the policy at work may do, with the policies it may call.

    A called policy may stop wherever it is: that gives its caller an answer,
    and does not end the run, which is what a state forbids by leaving it out.
    Any policy may take notes there: that touches no page.
    At the budget no policy takes part: what is permissible ends the run.
    """
    if not state.is_on("policies") or state.choice_is_due:
        return permissible
    environment, url = state.episode.task.environment, state.observation.url
    if state.stack.top is None:
        settings = state.preset.policies
        top = resources.policies.top_of(environment, url, settings.top if settings else "")
        if top is None:
            return permissible
        stack = state.stack.replace(limits=settings.limits) if settings else state.stack
        state.stack = stack.begin(
            top.id,
            top.name,
            (state.episode.instruction,),
            step=state.number,
            page=place_of_page(state.observation),
        )
    assert state.stack.top is not None
    policy = resources.policies.get(state.stack.top.policy)
    callables = resources.policies.callable_from(policy, environment, url)
    not_now = {one.name: why for one in callables if (why := state.stack.limit_sentence(one.name))}
    if not_now:
        callables = ()
    always = ("note",) if state.stack.top.caller is None else ("note", "stop")
    missing = tuple(
        action
        for action in offered.actions
        if action.name in always and permissible.action(action.name) is None
    )
    permissible = permissible.replace(actions=(*permissible.actions, *missing))
    return permissible_in(policy, permissible, callables).replace(not_now=not_now)


def stack_record(stack: Stack, path_of: Callable[[str], str]) -> StackRecord:
    """Return what is kept of the stack; `path_of` gives the file of a policy, by its id."""

    def frame_record(frame: Frame) -> FrameRecord:
        return FrameRecord(
            number=frame.number,
            policy=frame.name,
            written=frame.written,
            argument=", ".join(frame.arguments),
            caller=frame.caller,
            state=frame.state,
            began=frame.step,
            outcome=frame.outcome if frame.state != "active" else "",
            steps=tuple(turn.number for turn in frame.history),
            notes=frame.notes,
            file=path_of(frame.policy),
        )

    return StackRecord(
        frames=tuple(frame_record(frame) for frame in stack.frames),
        finished=tuple(frame_record(frame) for frame in stack.finished),
        depth_limit=stack.limits.depth,
        calls=stack.calls,
        calls_limit=stack.limits.calls,
    )
