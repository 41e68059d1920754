import pytest

from core.exemplars.index import ExemplarIndex
from core.exemplars.library.beside import numbered
from core.exemplars.library.tables import tokens_of
from core.exemplars.retrieval import recall
from core.llm.embedding import HashedWords
from core.schema.exemplar import RecallSettings, metadata_of
from tests.core.exemplars.making import ALL, exemplar


async def looked_up(query: str, *exemplars, environment: str = "", **settings: object):
    index = ExemplarIndex(HashedWords())
    await index.refresh(numbered(exemplars or ALL))
    return await recall(query, index, RecallSettings.model_validate(settings), environment=environment)


BUTTON = metadata_of("Click on the Yes button.", '[1] button "click-button"')


async def test_the_nearest_three_vote_and_all_of_the_family_is_used_the_nearest_last():
    found = await looked_up(BUTTON)
    assert found.family == "click-button"
    assert found.votes == {"click-button": 3}
    assert [one.family for one in found.used] == ["click-button"] * 3
    distances = [one.distance for one in found.retrieved if one.used]
    assert distances == sorted(distances)
    assert found.used[-1].id == found.retrieved[0].id


async def test_a_tie_goes_to_the_nearest():
    found = await looked_up(BUTTON, ALL[0], ALL[3], ALL[5], reach=2)
    assert found.votes == {"click-button": 1, "enter-text": 1, "book-flight": 1}
    assert found.family == "click-button"
    assert "the nearest decides" in found.why


async def test_the_only_one_of_a_family_is_not_outvoted_by_others_that_lie_far_behind():
    far = (ALL[0], ALL[1])
    task = ALL[5].key
    found = await looked_up(task, *far, ALL[5])
    assert (found.family, found.votes) == ("book-flight", {"book-flight": 1})
    assert "too far away to vote" in found.why
    # So it is where all vote, as published.
    assert (await looked_up(task, *far, ALL[5], reach=2)).family == "click-button"


async def test_single_exemplars_can_be_used_instead_of_a_family():
    found = await looked_up(BUTTON, by="exemplars", votes=2)
    assert len(found.used) == 2


async def test_what_is_used_is_called_the_nearest_only_if_it_is():
    near, next_one, far = ALL[0], ALL[1], ALL[2].replace(pinned=True, metadata="Task: Quantum flux.")
    query = near.key
    found = await looked_up(query, near, next_one, by="exemplars", votes=2)
    assert found.why == "The 2 nearest are used."
    found = await looked_up(query, near, next_one, far, by="exemplars", votes=2)
    assert far.id in {one.id for one in found.used}
    assert found.why == "2 exemplars are used. One of them is pinned."


async def test_those_with_a_fault_are_not_said_to_be_too_far_away():
    wrong = ALL[0].steps[0].replace(actions=("click [999]",))
    faulty = tuple(ALL[0].replace(id=f"faulty-{at}", steps=(wrong,)) for at in range(2))
    found = await looked_up(ALL[0].key, ALL[0], *faulty)
    assert [one.id for one in found.used] == [ALL[0].id]
    assert "too far away" not in found.why
    assert "faulty-0 is left out" in found.why


async def test_beyond_the_threshold_memory_is_not_used_and_that_is_said():
    found = await looked_up("Task: Sort the numbers.", threshold=0.1)
    assert found.used == ()
    assert "beyond the threshold of 0.100" in found.why
    assert found.retrieved


async def test_the_nearest_rejected_ones_are_reported_too():
    found = await looked_up(BUTTON)
    assert [one.used for one in found.retrieved] == [True] * 3 + [False] * 4


async def test_no_more_are_used_than_allowed_the_nearest_of_them():
    found = await looked_up(BUTTON, most=1)
    assert [one.id for one in found.used] == [found.retrieved[0].id]


async def test_exemplars_of_other_environments_can_be_left_out():
    here, there = (
        exemplar("click-button", 0, environment="miniwob"),
        exemplar("enter-text", 0, environment="shop"),
    )
    found = await looked_up(BUTTON, here, there, environment="shop", other_environments=False)
    assert [one.id for one in found.used] == ["enter-text-0"]


async def test_an_empty_memory_says_so():
    index = ExemplarIndex(HashedWords())
    await index.refresh(numbered(()))
    found = await recall(BUTTON, index, RecallSettings())
    assert (found.used, found.why) == ((), "There are no exemplars to recall.")


@pytest.mark.parametrize("left_out", range(len(ALL)))
async def test_each_exemplar_is_found_by_its_own_text_at_no_distance(left_out):
    found = await looked_up(ALL[left_out].key, by="exemplars", votes=1)
    assert found.used == (ALL[left_out],)
    assert found.retrieved[0].distance < 0.01


async def test_of_a_family_the_nearest_that_fit_into_the_tokens_are_used_and_the_others_are_told():
    long = ALL[1].replace(
        steps=(ALL[1].steps[0].replace(observation=f"{ALL[1].steps[0].observation}\n{'word ' * 300}"),),
        metadata=ALL[1].key,
    )
    size = tokens_of(ALL[0]) + tokens_of(ALL[2])
    found = await looked_up(BUTTON, ALL[0], long, ALL[2], tokens=max(size, 100))
    assert {one.id for one in found.used} == {ALL[0].id, ALL[2].id}
    assert "1 more does not fit into 100 tokens, and is left out." in found.why
    (left_out,) = [one for one in found.retrieved if one.problem]
    assert (left_out.id, left_out.used) == (long.id, False)
    assert "more than 100 tokens" in left_out.problem


async def test_more_than_eight_of_a_family_are_used_where_they_fit():
    many = [ALL[0].replace(id=f"b-{n}", task=f"Click on the button {n}.") for n in range(70)]
    found = await looked_up(BUTTON, *many, most=50)
    assert len(found.used) == 50
    few = await looked_up(BUTTON, *many, tokens=20 * tokens_of(many[0]))
    assert 19 <= len(few.used) <= 21
    assert "not fit into" in few.why


async def test_an_exemplar_that_cannot_be_read_is_left_out_and_told():
    broken = ALL[0].replace(steps=(ALL[0].steps[0].replace(actions=("clck [1]",)),))
    found = await looked_up(BUTTON, broken, ALL[1], ALL[3])
    assert ALL[1].id in {one.id for one in found.used}
    assert broken.id not in {one.id for one in found.used}
    assert f'{broken.id} is left out, step 1, action 1: There is no action "clck"' in found.why
    assert "clck" in next(one.problem for one in found.retrieved if one.id == broken.id)
    alone = await looked_up(BUTTON, broken)
    assert alone.used == ()
    assert alone.why.startswith("None of the nearest can be used.")


async def test_a_weight_divides_the_distance_also_of_one_that_is_far_behind():
    many = [ALL[0].replace(id=f"b-{n:02}", task=f"Click on the button {n}.") for n in range(80)]
    plain = await looked_up(ALL[3].key, ALL[3], ALL[5], *many, by="exemplars", votes=1, most=1)
    assert plain.used == (ALL[3],)
    far = next(one.distance for one in (await looked_up(ALL[3].key, ALL[5])).retrieved)
    heavy = ALL[5].replace(weight=10)
    light = ALL[3].replace(weight=0.1)
    found = await looked_up(f"{ALL[3].key} now", light, heavy, *many, by="exemplars", votes=1, most=1)
    assert found.used == (heavy,)
    one = found.retrieved[0]
    assert one.weight == 10
    assert one.distance < far / 9


async def test_a_pinned_one_is_used_before_nearer_ones_of_its_family_and_nowhere_else():
    many = [ALL[0].replace(id=f"b-{n:02}", task=f"Click on the button {n}.") for n in range(80)]
    pinned = ALL[1].replace(metadata="Something else altogether.", pinned=True)
    for settings in ({"most": 2}, {"by": "exemplars", "votes": 2}):
        found = await looked_up(BUTTON, pinned, ALL[5], *many, **settings)
        assert found.used[-1].id == pinned.id
        assert len(found.used) == 2
        assert "One of them is pinned." in found.why
        elsewhere = await looked_up(ALL[5].key, pinned, ALL[5], ALL[6], *many, **settings)
        assert pinned.id not in {one.id for one in elsewhere.used}


async def test_one_is_never_used_for_tasks_like_those_that_it_names():
    never = ALL[0].replace(never=("Click on the Yes button!",))
    found = await looked_up(BUTTON, never, ALL[1], ALL[3])
    assert never.id not in {one.id for one in found.used}
    assert f"{never.id} is left out, it is never used for tasks like “Click on the Yes button!”." in found.why
    assert found.votes.get("click-button") == 1
    other = await looked_up(BUTTON, never.replace(never=("Book a flight to Oslo for tomorrow.",)))
    assert [one.id for one in other.used] == [never.id]


async def test_that_another_lies_as_near_is_told():
    twins = [ALL[0].replace(id=id, task=f"Click it, {id}.", metadata=BUTTON) for id in ("a", "b", "c")]
    found = await looked_up(BUTTON, *twins, by="exemplars", votes=1)
    assert [one.id for one in found.used] == ["a"]
    assert "b and 1 more lie as near as a; of equal ones, the first by family and id are used." in found.why
    assert "as near as" not in (await looked_up(BUTTON, *twins, by="exemplars", votes=3)).why


async def test_instructions_that_exclude_are_embedded_once_however_many_have_them():
    asked = []

    class Counted(HashedWords):
        async def embed(self, texts, on_progress=None):
            asked.append(len(texts))
            return await super().embed(texts, on_progress)

    index = ExemplarIndex(Counted())
    many = [
        ALL[0].replace(id=f"b-{n}", task=f"Click {n}.", never=("Sort the list.", "Buy it."))
        for n in range(70)
    ]
    await index.refresh(numbered(many))
    asked.clear()
    await recall(BUTTON, index, RecallSettings())
    assert asked == [1, 3]
