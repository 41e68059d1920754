"""The formats of other programs: what becomes of their files, told as text (`as_text`)."""

import json
import pickle
from pathlib import Path
from textwrap import dedent

import pytest

from core.agent.policies.file import read_policy
from core.agent.policies.step_import import policy_files
from core.exemplars.exchange.documents import read_document
from core.exemplars.exchange.gym_calls import read_calls
from core.schema.action_text import parse_action
from tests.core.exemplars.exchange.files import (
    POLICY,
    SESSION,
    as_text,
    example,
    gym_step,
    read,
    record,
    saved,
    visited,
)
from tests.core.exemplars.making import ALL
from tests.core.trace.imports.import_files import item, on, recording


def only(path, **options):
    (candidate,) = read(path, **options).candidates
    return candidate


def actions_of(candidate):
    return [action for step in candidate.exemplar.steps for action in step.actions]


DECISIONS = [
    example("find_it [a]", "", "type [7] [a]"),
    example("find_it [a]", "type [7] [a]", "click [7]"),
    example("find_it [b]", "click [3]", "find_it [c]"),
    example("c", "", "type [7] [x y] [0]"),
    example("d", "", "`type [7] [x] [1]`"),
    example("e", "", "fly [7]"),
    {"input": "nothing", "response": "ACTION:\nclick [7]"},
    {"input": 3, "response": ""},
]
MODULE = '''"""Prompts."""
import os
from base import imported

base = """Actions:
`click [id]`: Click.
`type [id] [content] [press_enter_after=0|1]`: Type; Enter follows by default.
`find_it [query]`: Finds what is asked for.
"""
question = "OBJECTIVE:\\n{objective}"
more = [
    {
        "input": "OBJECTIVE:\\nfind_it [b]\\nOBSERVATION:\\n[8] link \'b\'",
        "response": "REASON:\\nIt.\\nACTION:\\nclick [8]",
    }
]
top: dict = {
    "instruction": f"{base}Please follow these instructions:\\n1. Use find_it.",
    "input": question,
    "response": "",
    "examples": [],
}
find_it = dict(
    instruction=base + "Please follow these instructions:\\n1. Look.",
    input=imported,
    examples=[
        {
            "input": "OBJECTIVE:\\nfind_it [a]\\nOBSERVATION:\\n[3] textbox \'Search\'",
            "response": "REASON:\\nSearch.\\nACTION:\\ntype [3] [a] [1]",
        },
        {"input": open("secrets").read(), "response": os.environ["HOME"]},
        {
            "input": "OBJECTIVE:\\nfind_it [c]\\nOBSERVATION:\\n[3] textbox \'Search\'",
            "response": "REASON:\\nFill in.\\nACTION:\\ntype [3] [c] [0]",
        },
    ],
)
again = {
    "instruction": "Actions: click.",
    "input": question
    + "\\nPREVIOUS ACTIONS:\\n{previous_actions}\\nPlease follow these instructions:\\n1. Look again.",
    "examples": more,
}
everything = {"find_it": find_it, "listed": {**again, "instruction": os.name}}
os.remove("everything")
'''


def rows():
    """Return a record of Mind2Web as rows of one action each, the last first."""
    whole = record()
    shared = {name: whole[name] for name in ("annotation_id", "website", "confirmed_task")}
    return [
        {
            **shared,
            **action,
            "operation": json.dumps(action["operation"]),
            "pos_candidates": [json.dumps(one) for one in action["pos_candidates"]],
            "target_action_index": str(number),
            "target_action_reprs": whole["action_reprs"][number],
        }
        for number, action in enumerate(whole["actions"])
    ][::-1]


def operated(original, **more):
    """Return a record of one action."""
    operation = {"op": "CLICK", "original_op": original, "value": "x"}
    action = {**record()["actions"][1], "operation": operation, **more}
    return record(annotation_id=original, actions=[action], action_reprs=[])


BARE = [{"action_uid": "u1"}, {"action_uid": "u2", "pos_candidates": [], "cleaned_html": ""}]
LONG_PAGE = "".join(f'<a backend_node_id="{number}">link {number}</a>' for number in range(1000))
JUMP = visited("item_page", "B09")
SHORT = (SESSION[0], SESSION[1], SESSION[4], SESSION[-1])
BLUE = [{**line, "goal": {"instruction_text": "find me a blue mug"}} for line in SHORT]
RUN = [
    gym_step(0, "fill('a1', \"Ada\")\npress('a1', 'Tab')"),
    gym_step(1, "click('a9')"),
    gym_step(2, "click('7')", last_action_error="TimeoutError: a9 is not there\nmore"),
    gym_step(3, "mouse_dblclick(3, 4)"),
    gym_step(4, "click('7', button='right')\nclick('7', modifiers=['ControlOrMeta', 'Shift'])"),
    gym_step(5, "mouse_click(3, 4)\nselect_option('7', ['a', 'b'])\nscroll(0, -5)"),
    gym_step(6, "send_msg_to_user('sent')"),
    gym_step(7, None),
]
PUBLISHED = {
    "goal": "Open it",
    "task_id": "webarena.12",
    "steps": [{"action": "click('12')", "reasoning": "Why.", "axtree": "[12] link 'x'"}],
    "summary_info": {"cum_reward": 1},
}
ENDED = [{"is_done": True, "success": True}]
HISTORY = {
    "history": [
        item({"click_element": {"index": 4}}),
        item({"scroll": {"down": True}}, results=[{"error": "no"}]),
        item({"done": {"text": "two", "success": True}}, results=ENDED),
    ]
}


def ended(results):
    return {"history": [item({"done": {"text": "x", "success": False}}, results=results)]}


CASES: dict[str, tuple[str, object, str]] = {
    "decisions of SteP that follow one another": (
        "a.json",
        {"find_it": {**POLICY, "examples": DECISIONS}, "idle": POLICY, "a b": POLICY},
        """
        + find_it.examples[0] (step/find_it/0, find_it): find_it [a]
            type [7] [a] [enter=1]
            click [7]
        + find_it.examples[2] (step/find_it/2, find_it): find_it [b]
            find_it [c]
            # find_it.examples[2]: 1 action before its first decision, whose pages are not in the file
        + find_it.examples[3] (step/find_it/3, find_it): c
            type [7] [x y]
        + find_it.examples[4] (step/find_it/4, find_it): d
            type [7] [x] [enter=1]
        + find_it.examples[5] (step/find_it/5, find_it): e
            fly [7]
            # find_it.examples[5]: the action is kept unchanged: There is no action "fly"; there are find_it
        - idle: the policy has no examples
        ! find_it.examples[6].input: it has no OBJECTIVE
        ! find_it.examples[7].input: it must be a text, not a number
        ! a b: a policy's name can contain only letters, digits and _
        """,
    ),
    "a module of SteP, which is never run": (
        "templates.py",
        MODULE,
        """
        + find_it.examples[0] (step/find_it/0, find_it): find_it [a]
            type [3] [a] [enter=1]
        + find_it.examples[2] (step/find_it/2, find_it): find_it [c]
            type [3] [c]
        + again.examples[0] (step/again/0, again): find_it [b]
            click [8]
        - top: the policy has no examples
        ! find_it.input: line 25 cannot be evaluated without running it
        ! find_it.examples[1]: line 31 cannot be evaluated without running it
        ! listed.instruction: line 44 cannot be evaluated without running it
        """,
    ),
    "records of Mind2Web": (
        "a.json",
        [record(), record(annotation_id="q", actions=BARE)],
        """
        + [0] (mind2web/ab-12, trips): Find a hotel in Oslo
            type [11] [Oslo]
            click [12]
        + [1] (mind2web/q, trips): Find a hotel in Oslo
            type [textbox "City"] [Oslo]
            click [button "Find & go"]
            # [1].actions[0]: the record does not contain the page
            # [1].actions[0]: the record does not contain the element; only its text identifies it
            # [1].actions[1]: the record does not contain the page
            # [1].actions[1]: the record does not contain the element; only its text identifies it
        """,
    ),
    "lines of records": (
        "a.jsonl",
        [record(annotation_id=None), {"confirmed_task": 3, "actions": []}],
        """
        + line 1 (mind2web/a-line-1, trips): Find a hotel in Oslo
            type [11] [Oslo]
            click [12]
        ! line 2: confirmed_task: it must be a text, not a number
        """,
    ),
    "rows of one action each": (
        "a.json",
        rows(),
        """
        + [0] (mind2web/ab-12, trips): Find a hotel in Oslo
            type [11] [Oslo]
            click [12]
        """,
    ),
    "operations": (
        "a.json",
        [*map(operated, ("HOVER", "ENTER", "SELECT", "SWIPE")), operated("CLICK", cleaned_html=LONG_PAGE)],
        """
        + [0] (mind2web/hover, trips): Find a hotel in Oslo
            hover [12]
        + [1] (mind2web/enter, trips): Find a hotel in Oslo
            press [Enter]
        + [2] (mind2web/select, trips): Find a hotel in Oslo
            select [12] [x]
        + [3] (mind2web/swipe, trips): Find a hotel in Oslo
            SWIPE x
            # [3].actions[0]: there is no action SWIPE here; the description is kept
        + [4] (mind2web/click, trips): Find a hotel in Oslo
            click [12]
            # [4].actions[0]: 800 of the page's lines, far from the element, are left out
        """,
    ),
    "faulty records": (
        "a.json",
        [
            record(confirmed_task=None),
            record(actions="none"),
            record(actions=[4]),
            record(actions=[{"operation": "{"}]),
            record(actions=[{"pos_candidates": 3}], action_reprs=["[a]  b -> CLICK"]),
            record(actions=[], action_reprs=[]),
            record(confirmed_task=""),
        ],
        """
        ! [0].confirmed_task: it must be a text, not null
        ! [1].actions: it must be a list, not a text
        ! [2].actions[0]: it must be an object, not a number
        ! [3].actions[0].operation: the text is not JSON
        ! [4].actions[0].pos_candidates: it must be a list, not a number
        ! [5].actions: the record has no actions
        ! [6]: "task" = '' cannot be used: it must not be empty
        """,
    ),
    "a session of WebShop": (
        "s_1.jsonl",
        SESSION,
        """
        + lines 1 to 9 (webshop/s_1, webshop): find me a red mug
            type [textbox "Search..."] [red men's mug]
            click [button "Search"]
            click [button "Next >"]
            click [button "< Prev"]
            click [link "B02"]
            click [radio "red"]
            click [button "Features"]
            click [button "< Prev"]
            click [button "Buy Now"]
        """,
    ),
    "two sessions, one without its end": (
        "s.jsonl",
        (*SHORT[:-1], *BLUE),
        """
        + lines 4 to 7 (webshop/s/1, webshop): find me a blue mug
            type [textbox "Search..."] [red men's mug]
            click [button "Search"]
            click [link "B02"]
            click [button "Buy Now"]
        - lines 1 to 3: the session does not end with a purchase
        """,
    ),
    "a small reward": (
        "s.jsonl",
        (*SESSION[:-1], {**SESSION[-1], "reward": 0.5}),
        "- lines 1 to 9: its reward is 0.5, less than 1",
    ),
    "a page seen twice, and a jump": (
        "s.jsonl",
        (SESSION[0], SESSION[0], JUMP, visited("done", "B09", reward=1)),
        """
        + lines 1 to 4 (webshop/s, webshop): find me a red mug
            goto [http://shop.example:3000/item_page/s_1]
            click [button "Buy Now"]
            # line 3: no button of the page before leads there; its address is opened instead
        - line 2: it repeats the page before it
        """,
    ),
    "lines that are no pages": (
        "s.jsonl",
        (
            SESSION[0],
            "{",
            {"page": "shop"},
            7,
            {**SESSION[0], "goal": 3},
            {**SESSION[-1], "reward": None},
            visited("item_page"),
            SESSION[-1],
        ),
        """
        - lines 1 to 8: line 2 is faulty, and an exemplar must be complete
        ! line 2: this is not JSON (Expecting property name enclosed in double quotes, column 2)
        ! line 3: page: it must be 'index', 'search_results', 'item_page', 'item_sub_page' or 'done'
        ! line 4: it must be an object, not a number
        ! line 5: goal: it must be an object, not a number
        ! line 6: reward: the last page of a session needs its reward
        ! line 7: content.asin: it is missing
        """,
    ),
    "steps of BrowserGym": (
        "run/steps_info.json",
        RUN,
        """
        + run (browsergym/run, run): Send the form
            type [textbox "Name"] [Ada]
            press [Tab]
            click [7]
            mouse_dblclick(3, 4)
            right_click [7]
            click [7] [keys=Control+Shift]
            click_at [3] [4]
            select [7] [a]
            select [7] [b]
            scroll [up]
            stop [sent]
            # [0]: press has the target textbox "Name"; here a key goes to the focused element
            # [3]: mouse_dblclick is kept unchanged, because there is no corresponding action
        - [1]: its action failed: TimeoutError: a9 is not there
        """,
    ),
    "a published trajectory": (
        "a.json",
        PUBLISHED,
        """
        + a (browsergym/a, webarena): Open it
            click [12]
        """,
    ),
    "a run without a reward": (
        "a.json",
        [gym_step(0, "click('7')"), {**gym_step(1, None), "reward": 0}],
        "- a: its reward is 0, less than 1",
    ),
    "a history": (
        "lamps.json",
        HISTORY,
        """
        + lamps.json (browser-use/lamps, lamps): lamps
            click [4]
            stop [two]
            # The file does not contain the pages. Observations have only the address and the element of eac
            # The file does not contain the task: it is named 'lamps' after the file.
        - history[1].model_output.action[0]: it was not done: no
        """,
    ),
    "a history without its end": (
        "a.json",
        ended([{"is_done": False}]),
        "- a.json: the agent did not say that it was done",
    ),
    "a history of a failure": (
        "a.json",
        ended([{"is_done": True, "success": False}]),
        "- a.json: the agent said that it did not succeed",
    ),
    "a recording": (
        "a.json",
        recording({"type": "click", **on('aria/Lamps[role="link"]')}),
        """
        + a.json (chrome/a, a): Find a lamp
            click [link "Lamps"]
            # The file does not contain the pages. Observations have only the address and the element of eac
        - steps[0]: it sets up the window
        - steps[1]: it is where the run starts
        """,
    ),
    "a recording with a faulty step": (
        "a.json",
        recording({"type": "click"}, {"type": "click", **on("text/Lamps")}),
        """
        - steps[0]: it sets up the window
        - steps[1]: it is where the run starts
        - a.json: steps[2] is faulty, and an exemplar must be complete
        ! steps[2]: a click needs selectors
        """,
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_file_becomes_trajectories_and_reports(tmp_path, case):
    name, value, expected = CASES[case]
    path = tmp_path / name
    if isinstance(value, str):
        path.write_text(value, encoding="utf-8")
    else:
        saved(tmp_path, value, name)
    assert as_text(read(path)) == dedent(expected).strip()


def test_a_smaller_reward_is_enough_where_it_is_asked_for_and_a_family_may_be_given(tmp_path):
    lines = (*SESSION[:-1], {**SESSION[-1], "reward": 0.5})
    exemplar = only(saved(tmp_path, lines, "s.jsonl"), least_reward=0.5, family="mugs").exemplar
    assert (exemplar.family, exemplar.source) == ("mugs", "WebShop session s_1, reward 0.5")


def test_pages_thoughts_and_facts_of_a_file_are_kept(tmp_path):
    step, _ = read(saved(tmp_path, {"p": {**POLICY, "examples": DECISIONS[:3]}})).candidates
    assert step.exemplar.steps[0].observation == '[7] button "Go"'
    web = only(saved(tmp_path, [record()])).exemplar
    assert web.steps[0].observation == '[11] textbox "City"\n[12] button "Find & go"'
    assert web.tags == ("mind2web", "Travel", "Hotel", "trips")
    element = [{"tag": "a", "backend_node_id": "900"}]
    long = only(saved(tmp_path, [operated("CLICK", cleaned_html=LONG_PAGE, pos_candidates=element)])).exemplar
    assert len(long.steps[0].observation.split("\n")) == 200
    assert '[900] link "link 900"' in long.steps[0].observation
    session = only(saved(tmp_path, SESSION, "s.jsonl"))
    assert 'link "B01"\nlink "B02"' in session.exemplar.steps[3].observation
    assert all(str(parse_action(one)) == one for one in actions_of(session))
    published = only(saved(tmp_path, PUBLISHED)).exemplar
    assert (published.steps[0].thought, published.steps[0].observation) == ("Why.", "[12] link 'x'")
    history = only(saved(tmp_path, HISTORY)).exemplar
    assert history.steps[0].observation == "Page: Shop https://shop.example/"


def policies_of(path):
    """Write the policies of a file as policy files, and return them by name with what is left out."""
    made = policy_files(read_document(path))
    for name, text in made.files.items():
        (path.parent / name).write_text(text, encoding="utf-8")
    policies = [read_policy(path.parent / name) for name in made.files]
    return {policy.name: policy for policy in policies}, [one.position for one in made.left_out]


def test_policies_with_digits_in_their_names_and_quoted_actions_become_files(tmp_path):
    find = {**POLICY, "examples": [example("find2_it [a]", "None", '"stop [done]"')]}
    policies, left_out = policies_of(saved(tmp_path, {"find2_it": find}))
    assert (list(policies), left_out) == (["find2_it"], [])
    (only_one,) = policies["find2_it"].examples
    assert (str(only_one.call), only_one.history) == ("stop [done]", "")


def test_policies_become_policy_files_that_can_be_read(tmp_path):
    actions = ("click [7]", "click [99]", "stop [done]")
    find = {**POLICY, "examples": [example("find_it [a]", "", action) for action in actions]}
    top = {**POLICY, "instruction": "Please follow these rules:\n# Use find_it\n```\nfence\n```\n"}
    policies, left_out = policies_of(saved(tmp_path, {"find_it": find, "top": top}))
    assert left_out == ["find_it.examples[1]"]
    policy = policies["find_it"]
    assert (policy.description, policy.usage()) == ("Finds what is asked for.", "find_it [query]")
    assert policy.instruction == "1. Look.\n2. Stop."
    assert [str(one.call) for one in policy.examples] == ["click [7]", "stop [done]"]
    assert policies["top"].instruction == "# Use find_it\n```\nfence\n```"


def test_a_published_module_becomes_policy_files_in_which_typing_presses_enter(tmp_path):
    (tmp_path / "templates.py").write_text(MODULE, encoding="utf-8")
    policies, _ = policies_of(tmp_path / "templates.py")
    assert policies.keys() == {"again", "find_it", "top"}
    policy, again = policies["find_it"], policies["again"]
    assert (policy.enter, policy.instruction) == (True, "1. Look.")
    assert [str(one.call) for one in policy.examples] == ["type [3] [a] [enter=1]", "type [3] [c] [enter=0]"]
    assert policies["top"].policies == ("find_it",)
    assert (again.enter, again.instruction) == (False, "1. Look again.")


class Bomb:
    """A pickle of it writes a file when it is opened."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self):
        return Path.touch, (self.mark,)


def test_an_experiment_of_pickles_is_refused_without_opening_them(tmp_path):
    mark = tmp_path / "opened"
    folder = tmp_path / "study" / "2025_agent_on_miniwob.click-test_3"
    saved(folder, {"n_steps": 2, "cum_reward": 1}, "summary_info.json")
    for name in ("exp_args.pkl", "step_0.pkl.gz"):
        (folder / name).write_bytes(pickle.dumps(Bomb(mark)))
    reading = read(tmp_path / "study")
    assert not reading.candidates
    assert "exp_args.pkl and 1 more" in reading.left_out[0].position
    assert "reading it runs the code in it" in reading.left_out[0].why
    assert "save_json=True" in reading.left_out[0].why
    assert not mark.exists()
    saved(folder, RUN, "steps_info.json")
    assert only(tmp_path / "study").exemplar.family == "miniwob.click-test"


def test_several_files_are_read_as_one_and_a_bad_one_is_a_faulty_entry(tmp_path):
    for name, exemplars in (("a.jsonl", ALL[:2]), ("b.jsonl", ALL[1:3])):
        (tmp_path / name).write_text("".join(f"{one.model_dump_json()}\n" for one in exemplars))
    (tmp_path / "c.json").write_text("not JSON")
    found = read(*(tmp_path / name for name in ("a.jsonl", "b.jsonl", "c.json")))
    assert [one.exemplar.id for one in found.candidates] == [one.id for one in ALL[:3]]
    assert [one.position for one in found.left_out] == ["b.jsonl: line 1"]
    assert [one.position for one in found.faulty] == ["c.json"]
    assert found.formats == ("jsonl",)


@pytest.mark.parametrize(
    "document",
    [
        recording({"type": "change", **on("aria/Password", "#pw"), "value": "hunter2"}),
        {
            "history": [
                item(
                    {"input": {"index": 3, "text": "hunter2"}},
                    {"done": {"text": "I sent hunter2", "success": True}},
                    elements=[{"x_path": "html/body/input", "attributes": {"type": "password"}}, None],
                    results=[{}, {"is_done": True}],
                )
            ]
        },
    ],
)
def test_a_password_that_another_program_recorded_is_bullets_in_an_exemplar(tmp_path, document):
    candidate = only(saved(tmp_path, document))
    assert actions_of(candidate)[0].endswith("[•••••••]")
    assert "hunter2" not in candidate.exemplar.model_dump_json()


@pytest.mark.parametrize("call", ["mouse_click(1e999, 5)", f"scroll(0, 1{'0' * 400})", f"noop({'9' * 400})"])
def test_a_number_that_is_none_leaves_the_call_as_it_is(call):
    remarks: list[str] = []
    assert read_calls(call, "", remarks, is_last=False) == [call]
    assert "no corresponding action" in remarks[0]
