"""The action to propose: of the state, of the page, or the call of a policy, whichever the words fit best."""

from core.agent.general_space import label_of
from core.llm.word_rules.calling import (
    Role,
    as_policy,
    call_for_stage,
    ending,
    fitting_call,
    helping_call,
)
from core.llm.word_rules.decide import next_move, understand
from core.llm.word_rules.excluding import without
from core.llm.word_rules.facts import Facts
from core.llm.word_rules.forms import is_elsewhere
from core.llm.word_rules.heeding import heeded
from core.llm.word_rules.move import Move, Scene, act
from core.llm.word_rules.offered import offered_move
from core.llm.word_rules.page import Page
from core.llm.word_rules.past import Past
from core.llm.word_rules.planning import in_a_lesson, not_again
from core.llm.word_rules.wishing import is_wish, told_stage, wish_move
from core.schema.action import Stop
from core.schema.action_space import Permissible
from core.schema.messages import PromptView
from core.schema.observation import Observation


def proposed(view: PromptView, permissible: Permissible, role: Role) -> Move:
    """Return a move that is permissible, or a stop where nothing is."""
    view = as_policy(view, role)
    move = _chosen(view, permissible, role)
    if view.experience:
        move = _learned(view, permissible, role, move)
    move = heeded(view, permissible, move)
    move = ending(move, view, permissible, role)
    if problem := permissible.problem(move.action):
        return _instead(permissible, problem)
    return move


def _chosen(view: PromptView, permissible: Permissible, role: Role) -> Move:
    if (offered := offered_move(view, permissible)) is not None:
        return offered
    stage = told_stage(role.policy) if role.called else None
    if not any(action.origin == "policy" for action in permissible.actions):
        return next_move(view, permissible, stage)
    if is_wish(view.objective) and stage is None:
        return _wished(view, permissible, role)
    facts = Facts(view.objective)
    if not facts.are_given:
        return next_move(view, permissible, stage)
    if (call := fitting_call(view, permissible, role)) is not None:
        return call
    move = next_move(view, permissible, stage)
    is_lost = isinstance(move.action, Stop) and not move.finishes
    if is_lost or is_elsewhere(Page(view, permissible), facts):
        return helping_call(view, permissible, role) or move
    return move


def _learned(view: PromptView, permissible: Permissible, role: Role, move: Move) -> Move:
    """Return a move that lessons of earlier trials do not rule out; the same where there is no other."""
    avoided = not_again(view.experience)
    page = Observation(url=view.observation.url, elements=view.observation.elements)
    other, left = move, permissible
    for _ in avoided:
        if in_a_lesson(other.action, label_of(page, other.action)) not in avoided:
            return other
        left = without(left, other.action)
        other = _chosen(view, left, role)
        if isinstance(other.action, Stop):
            return move
    return other


def _wished(view: PromptView, permissible: Permissible, role: Role) -> Move:
    """Return the call of the policy that is for the stage that the page is at, else the page's own next move."""
    scene = Scene(understand(view.objective), Page(view, permissible), Past(view.history), 0)
    found = wish_move(scene)
    if found is not None:
        return call_for_stage(view, permissible, role, found[0]) or found[1]
    return next_move(view, permissible)


def _instead(permissible: Permissible, problem: str) -> Move:
    """Return a move that is permissible where the chosen one is not: waiting, scrolling, or the first row."""
    for action in (act("stop"), act("wait"), act("scroll", direction="down")):
        if permissible.problem(action) is None:
            return Move(action, f"What the words name is not permissible: {problem}")
    for row in permissible.rows():
        if row.ref is not None and row.name in ("click", "hover", "double_click"):
            return Move(act(row.name, row.ref), f"Nothing the words name is permissible; {row.label} is.")
    return Move(act("stop"), "Nothing is permissible.")
