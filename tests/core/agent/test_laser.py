"""The preset ``laser`` on the shop, through the real loop: what is asked, what is offered, how it ends."""

import re

import pytest

from core.agent.spaces.choice import CHOOSE
from core.environments.shop.catalogue import bundled_catalogue
from core.environments.shop.goals import bundled_goals
from tests.core.agent.headless import headless
from tests.core.agent.traced import purposes, records, steps, view
from tests.llm_server import Reply, call

pytestmark = pytest.mark.browser

TASK = "shop/goal-000"
WORDS = {"keywords": "steel water bottle"}
SEARCH = call("search", **WORDS, max_price=30)
NEXT, PREVIOUS = call("next_page"), call("previous_page")


@pytest.fixture(scope="module")
def goal():
    return next(one.goal for one in bundled_goals() if TASK.endswith(one.name))


def thinking(*actions):
    """Return the answers that carry out these actions: each a thought, then the call."""
    answers = []
    for number, action in enumerate(actions, start=1):
        answers += [Reply(text=f"Thought {number}."), Reply(calls=(action,))]
    return answers


def schema(request, name):
    tool = next(one["function"] for one in request.body["tools"] if one["function"]["name"] == name)
    return tool["parameters"]


def ids_on(request):
    """Return the item ids of the results that a prompt shows."""
    return re.findall(r"listitem \".*? Item (BK[A-Z0-9]+) ", "\n".join(request.texts))


def buy(request):
    """Buy with the first value of each option."""
    given = schema(request, "buy_now")["properties"]
    return Reply(calls=(call("buy_now", **{name: one["enum"][0] for name, one in given.items()}),))


def pages_turned(times):
    return [PREVIOUS if number % 2 else NEXT for number in range(times)]


def looked_at(run):
    """Return what the server knows of the items that were looked at."""
    state = run.world.environment.snapshot(run.state.episode)
    return re.findall(r"BK[A-Z0-9]+", state.split('"orders"')[0])


def test_a_purchase_asks_for_a_rationale_and_a_function_at_each_step(stage, llm_server, goal):
    title = bundled_catalogue().product(goal.product).title
    groups = bundled_catalogue().product(goal.product).groups
    options = {group.name: goal.options.get(group.name, group.values[0]) for group in groups}
    llm_server.script(
        *thinking(
            call("search", keywords=title, max_price=goal.price_limit / 100),
            call("select_item", item_id=goal.product),
            call("features"),
            call("buy_now", **options),
        )
    )
    run = stage.open(llm_server, TASK, preset="laser")
    stage.to_the_end(run)

    assert (run.outcome, run.verdict.success, run.verdict.reward) == ("done", True, 1.0)
    assert purposes(run) == ["rationale", "function"] * 4
    assert [step.thought for step in steps(run)] == [f"Thought {number}." for number in (1, 2, 3, 4)]
    assert run.state.memory.transitions[-1].target == "order"
    assert all(request.body["temperature"] == 0 for request in llm_server.requests)

    thoughts, functions = llm_server.requests[::2], llm_server.requests[1::2]
    assert all(request.tool_names == [] for request in thoughts)
    assert all(request.body["tool_choice"] == "required" for request in functions)
    assert [request.tool_names for request in functions] == [
        ["search"],
        functions[1].tool_names,
        ["description", "features", "reviews", "choose_options", "back_to_results", "buy_now"],
        ["description", "reviews", "choose_options", "back_to_results", "buy_now"],
    ]
    assert functions[1].tool_names[0] == "select_item"
    assert set(functions[1].tool_names) <= {"select_item", "next_page", "back_to_search"}
    assert schema(functions[0], "search")["required"] == ["keywords"]
    assert schema(functions[1], "select_item")["properties"]["item_id"]["enum"] == ids_on(functions[1])
    buy = schema(functions[3], "buy_now")
    assert buy["required"] == [group.name for group in groups]
    assert {name: one["enum"] for name, one in buy["properties"].items()} == {
        group.name: list(group.values) for group in groups
    }
    for number, request in enumerate(functions, start=1):
        assert f"Thought {number}." in request.texts


def test_each_state_has_its_instruction_and_the_item_is_shown_what_was_searched_for(stage, llm_server):
    def select(request):
        return Reply(calls=(call("select_item", item_id=ids_on(request)[0]),))

    llm_server.script(*thinking(SEARCH), Reply(text="The first."), select, *thinking(call("features")))
    run = stage.open(llm_server, TASK, preset="laser")
    for _ in range(3):
        stage.step(run)
    search, results, item = (llm_server.requests[at].texts for at in (0, 2, 4))
    assert "State now: search (shop)." in search[0]
    assert "Take the task apart" in search[0]
    assert "Keywords:" not in search[-1]
    assert "Compare each item of the list" in results[0]
    assert "State now: item (shop)." in item[0]
    assert "Measure the item by the task" in item[0]
    for text in (results[-1], item[-1]):
        assert "Keywords: steel water bottle\n" in text
        assert "Max price: 30" in text
    # What is not permissible is not advised either.
    assert all("cannot be done, stop" not in texts[0] for texts in (search, results, item))


def select(place):
    """Return the answer that opens this item of the results."""
    return lambda request: Reply(calls=(call("select_item", item_id=ids_on(request)[place]),))


def test_a_later_prompt_holds_the_thoughts_and_all_that_was_read_of_the_item(stage, llm_server):
    llm_server.script(*thinking(SEARCH), Reply(text="The first\none fits."), select(0))
    llm_server.script(
        *thinking(call("description"), call("features"), call("reviews"), call("back_to_results"))
    )
    run = stage.open(llm_server, TASK, preset="laser")
    for _ in range(6):
        stage.step(run)
    item = run.state.memory.remembered["item_id"]
    product = bundled_catalogue().product(item)
    prompt = llm_server.requests[10].texts[-1]
    assert "1. Thought: Thought 1.\n   Action: search [steel water bottle] [30] (searchbox" in prompt
    assert f"2. Thought: The first one fits.\n   Action: select_item [{item}]" in prompt
    assert f"Read already of {item}" in prompt
    # Reviews are what the page shows; the parts before it are told beside it.
    read = prompt.split("Read already", 1)[1].split("\nPage: ", 1)[0]
    assert [line.split(":")[0] for line in read.splitlines()[1:] if line] == [
        "- overview",
        "- description",
        "- features",
    ]
    assert product.description in " ".join(read.split())
    assert all(feature in read for feature in product.features)
    assert llm_server.requests[11].tool_names == ["choose_options", "back_to_results", "buy_now"]
    # What the prompt does not offer it does not speak of either.
    assert all("note" not in name for request in llm_server.requests for name in request.tool_names)
    assert "note" not in "\n".join(llm_server.requests[10].texts)
    recorded = records(run, 6)["recognise"].memory
    assert [one.name for one in recorded.kept_of(item)] == [
        "price",
        "overview",
        "description",
        "features",
        "reviews",
    ]


def test_what_was_read_stays_with_its_item_when_another_one_is_opened(stage, llm_server):
    llm_server.script(*thinking(SEARCH), Reply(text="One."), select(0), *thinking(call("features")))
    llm_server.script(*thinking(call("back_to_results")), Reply(text="Two."), select(1), Reply(text="So."))
    run = stage.open(llm_server, TASK, preset="laser")
    for _ in range(5):
        stage.step(run)
    stage.until(run, "decide")
    first, second = run.state.memory.looked_at
    assert "features" in [one.name for one in run.state.memory.kept_of(first)]
    assert [one.name for one in run.state.memory.kept_of(second)] == ["price", "overview"]
    assert "features" in [one.name for one in run.state.permissible.actions]


def test_an_item_that_is_not_on_the_page_is_asked_about_once_and_never_opened(stage, llm_server):
    def second(request):
        return Reply(calls=(call("select_item", item_id=ids_on(request)[1]),))

    llm_server.script(*thinking(SEARCH), Reply(text="That one."))
    llm_server.script(Reply(calls=(call("select_item", item_id="BKNOTHERE0"),)), second)
    run = stage.open(llm_server, TASK, preset="laser")
    stage.step(run)
    stage.step(run)
    assert purposes(run) == ["rationale", "function", "rationale", "function", "repair"]
    assert '"BKNOTHERE0" is not on offer for item_id' in "\n".join(llm_server.requests[4].texts)
    wanted = ids_on(llm_server.requests[3])[1]
    assert steps(run)[1].action == f"select_item [{wanted}]"
    assert looked_at(run) == [wanted]


@pytest.mark.parametrize(
    "wrong",
    [
        call("buy_now"),
        call("click", target=1),
        call("stop", answer=""),
    ],
    ids=["an action of another state", "an action of the page", "stopping"],
)
def test_what_stays_impermissible_leaves_the_page_as_it_is(stage, llm_server, wrong):
    llm_server.script(*thinking(SEARCH), Reply(text="So."), Reply(calls=(wrong,)), Reply(calls=(wrong,)))
    run = stage.open(llm_server, TASK, preset="laser")
    stage.step(run)
    before = run.state.observation
    stage.step(run)
    last = steps(run)[1]
    assert (last.effect, last.outcome, last.action) == ("none", "failed", "")
    assert run.state.observation == before
    assert looked_at(run) == []


def test_after_13_transitions_one_of_those_set_aside_is_chosen_and_bought(stage, llm_server):
    item, left = {}, "It has no loop; perhaps later."

    def select(request):
        item["id"] = ids_on(request)[2]
        return Reply(calls=(call("select_item", item_id=item["id"]),))

    def choose(request):
        return Reply(calls=(call("choose_candidate", candidate=item["id"]),))

    llm_server.script(*thinking(SEARCH), Reply(text="This one."), select)
    llm_server.script(Reply(text=left), Reply(calls=(call("back_to_results"),)))
    llm_server.script(*thinking(*pages_turned(10)))
    llm_server.script(Reply(text="There is but one."), choose, Reply(text="Now buy."), buy)
    run = stage.open(llm_server, TASK, preset="laser")
    stage.to_the_end(run)

    assert run.outcome == "done", run.error
    assert purposes(run) == ["rationale", "function"] * 15
    functions = llm_server.requests[1::2]
    assert all("choose_candidate" not in request.tool_names for request in functions[:13])
    assert functions[13].tool_names == ["choose_candidate"]
    assert schema(functions[13], "choose_candidate")["properties"]["candidate"]["enum"] == [item["id"]]
    asked = "\n".join(llm_server.requests[26].texts)
    assert "There is no time left to look further" in asked
    assert left in asked
    assert "13 of 15 transitions were made" in asked
    assert functions[14].tool_names == ["buy_now"]
    chosen = steps(run)[13]
    assert (chosen.action, chosen.outcome) == (f"choose_candidate [{item['id']}]", "done")
    assert [one.action for one in run.state.memory.transitions][-2:] == ["choose_candidate", "buy_now"]
    assert len(run.state.memory.transitions) == 15
    assert run.verdict.reward is not None
    assert f"Bought {item['id']}" in run.verdict.reason


def at_the_choice(stage, llm_server, *left):
    """Open the items at these places, leave each for its reason, and count the rest of the budget as used up."""
    llm_server.script(*thinking(SEARCH))
    for place, reason in left:
        llm_server.script(Reply(text="This."), select(place))
        llm_server.script(Reply(text=reason), Reply(calls=(call("back_to_results"),)))
    run = stage.open(llm_server, TASK, preset="laser")
    for _ in range(1 + 2 * len(left)):
        stage.step(run)
    memory = run.state.memory
    rest = 13 - len(memory.transitions)
    run.state.memory = memory.replace(transitions=(*memory.transitions, *memory.transitions[-1:] * rest))
    return run


def test_an_empty_buffer_ends_the_run_by_its_budget_with_the_reason(stage, llm_server):
    run = at_the_choice(stage, llm_server)
    stage.to_the_end(run)
    row = run.store.run(run.state.run)
    assert row.outcome == "budget"
    assert row.error == "13 transitions were made, and no candidate was set aside to choose from."
    assert (row.verdict.success, row.verdict.reason) == (False, "Nothing was bought.")
    assert len(llm_server.requests) == 2
    assert (steps(run)[-1].outcome, steps(run)[-1].message) == ("failed", row.error)


def test_the_choice_has_a_text_of_its_own_and_all_that_is_known_of_each_candidate(stage, llm_server):
    run = at_the_choice(stage, llm_server, (0, "It has no loop."), (1, "Too large."))
    llm_server.script(Reply(text="The first."))
    stage.until(run, "decide")
    before = len(llm_server.requests)
    llm_server.script(lambda _: Reply(calls=(call(CHOOSE, candidate=run.state.memory.buffer[0].candidate),)))
    stage.phase(run)
    system, user = llm_server.requests[before].texts
    whole = f"{system}\n{user}"
    for contradiction in (
        "Compare each item of the list",
        "go to the next page",
        "A wrong turn is no harm",
        "heading “Results for",
        "which one action on which element",
    ):
        assert contradiction not in whole
    assert "\nThere is no time left to look further" in system
    for entry in run.state.memory.buffer:
        product = bundled_catalogue().product(entry.candidate)
        told = user.split(f"  - {entry.candidate} (", 1)[1].split("\n  - ", 1)[0]
        assert told.startswith(f"{entry.title}: {entry.reason})\n    price: $")
        assert f"Brand / {product.brand}" in told
    assert run.state.recognised.diagram.instruction.startswith("There is no time left")

    stage.step(run)
    stage.until(run, "decide")
    llm_server.script(Reply(text="Now."), buy)
    stage.phase(run)
    system = llm_server.requests[before + 2].texts[0]
    assert "This is the item you chose" in system
    assert "go back to the results" not in system


NO_ITEM = Reply(calls=(call("choose_candidate", candidate="BKNOTHERE0"),))


@pytest.mark.parametrize(
    ("thought", "bad"),
    [
        ("That.", (NO_ITEM, NO_ITEM)),
        ("That.", (Reply(text="I would take the first."), Reply(text=""))),
    ],
    ids=["an item never seen", "words only"],
)
def test_a_bad_reply_and_a_bad_repair_at_the_budget_choose_by_the_agents_own_reasons(
    stage, llm_server, thought, bad
):
    reasons = ("It is a steel bottle with a straw lid, white, but dear.", "It is no bottle.")
    run = at_the_choice(stage, llm_server, (0, reasons[0]), (1, reasons[1]))
    llm_server.script(Reply(text=thought), *bad, Reply(text="Buy it then."), buy)
    stage.to_the_end(run)

    best = run.state.memory.buffer[0].candidate
    assert (run.outcome, run.error) == ("done", "")
    assert f"Bought {best}" in run.verdict.reason
    assert run.verdict.reward > 0
    chosen = steps(run)[5]
    assert (chosen.action, chosen.outcome) == (f"choose_candidate [{best}]", "done")
    assert "(Chosen by rule:" in chosen.thought
    proposal = records(run, 6)["decide"].proposal
    assert proposal.remark.startswith("Chosen by rule, not by the LLM: ")
    assert "the most of 2 candidates" in proposal.remark
    assert "could not be used" in proposal.remark
    assert proposal.remark in view(run, 6).action.message
    # The LLM is told that this was not its choice.
    assert "Chosen by rule, not by the LLM" in llm_server.requests[-1].texts[-3]


def test_a_candidate_whose_page_is_gone_is_not_chosen_for_good(stage, llm_server):
    run = at_the_choice(stage, llm_server, (0, "No loop."), (1, "No loop either."))
    first, second = run.state.memory.buffer
    gone = first.replace(url="http://127.0.0.1:9/item/gone")
    run.state.memory = run.state.memory.replace(buffer=(gone, second))
    for one in (first, second):
        llm_server.script(Reply(text="This."), Reply(calls=(call(CHOOSE, candidate=one.candidate),)))
    llm_server.script(Reply(text="Buy."), buy)
    stage.to_the_end(run)
    assert [(one.action.split(" ")[0], one.outcome) for one in steps(run)[5:]] == [
        (CHOOSE, "failed"),
        (CHOOSE, "done"),
        ("buy_now", "done"),
    ]
    assert f"Bought {second.candidate}" in run.verdict.reason
    assert len(run.state.memory.transitions) == 15


def test_where_what_was_chosen_cannot_be_bought_the_prompt_asks_for_another_choice(stage, llm_server):
    run = at_the_choice(stage, llm_server, (0, "No loop."), (1, "No loop either."))
    first, second = run.state.memory.buffer
    sold_out = first.replace(url=run.state.episode.start_url)
    run.state.memory = run.state.memory.replace(buffer=(sold_out, second))
    for one in (first, second):
        llm_server.script(Reply(text="This."), Reply(calls=(call(CHOOSE, candidate=one.candidate),)))
    stage.step(run)
    before = len(llm_server.requests)
    stage.step(run)
    rationale, function = llm_server.requests[before:]
    assert function.tool_names == [CHOOSE]
    assert "There is no time left to look further" in rationale.texts[0]
    assert "This is the item you chose" not in rationale.texts[0]


def test_a_run_without_a_window_may_buy(stage, llm_server):
    def select(request):
        return Reply(calls=(call("select_item", item_id=ids_on(request)[0]),))

    llm_server.script(*thinking(SEARCH), Reply(text="This."), select, Reply(text="Buy."), buy)
    report = headless(stage, llm_server, TASK, "laser")
    assert (report.outcome, report.error, report.steps) == ("done", "", 3)
    assert report.reward > 0
