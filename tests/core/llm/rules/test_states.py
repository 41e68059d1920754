"""The built-in LLM among actions of a state: it goes by what their arguments can be."""

from core.llm.rules.moves import Scene
from core.llm.rules.policies import state_move
from core.schema.action import Named
from core.schema.action_space import Choice, Parameter, Permissible, PermissibleAction
from core.schema.messages import PromptView, Turn
from core.schema.observation import CleanObservation

TASK = "I want a foldable yoga mat made of jute, in white, costing 55 dollars or less."


def state(*actions: PermissibleAction) -> Permissible:
    return Permissible(actions=actions)


def own(name: str, *parameters: Parameter, description: str = "Do it.") -> PermissibleAction:
    return PermissibleAction(name=name, description=description, parameters=parameters, origin="state")


def move(permissible: Permissible, *taken: str) -> Named:
    view = PromptView(
        objective=TASK,
        observation=CleanObservation(url="http://a.test/"),
        history=tuple(Turn(number=n, action=text, result="done") for n, text in enumerate(taken, start=1)),
    )
    found = state_move(Scene.of(view, permissible))
    assert found is not None
    assert permissible.problem(found.action) is None
    return found.action


SEARCH = own(
    "search",
    Parameter(name="keywords"),
    Parameter(name="max_price", type="number", required=False),
)
ITEMS = own(
    "select_item",
    Parameter(
        name="item_id",
        choices=(
            Choice(value="B1", label="Steel water bottle"),
            Choice(value="B2", label="Foldable jute yoga mat"),
            Choice(value="B3", label="Yoga mat"),
        ),
    ),
)
BACK = own("back", description="Go back to the search page.")


def test_a_search_takes_the_words_that_tell_and_the_price():
    assert move(state(SEARCH, BACK)) == Named(name="search", arguments=("foldable yoga mat jute white", "55"))


def test_the_item_whose_words_are_the_tasks_is_opened():
    assert move(state(BACK, ITEMS)) == Named(name="select_item", arguments=("B2",))


def test_what_was_taken_before_is_not_taken_again_while_there_is_something_else():
    assert move(state(BACK, ITEMS), "select_item [B2]", "back", "select_item [B2]").name == "back"


def test_what_was_looked_at_gives_way_to_what_was_not():
    seen = ITEMS.parameters[0].choices[1].replace(label="Foldable jute yoga mat (looked at already)")
    choices = (ITEMS.parameters[0].choices[0], seen, ITEMS.parameters[0].choices[2])
    again = own("select_item", Parameter(name="item_id", choices=choices))
    assert move(state(again)) == Named(name="select_item", arguments=("B3",))


def test_an_action_that_lacks_a_value_is_left_and_without_any_there_is_no_move():
    empty = own("pick", Parameter(name="one", choices=()))
    assert move(state(empty, BACK)).name == "back"
    view = PromptView(objective=TASK, observation=CleanObservation(url=""))
    assert state_move(Scene.of(view, state(empty))) is None
    assert state_move(Scene.of(view, Permissible(actions=(PermissibleAction(name="stop"),)))) is None


def test_options_are_those_that_the_task_names_and_else_the_first():
    buy = own(
        "buy",
        Parameter(name="color", choices=(Choice(value="black"), Choice(value="white"))),
        Parameter(name="width", choices=(Choice(value="60 cm"), Choice(value="70 cm"))),
    )
    assert move(state(buy)) == Named(name="buy", arguments=("white", "60 cm"))
