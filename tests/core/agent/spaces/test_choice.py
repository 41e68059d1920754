import pytest

from core.agent.spaces.choice import CHOOSE, as_instructed, best_candidate, candidates_of, choice_of, way_back
from core.agent.spaces.file import Backup
from core.llm.costs import count_tokens
from core.schema.action import Click, Goto, XPathTarget
from core.schema.action_space import Permissible, PermissibleAction
from core.schema.errors import ActionError
from core.schema.progress import CandidateDetail, SetAside, SpaceMemory, Transition
from tests.core.agent.spaces.pages import ITEM

KEPT = SetAside(candidate="B[7]", url="http://corner.test/item/B7?a=[1]", title="A lamp", reason="too dear")
OFFERED = Permissible(actions=(PermissibleAction(name="buy"), PermissibleAction(name="back")))


def after_transitions(transitions, **more):
    moved = tuple(Transition(step=at, source="results", action="next_page") for at in range(transitions))
    return SpaceMemory(transitions=moved, **more)


def chosen(space, memory):
    return choice_of(space, space.state_named("item"), memory, ITEM, OFFERED)


def test_before_the_budget_everything_is_permissible(space):
    assert chosen(space, after_transitions(3, buffer=(KEPT,))) == (OFFERED, "", "")


def test_at_the_budget_only_choosing_is_and_it_tells_what_was_thought_of_each(space):
    permissible, remark, over = chosen(space, after_transitions(4, buffer=(KEPT,), remembered={"item": "B1"}))
    (choose,) = permissible.actions
    assert (choose.name, choose.description, over) == (CHOOSE, "Which one is best?", "")
    assert "4 of 6" in remark
    assert [(one.value, one.label) for one in choose.parameter("candidate").choices] == [
        ("B[7]", "A lamp: too dear"),
        ("B1", "Corner shop: in view now"),
    ]


def test_with_nothing_to_choose_from_the_run_is_over(space):
    permissible, _, over = chosen(space, after_transitions(4))
    assert permissible.actions == ()
    assert "no candidate was set aside" in over


def test_after_the_choice_only_the_last_actions_are_left_until_the_transitions_are_used_up(space):
    permissible, remark, _ = chosen(space, after_transitions(5, chosen="B1"))
    assert [one.name for one in permissible.actions] == ["buy"]
    assert "B1 was chosen" in remark
    assert "6 transitions are used up" in chosen(space, after_transitions(6, chosen="B1"))[2]
    results = choice_of(
        space, space.state_named("results"), after_transitions(5, chosen="B1"), ITEM, Permissible()
    )
    assert "offers none of: buy" in results[2]


def test_where_the_page_of_what_was_chosen_cannot_end_it_another_one_is_to_be_chosen(space):
    memory = after_transitions(5, chosen="B1", buffer=(KEPT, KEPT.replace(candidate="B1")))
    permissible, remark, over = choice_of(space, space.state_named("results"), memory, ITEM, Permissible())
    assert [one.value for one in permissible.actions[0].parameter("candidate").choices] == ["B[7]"]
    assert (remark, over) == (
        "B1 was chosen, but its page offers none of: buy. Another candidate has to be chosen.",
        "",
    )


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
    with pytest.raises(ActionError, match="Cannot go back"):
        way_back(Backup(returns="goto"), KEPT)


def test_a_candidate_is_told_with_all_that_was_read_of_it_within_a_share_of_the_tokens(space):
    kept = (
        CandidateDetail(candidate="B[7]", name="price", text="$ 9"),
        CandidateDetail(candidate="B[7]", name="reviews", text="good " * 9000, cut=7),
    )
    memory = after_transitions(4, buffer=(KEPT, KEPT.replace(candidate="B8")), kept=kept)
    first, second = chosen(space, memory)[0].actions[0].parameter("candidate").choices
    price, reviews = first.detail
    assert (price, second.detail) == ("price: $ 9", ())
    assert count_tokens(reviews) < 1600
    assert "good … (cut here, about 7" in reviews


def test_the_state_has_instructions_of_its_own_for_the_choice_and_for_what_comes_after_it(space):
    item = space.state_named("item").replace(layout="button Buy", instruction="Look further.")
    assert told(space, item, after_transitions(3)) == item
    at_it, after_it = (told(space, item, after_transitions(4, **more)) for more in ({}, {"chosen": "B1"}))
    assert (at_it.instruction, at_it.layout) == (space.backup.instruction, "")
    assert (after_it.instruction, after_it.layout) == (space.backup.last_instruction, "")


def test_where_another_one_is_to_be_chosen_the_instruction_is_that_of_the_choice(space):
    memory = after_transitions(5, chosen="B1", buffer=(KEPT,))
    without_buy = Permissible(actions=(PermissibleAction(name="back"),))
    assert told(space, space.state_named("item"), memory, without_buy).instruction == space.backup.instruction


def told(space, state, memory, offered=OFFERED):
    permissible, _, _ = choice_of(space, state, memory, ITEM, offered)
    return as_instructed(space, state, memory, permissible)


TASK = "I want a foldable yoga mat made of jute, in white."


def aside(candidate, reason="", title="Yoga mat"):
    return SetAside(candidate=candidate, url="http://corner.test/", title=title, reason=reason)


@pytest.mark.parametrize(
    ("candidates", "kept", "picked"),
    [
        ([aside("B1", "It is of jute and folds."), aside("B2", "It is of rubber.")], {}, "B1"),
        ([aside("B1", "It is not of jute."), aside("B2", "It is of rubber, but white.")], {}, "B2"),
        ([aside("B1", "It isn't foldable, jute or white."), aside("B2", "Dear.")], {}, "B2"),
        ([aside("B1"), aside("B2")], {"B1": "Jute, white, foldable."}, "B1"),
        ([aside("B1"), aside("B2")], {}, "B2"),
    ],
    ids=["by its reason", "by what is not denied", "by a shortened not", "by what was read", "the last"],
)
def test_by_rule_the_candidate_with_most_words_of_the_task_is_chosen(candidates, kept, picked):
    memory = SpaceMemory(
        kept=tuple(CandidateDetail(candidate=one, name="features", text=text) for one, text in kept.items())
    )
    candidate, how = best_candidate(TASK, candidates, memory)
    assert candidate == picked
    assert "words of the task" in how


def test_by_rule_the_one_candidate_that_the_last_thought_names_goes_before(space):
    both = [aside("B1", "Jute, white, foldable."), aside("B2")]
    assert best_candidate(TASK, both, SpaceMemory(), thought="B2 it is.")[0] == "B2"
    assert best_candidate(TASK, both, SpaceMemory(), thought="B1 or B2.")[0] == "B1"
    assert best_candidate(TASK, both, SpaceMemory(), thought="B21.")[0] == "B1"


def test_by_rule_what_was_chosen_in_vain_is_only_chosen_where_there_is_nothing_else():
    both = [aside("B1", "Jute, white, foldable."), aside("B2")]
    assert best_candidate(TASK, both, SpaceMemory(), but={"B1"})[0] == "B2"
    assert best_candidate(TASK, both[:1], SpaceMemory(), but={"B1"})[0] == "B1"
