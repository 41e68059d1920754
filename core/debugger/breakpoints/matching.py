"""Whether a breakpoint hits at a moment, and the sentence that says so.

Each kind has its own place in a step and hits there once: an action before
it is reviewed and again only where a person put another one in its stead, a
state once it is recognised, a figure and a condition at the moment that made
them so.
"""

from fnmatch import fnmatchcase

from core.agent.general_space import label_of
from core.debugger.breakpoints.debug_event import Figures, Moment, StepSoFar, reflection_in, trial_of
from core.debugger.breakpoints.expression import Compiled, compile_expression, is_true
from core.debugger.breakpoints.kinds import (
    ActionChosen,
    Breakpoint,
    Condition,
    Failure,
    FigureAbove,
    FigureName,
    LLMCall,
    Loop,
    NotAligned,
    PermissibleChanged,
    PlanRevised,
    PolicyPopped,
    PolicyPushed,
    RemedyFired,
    RequestBegins,
    RetrievalFar,
    StateEntered,
    StateLeft,
)
from core.debugger.breakpoints.subject import SubjectOf, text_of
from core.schema.action import Action, Named, RefTarget, RoleTarget
from core.schema.action_space import Permissible
from core.schema.errors import UsageError
from core.schema.observation import Observation
from core.schema.plan import Plan
from core.schema.step import (
    Acted,
    Aligned,
    Committed,
    Decided,
    Observed,
    Recalled,
    Recognised,
    Reviewed,
    Scheduled,
)

_QUIET_METHODS = ("GET", "HEAD", "OPTIONS")
_SHOWN = 300


def hit(breakpoint: Breakpoint, moment: Moment) -> str | None:
    """Return in a sentence that the breakpoint hits and why, or None where it does not.

    Whether it is enabled is not asked. Raises UsageError where an expression
    of it cannot be read or evaluated.
    """
    sentence = _sentence(breakpoint, moment)
    if sentence is None:
        return None
    if breakpoint.condition and not is_true(compile_expression(breakpoint.condition), SubjectOf(moment)):
        return None
    return sentence


def fits(pattern: str, text: str, *, whole: bool = False) -> bool:
    """Return whether the text fits: the same where `whole`, else within it, or as a glob; case does not count."""
    if not pattern:
        return True
    wanted, given = pattern.casefold(), text.casefold()
    if "*" in wanted or "?" in wanted:
        return fnmatchcase(given, wanted.replace("[", "[[]"))
    return wanted == given if whole else wanted in given


def _sentence(breakpoint: Breakpoint, moment: Moment) -> str | None:
    match breakpoint:
        case StateEntered():
            return _state_entered(breakpoint, moment)
        case StateLeft():
            return _state_left(breakpoint, moment)
        case PolicyPushed():
            return _policy_pushed(breakpoint, moment)
        case PolicyPopped():
            return _policy_popped(breakpoint, moment)
        case ActionChosen():
            return _action_chosen(breakpoint, moment)
        case PermissibleChanged():
            return _permissible_changed(breakpoint, moment)
        case NotAligned():
            return _not_aligned(moment)
        case RemedyFired():
            return _remedy_fired(moment)
        case PlanRevised():
            return _plan_revised(moment)
        case RetrievalFar():
            return _retrieval_far(breakpoint, moment)
        case Loop():
            return _loop(moment)
        case FigureAbove():
            return _figure_above(breakpoint, moment)
        case RequestBegins():
            return _request_begins(breakpoint, moment)
        case Failure():
            return _failure(breakpoint, moment)
        case LLMCall():
            return _llm_call(breakpoint, moment)
        case Condition():
            return _condition(breakpoint, moment)


# States


def _states(moment: Moment) -> tuple[str, str, bool] | None:
    """Return the state before and the one now where they differ, and whether the run ends in it."""
    recognised = moment.step.get(Recognised)
    if recognised is None:
        return None
    if moment.is_at("after", "commit"):
        committed = moment.step.get(Committed)
        stops = committed.stops if committed is not None else ""
        return (recognised.state, stops, True) if stops and stops != recognised.state else None
    if not moment.is_at("after", "recognise"):
        return None
    before = moment.before.get(Recognised) if moment.before is not None else None
    if before is None:
        return "", recognised.state, False
    same = (before.space, before.state) == (recognised.space, recognised.state)
    return None if same else (before.state, recognised.state, False)


def _state_entered(breakpoint: StateEntered, moment: Moment) -> str | None:
    states = _states(moment)
    if states is None or not fits(breakpoint.state, states[1], whole=True):
        return None
    before, now, over = states
    source = f" from {before}" if before else ""
    return f"State {now} was entered{source}{', which ends the run' if over else ''}."


def _state_left(breakpoint: StateLeft, moment: Moment) -> str | None:
    states = _states(moment)
    if states is None or not states[0] or not fits(breakpoint.state, states[0], whole=True):
        return None
    before, now, over = states
    return f"State {before} was left for {now}{', which ends the run' if over else ''}."


# Policies


def _policy_pushed(breakpoint: PolicyPushed, moment: Moment) -> str | None:
    acted, action = moment.step.get(Acted), moment.step.action
    if not moment.is_at("after", "act") or acted is None or acted.effect != "push":
        return None
    if not isinstance(action, Named):
        return None
    argument = ", ".join(action.arguments)
    if not fits(breakpoint.policy, action.name, whole=True) or not fits(breakpoint.argument, argument):
        return None
    return f"Policy {action.name} was pushed{_with_argument(argument)}."


def _policy_popped(breakpoint: PolicyPopped, moment: Moment) -> str | None:
    acted, recognised = moment.step.get(Acted), moment.step.get(Recognised)
    if not moment.is_at("after", "act") or acted is None or acted.effect != "pop":
        return None
    if recognised is None or recognised.stack is None or not recognised.stack.frames:
        return None
    top = recognised.stack.frames[-1]
    if not fits(breakpoint.policy, top.policy, whole=True) or not fits(breakpoint.argument, top.argument):
        return None
    return f"Policy {top.policy} was popped{_with_argument(top.argument)}. {acted.message}".rstrip()


def _with_argument(argument: str) -> str:
    return f" with argument “{_cut(argument)}”" if argument else ""


# Actions


def _due(moment: Moment) -> Action | None:
    """Return the action that is about to be carried out, where this moment is the one to say so."""
    if not moment.is_at("before", "review") and not moment.is_at("before", "act"):
        return None
    reviewed, decided = moment.step.get(Reviewed), moment.step.get(Decided)
    proposed = decided.proposal.action if decided is not None else None
    if moment.phase == "review":
        return proposed
    return reviewed.action if reviewed is not None and reviewed.action != proposed else None


def _action_chosen(breakpoint: ActionChosen, moment: Moment) -> str | None:
    action, observed = _due(moment), moment.step.get(Observed)
    if action is None or observed is None:
        return None
    page, text = observed.observation, text_of(action)
    if not fits(breakpoint.action, action.name, whole=True) or not fits(breakpoint.text, text):
        return None
    if not fits(breakpoint.url, page.url):
        return None
    if breakpoint.target and not any(fits(breakpoint.target, one) for one in _target_names(action, page)):
        return None
    label = label_of(page, action)
    on = f" on {label}" if label else ""
    where = page.url.partition("?")[0]
    return f"{_cut(str(action))}{on} is about to be carried out at {_cut(where)}."


def _target_names(action: Action, page: Observation) -> tuple[str, ...]:
    """Return what the action's targets are called, alone and with their role."""
    names = [label_of(page, action)]
    for target in action.targets:
        if isinstance(target, RefTarget):
            element = page.element(target.ref)
            names += [element.name] if element is not None else []
        elif isinstance(target, RoleTarget):
            names.append(target.name)
    return tuple(name for name in names if name)


def _permissible_changed(breakpoint: PermissibleChanged, moment: Moment) -> str | None:
    recognised = moment.step.get(Recognised)
    if not moment.is_at("after", "recognise") or recognised is None:
        return None
    before = moment.before.get(Recognised) if moment.before is not None else None
    there = _permits(breakpoint, recognised.permissible)
    known = None if before is None else _permits(breakpoint, before.permissible)
    if bool(there) is not breakpoint.contains or (known is not None and bool(known) is bool(there)):
        return None
    if there:
        return f"{_cut(there)} is permissible."
    what = breakpoint.action + (f" on “{breakpoint.target}”" if breakpoint.target else "")
    return f"{what} is not permissible."


def _permits(breakpoint: PermissibleChanged, permissible: Permissible) -> str:
    """Return what of the permissible fits, in words, or nothing."""
    for action in permissible.actions:
        if not fits(breakpoint.action, action.name, whole=True):
            continue
        if not breakpoint.target:
            return action.name
        for parameter in action.parameters:
            for choice in parameter.choices or ():
                label = choice.label or choice.value
                if fits(breakpoint.target, label) or fits(breakpoint.target, choice.value, whole=True):
                    return f"{action.name} on {label}"
                name = label.split('"')[1] if label.count('"') > 1 else ""
                if name and fits(breakpoint.target, name):
                    return f"{action.name} on {label}"
    return ""


def _loop(moment: Moment) -> str | None:
    action = _due(moment)
    if action is None:
        return None
    key = trial_of(moment.step)
    earlier = moment.tried.get(key) if key is not None else None
    if key is None or earlier is None:
        return None
    return f"{_cut(key[1])} is about to be done again on the same page; it was done at step {earlier}."


# Reflection and memory


def _not_aligned(moment: Moment) -> str | None:
    aligned = moment.step.get(Aligned)
    if not moment.is_at("after", "align") or aligned is None or aligned.aligned is not False:
        return None
    return f"The step was judged not aligned. {_cut(aligned.by_rule or aligned.sentence)}".rstrip()


def _remedy_fired(moment: Moment) -> str | None:
    scheduled = _remedy(moment.step)
    if not moment.is_at("after", "decide") or scheduled is None:
        return None
    before = _remedy(moment.before) if moment.before is not None else None
    if before is not None and before.entry == scheduled.entry:
        return None  # Going back for it was its beginning.
    told = moment.step.reflection
    entry = next((one for one in told.remedies if one.number == scheduled.entry), None) if told else None
    what = f": {_cut(entry.action)}{f' on {entry.target}' if entry.target else ''}" if entry else ""
    return f"Remedy {scheduled.entry} is fired{what}. {_cut(scheduled.why)}".rstrip()


def _remedy(step: StepSoFar) -> Scheduled | None:
    decided = step.get(Decided)
    scheduled = decided.scheduled if decided is not None else None
    return scheduled if scheduled is not None and scheduled.kind in ("go back", "remedy") else None


def _plan_revised(moment: Moment) -> str | None:
    told = moment.step.reflection
    if moment.where != "after" or moment.phase not in ("decide", "anticipate", "align") or told is None:
        return None
    earlier = reflection_in(moment.step.records[:-1])
    if earlier is None and moment.before is not None:
        earlier = moment.before.reflection
    now, before = told.plan, earlier.plan if earlier is not None else None
    if now is None or (_texts(before) == _texts(now) if before is not None else not now.revision):
        return None
    author = "by a person" if now.author == "person" else "by the agent"
    return f"The plan was revised {author}: {_cut(now.in_words())}."


def _texts(plan: Plan) -> tuple[str, ...]:
    return tuple(one.text for one in plan.subtasks)


def _retrieval_far(breakpoint: RetrievalFar, moment: Moment) -> str | None:
    recalled = moment.step.get(Recalled)
    if not moment.is_at("after", "recall") or recalled is None or recalled.recall is None:
        return None
    nearest = min(recalled.recall.retrieved, key=lambda one: one.distance, default=None)
    if nearest is None or nearest.distance <= breakpoint.above:
        return None
    return f"The nearest exemplar, {nearest.id}, is {nearest.distance:.3g} away, above {breakpoint.above:g}."


# Figures, requests, calls and failures


def _figure(figures: Figures, name: FigureName) -> float:
    match name:
        case "cost":
            return figures.cost or 0.0
        case "tokens":
            return figures.tokens
        case "steps":
            return figures.step
        case "seconds":
            return figures.seconds
        case "calls":
            return figures.llm_calls
        case "page actions":
            return figures.page_actions


def _figure_above(breakpoint: FigureAbove, moment: Moment) -> str | None:
    now = _figure(moment.figures, breakpoint.figure)
    before = _figure(moment.previous.figures, breakpoint.figure) if moment.previous is not None else 0.0
    if not before <= breakpoint.above < now:
        return None
    written = f"{now:g}" if now < 1e6 else f"{now:.0f}"
    return f"The {breakpoint.figure} of the run came to {written}, above {breakpoint.above:g}."


def _request_begins(breakpoint: RequestBegins, moment: Moment) -> str | None:
    request = moment.request
    if request is None or not (request.socket or request.method.upper() not in _QUIET_METHODS):
        return None
    if not fits(breakpoint.url, request.url):
        return None
    if request.socket:
        return f"The page sends something over the WebSocket {_cut(request.url)}."
    return f"The page begins to send: {request.method} {_cut(request.url)}."


def _failure(breakpoint: Failure, moment: Moment) -> str | None:
    kind, reason = _failed(moment)
    if not kind or breakpoint.of not in ("any", kind):
        return None
    return {
        "action": f"The action failed: {_cut(reason)}",
        "call": f"An LLM call failed: {_cut(reason)}",
        "reply": f"The LLM's reply could not be used: {_cut(reason)}",
        "crash": f"The page crashed: {_cut(reason)}",
    }[kind]


def _failed(moment: Moment) -> tuple[str, str]:
    """Return what has failed at this moment, and why; nothing where nothing has."""
    if moment.event is not None:
        return ("crash", moment.event.text) if moment.event.kind in ("crash", "hang") else ("", "")
    if moment.where == "after call" and moment.call is not None:
        error = moment.call.error
        # A person who withdraws a call knows it.
        return ("call", error) if error and not error.startswith("cancelled") else ("", "")
    if moment.is_at("after", "decide"):
        decided = moment.step.get(Decided)
        problem = decided.proposal.problem if decided is not None else ""
        return ("reply", problem) if problem else ("", "")
    acted = moment.step.get(Acted)
    if not moment.is_at("after", "act") or acted is None:
        return "", ""
    crash = next((event for event in acted.events if event.kind in ("crash", "hang")), None)
    if crash is not None:
        return "crash", crash.text
    # Without an action there was only a reply that could not be used, which has been said.
    failed = acted.outcome == "failed" and moment.step.action is not None
    return ("action", acted.message) if failed else ("", "")


def _llm_call(breakpoint: LLMCall, moment: Moment) -> str | None:
    call = moment.call
    if call is None or moment.where != f"{breakpoint.when} call":
        return None
    if breakpoint.purpose is not None and call.purpose != breakpoint.purpose:
        return None
    became = "is about to be made" if breakpoint.when == "before" else "has ended"
    return f"LLM call {call.number} ({call.purpose}) {became}."


def _condition(breakpoint: Condition, moment: Moment) -> str | None:
    compiled = compile_expression(breakpoint.expression)
    return f"{breakpoint.expression} has become true." if became_true(compiled, moment) else None


def became_true(compiled: Compiled, moment: Moment) -> bool:
    """Return whether the expression is true and was not at the moment before.

    Where nothing that it reads has changed it is not evaluated: a page is
    looked through once, not at every phase.
    """
    before = moment.previous
    if not has_changed(compiled, moment, before) or not is_true(compiled, SubjectOf(moment)):
        return False
    try:
        return before is None or not is_true(compiled, SubjectOf(before))
    except UsageError:
        return True


def has_changed(compiled: Compiled, moment: Moment, earlier: Moment | None) -> bool:
    """Return whether anything that the expression reads is other than at the earlier moment."""
    if earlier is None:
        return True
    now, before = SubjectOf(moment), SubjectOf(earlier)
    return any(now[name] != before[name] for name in compiled.names)


def _cut(text: str) -> str:
    plain = " ".join(text.split())
    return plain if len(plain) <= _SHOWN else plain[: _SHOWN - 1] + "…"
