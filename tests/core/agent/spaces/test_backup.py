import pytest

from core.agent.spaces.backup import CHOOSE, candidates_of, choice_of, way_back
from core.agent.spaces.file import Backup
from core.schema.action import Click, Goto, XPathTarget
from core.schema.action_space import Permissible, PermissibleAction
from core.schema.errors import ActionError
from core.schema.progress import SetAside, SpaceMemory, Transition
from tests.core.agent.spaces.pages import ITEM

KEPT = SetAside(candidate="B[7]", url="http://corner.test/item/B7?a=[1]", title="A lamp", reason="too dear")
OFFERED = Permissible(actions=(PermissibleAction(name="buy"), PermissibleAction(name="back")))


def after(transitions, **more):
    moved = tuple(Transition(step=at, source="results", action="next_page") for at in range(transitions))
    return SpaceMemory(transitions=moved, **more)


def chosen(space, memory):
    return choice_of(space, space.state_named("item"), memory, ITEM, OFFERED)


def test_before_the_budget_everything_is_permissible(space):
    assert chosen(space, after(3, buffer=(KEPT,))) == (OFFERED, "", "")


def test_at_the_budget_only_choosing_is_and_it_tells_what_was_thought_of_each(space):
    permissible, remark, over = chosen(space, after(4, buffer=(KEPT,), remembered={"item": "B1"}))
    (choose,) = permissible.actions
    assert (choose.name, choose.description, over) == (CHOOSE, "Which one is best?", "")
    assert "4 of 6" in remark
    assert [(one.value, one.label) for one in choose.parameter("candidate").choices] == [
        ("B[7]", "A lamp: too dear"),
        ("B1", "Corner shop: in view now"),
    ]


def test_with_nothing_to_choose_from_the_run_is_over(space):
    permissible, _, over = chosen(space, after(4))
    assert permissible.actions == ()
    assert "nothing was set aside" in over


def test_after_the_choice_only_the_last_actions_are_left_until_the_transitions_are_used_up(space):
    permissible, remark, _ = chosen(space, after(5, chosen="B1"))
    assert [one.name for one in permissible.actions] == ["buy"]
    assert "B1 was chosen" in remark
    assert "6 transitions are used up" in chosen(space, after(6, chosen="B1"))[2]
    results = choice_of(space, space.state_named("results"), after(5, chosen="B1"), ITEM, Permissible())
    assert "offers none of: buy" in results[2]


def test_what_is_in_view_and_was_set_aside_before_is_one_candidate(space):
    memory = SpaceMemory(remembered={"item": "B[7]"}, buffer=(KEPT,))
    assert candidates_of(space.state_named("item"), memory, ITEM) == (KEPT,)


@pytest.mark.parametrize(
    ("returns", "action"),
    [
        ("goto [{url}]", Goto(url=KEPT.url)),
        ('click [xpath=//a[.="{candidate}"]]', Click(target=XPathTarget(xpath='//a[.="B[7]"]'))),
    ],
)
def test_the_way_back_to_a_candidate_is_the_files(returns, action):
    assert way_back(Backup(returns=returns), KEPT) == action


def test_a_way_back_that_is_no_action_is_an_error():
    with pytest.raises(ActionError, match="no way back"):
        way_back(Backup(returns="goto"), KEPT)
