"""The formats of one run or record each: SteP, Mind2Web, WebShop, BrowserGym, browser-use, Chrome's Recorder."""

import json
import pickle
from pathlib import Path

import pytest

from core.agent.policies.file import read_policy
from core.agent.policies.step_import import policy_files
from core.memory.exchange.documents import read_document
from core.schema.action_text import parse_action
from core.schema.errors import ActionSyntaxError, DataError
from tests.core.memory.exchange.files import POLICY, SESSION, example, gym_step, read, record, saved, visited
from tests.core.memory.making import ALL
from tests.core.trace.imports.import_files import item, on, recording


def only(path, **options):
    (candidate,) = read(path, **options).candidates
    return candidate


def actions_of(candidate):
    return [one for step in candidate.exemplar.steps for one in step.actions]


def whys(entries):
    return {one.position: one.why for one in entries}


# SteP


def test_decisions_that_follow_one_another_are_one_trajectory(tmp_path):
    examples = [
        example("find_it [a]", "", "type [7] [a]"),
        example("find_it [a]", "type [7] [a]", "click [7]"),
        example("find_it [b]", "click [3]", "find_it [c]"),
    ]
    path = saved(tmp_path, {"find_it": {**POLICY, "examples": examples}, "idle": POLICY})
    reading = read(path)
    first, second = reading.candidates
    # SteP's type presses Enter where the policy could say that it should not.
    assert actions_of(first) == ["type [7] [a] [enter=1]", "click [7]"]
    assert first.exemplar.steps[0].observation == '[7] button "Go"'
    assert (first.exemplar.task, first.exemplar.family) == ("find_it [a]", "find_it")
    assert actions_of(second) == ["find_it [c]"]
    assert "1 action before" in second.remarks[0]
    assert whys(reading.left_out) == {"idle": "the policy has no examples"}


def test_enter_is_pressed_as_the_example_says(tmp_path):
    examples = [example("a", "", "type [7] [x y] [0]"), example("b", "", "type [7] [x] [1]")]
    reading = read(saved(tmp_path, {"p": {**POLICY, "examples": examples}}))
    assert [actions_of(one) for one in reading.candidates] == [["type [7] [x y]"], ["type [7] [x] [enter=1]"]]


def test_an_example_without_its_parts_is_faulty_and_an_unknown_action_is_a_remark(tmp_path):
    examples = [
        {"input": "nothing", "response": "ACTION:\nclick [7]"},
        {"input": 3, "response": ""},
        example("a", "", "fly [7]"),
    ]
    reading = read(saved(tmp_path, {"p": {**POLICY, "examples": examples}, "a b": POLICY}))
    assert whys(reading.faulty) == {
        "a b": "a policy's name can contain only letters, digits and _",
        "p.examples[0].input": "it has no OBJECTIVE",
        "p.examples[1].input": "it must be a text, not a number",
    }
    (kept,) = reading.candidates
    assert actions_of(kept) == ["fly [7]"]
    assert "kept unchanged" in kept.remarks[0]


def test_policies_become_policy_files_that_can_be_read(tmp_path):
    examples = [
        example("find_it [a]", "click [2]", "click [7]"),
        example("find_it [a]", "", "click [99]"),
        example("find_it [a]", "", "stop [done]"),
    ]
    top = {**POLICY, "instruction": "Please follow these rules:\n# Use find_it\n```\nfence\n```\n"}
    path = saved(tmp_path, {"find_it": {**POLICY, "examples": examples}, "top": top})
    made = policy_files(read_document(path))
    assert [one.position for one in made.left_out] == ["find_it.examples[1]"]
    for name, text in made.files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    policy = read_policy(tmp_path / "find_it.md")
    assert policy.description == "Finds what is asked for."
    assert policy.usage() == "find_it [query]"
    assert policy.instruction == "1. Look.\n2. Stop."
    assert [str(one.call) for one in policy.examples] == ["click [7]", "stop [done]"]
    assert read_policy(tmp_path / "top.md").instruction == "# Use find_it\n```\nfence\n```"


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
        {
            "input": "OBJECTIVE:\\nfind_it [c]\\nOBSERVATION:\\n[3] textbox \'Search\'",
            "response": "REASON:\\nFill in.\\nACTION:\\ntype [3] [c] [0]",
        },
        {"input": open("secrets").read(), "response": os.environ["HOME"]},
    ],
)
again = {
    "instruction": "Actions: click.",
    "input": question
    + "\\nPREVIOUS ACTIONS:\\n{previous_actions}\\nPlease follow these instructions:\\n1. Look again.",
    "examples": more,
}
os.remove("everything")
'''


def module(tmp_path, text=MODULE):
    path = tmp_path / "templates.py"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_published_module_of_policies_is_read_and_never_run(tmp_path):
    reading = read(module(tmp_path))
    assert [actions_of(one) for one in reading.candidates] == [
        ["type [3] [a] [enter=1]"],
        ["type [3] [c]"],
        ["click [8]"],
    ]
    lines = MODULE.split("\n")
    secret = next(number for number, line in enumerate(lines, start=1) if "secrets" in line)
    used = next(number for number, line in enumerate(lines, start=1) if "input=imported" in line)
    assert [(one.position, one.why) for one in reading.faulty] == [
        ("find_it.input", f"line {used} cannot be evaluated without running it"),
        ("find_it.examples[2]", f"line {secret} cannot be evaluated without running it"),
    ]


def test_a_published_module_becomes_policy_files_in_which_typing_presses_enter(tmp_path):
    made = policy_files(read_document(module(tmp_path)))
    assert sorted(made.files) == ["again.md", "find_it.md", "top.md"]
    for name, text in made.files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    policy = read_policy(tmp_path / "find_it.md")
    assert policy.enter
    assert policy.instruction == "1. Look."
    assert [str(one.call) for one in policy.examples] == ["type [3] [a] [enter=1]", "type [3] [c] [enter=0]"]
    assert read_policy(tmp_path / "top.md").policies == ("find_it",)
    again = read_policy(tmp_path / "again.md")
    assert (again.enter, again.instruction) == (False, "1. Look again.")
    assert [one.position for one in made.left_out] == ["find_it.input", "find_it.examples[2]"]


def test_a_module_that_is_no_python_says_where(tmp_path):
    path = module(tmp_path, "top = {\n'instruction': 'x\n}")
    with pytest.raises(DataError, match=r"templates.py, line 2: this is not Python"):
        read_document(path)


def test_a_module_in_a_folder_is_read_with_the_rest(tmp_path):
    module(tmp_path)
    (tmp_path / "setup.py").write_text("print('hello')\n")
    reading = read(tmp_path)
    assert len(reading.candidates) == 3
    assert [one.position for one in reading.left_out if "not known" in one.why] == ["setup.py"]


# Mind2Web


def test_a_record_has_its_pages_as_lines_and_acts_on_their_numbers(tmp_path):
    candidate = only(saved(tmp_path, [record()]))
    assert actions_of(candidate) == ["type [11] [Oslo]", "click [12]"]
    assert candidate.exemplar.steps[0].observation == '[11] textbox "City"\n[12] button "Find & go"'
    assert (candidate.exemplar.id, candidate.exemplar.family) == ("mind2web/ab-12", "trips")
    assert candidate.exemplar.tags == ("mind2web", "Travel", "Hotel", "trips")
    assert candidate.remarks == ()


@pytest.mark.parametrize("name", ["one.json", "lines.jsonl"])
def test_a_record_alone_and_lines_of_records_are_read_too(tmp_path, name):
    value = [record()] if name.endswith("l") else record()
    assert actions_of(only(saved(tmp_path, value, name))) == ["type [11] [Oslo]", "click [12]"]


def test_rows_of_one_action_each_are_put_together(tmp_path):
    whole = record()
    rows = [
        {
            **{name: whole[name] for name in ("annotation_id", "website", "confirmed_task")},
            **action,
            "operation": json.dumps(action["operation"]),
            "pos_candidates": [json.dumps(one) for one in action["pos_candidates"]],
            "target_action_index": str(number),
            "target_action_reprs": whole["action_reprs"][number],
        }
        for number, action in enumerate(whole["actions"])
    ]
    assert actions_of(only(saved(tmp_path, rows[::-1]))) == ["type [11] [Oslo]", "click [12]"]


def test_a_test_record_that_lacks_fields_is_kept_with_remarks(tmp_path):
    bare = [{"action_uid": "u1"}, {"action_uid": "u2", "pos_candidates": [], "cleaned_html": ""}]
    candidate = only(saved(tmp_path, [record(actions=bare)]))
    assert actions_of(candidate) == ['type [textbox "City"] [Oslo]', 'click [button "Find & go"]']
    assert any("does not contain the page" in one for one in candidate.remarks)
    assert any("only its text identifies it" in one for one in candidate.remarks)


@pytest.mark.parametrize(
    ("original", "action"),
    [
        ("HOVER", "hover [12]"),
        ("ENTER", "press [Enter]"),
        ("SELECT", "select [12] [x]"),
        ("SWIPE", "SWIPE x"),
    ],
)
def test_each_operation_has_its_action(tmp_path, original, action):
    whole = record()
    one = {**whole["actions"][1], "operation": {"op": "CLICK", "original_op": original, "value": "x"}}
    candidate = only(saved(tmp_path, [record(actions=[one], action_reprs=[])]))
    assert actions_of(candidate) == [action]
    assert bool(candidate.remarks) is (original == "SWIPE")


def test_a_long_page_keeps_what_lies_around_the_element(tmp_path):
    page = "".join(f'<a backend_node_id="{number}">link {number}</a>' for number in range(1000))
    action = {**record()["actions"][1], "cleaned_html": page}
    action["pos_candidates"] = [{"tag": "a", "backend_node_id": "900"}]
    candidate = only(saved(tmp_path, [record(actions=[action], action_reprs=[])]))
    lines = candidate.exemplar.steps[0].observation.split("\n")
    assert len(lines) == 200
    assert '[900] link "link 900"' in lines
    assert "800 of the page's lines" in candidate.remarks[0]


@pytest.mark.parametrize(
    ("change", "position"),
    [
        ({"confirmed_task": None}, "[1].confirmed_task"),
        ({"actions": "none"}, "[1].actions"),
        ({"actions": [4]}, "[1].actions[0]"),
        ({"actions": [{"operation": "{"}]}, "[1].actions[0].operation"),
        (
            {"actions": [{"pos_candidates": 3}], "action_reprs": ["[a]  b -> CLICK"]},
            "[1].actions[0].pos_candidates",
        ),
        ({"actions": [], "action_reprs": []}, "[1].actions"),
        ({"confirmed_task": ""}, "[1]"),
    ],
)
def test_a_faulty_record_is_reported_by_its_place_and_leaves_the_others(tmp_path, change, position):
    reading = read(saved(tmp_path, [record(), record(annotation_id="z", **change)]))
    assert [one.position for one in reading.candidates] == ["[0]"]
    assert [one.position for one in reading.faulty] == [position]


# WebShop


def test_what_leads_from_a_page_to_the_next_is_the_action(tmp_path):
    candidate = only(saved(tmp_path, SESSION, "s_1.jsonl"))
    assert actions_of(candidate) == [
        """type [textbox "Search..."] [red men's mug]""",
        'click [button "Search"]',
        'click [button "Next >"]',
        'click [button "< Prev"]',
        'click [link "B02"]',
        'click [radio "red"]',
        'click [button "Features"]',
        'click [button "< Prev"]',
        'click [button "Buy Now"]',
    ]
    assert all(str(parse_action(one)) == one for one in actions_of(candidate))
    assert candidate.remarks == ()
    observation = candidate.exemplar.steps[3].observation
    assert 'link "B01"\nlink "B02"' in observation
    assert candidate.exemplar.task == "find me a red mug"


@pytest.mark.parametrize(
    ("lines", "options", "why"),
    [
        (SESSION[:-1], {}, "does not end with a purchase"),
        ((*SESSION[:-1], {**SESSION[-1], "reward": 0.5}), {}, "its reward is 0.5, less than 1"),
        ((*SESSION[:3], "{", *SESSION[3:]), {}, "must be complete"),
    ],
)
def test_a_session_that_is_no_success_or_not_whole_is_left_out(tmp_path, lines, options, why):
    reading = read(saved(tmp_path, lines, "s.jsonl"), **options)
    assert not reading.candidates
    assert why in reading.left_out[0].why


def test_a_smaller_reward_is_enough_where_it_is_asked_for(tmp_path):
    lines = (*SESSION[:-1], {**SESSION[-1], "reward": 0.5})
    assert only(saved(tmp_path, lines, "s.jsonl"), least_reward=0.5).exemplar.source.endswith("reward 0.5")


def test_a_page_seen_twice_is_left_out_and_a_jump_opens_its_address(tmp_path):
    jump = visited("item_page", "B09")
    lines = (SESSION[0], SESSION[0], jump, visited("done", "B09", reward=1))
    reading = read(saved(tmp_path, lines, "s.jsonl"))
    (candidate,) = reading.candidates
    assert actions_of(candidate) == [f"goto [{jump['url']}]", 'click [button "Buy Now"]']
    assert "line 3: no button" in candidate.remarks[0]
    assert whys(reading.left_out) == {"line 2": "it repeats the page before it"}


def test_a_line_that_is_no_page_is_reported_with_its_number(tmp_path):
    wrong = [
        {"page": "shop"},
        7,
        {**SESSION[0], "goal": 3},
        {**SESSION[-1], "reward": None},
        visited("item_page"),
    ]
    reading = read(saved(tmp_path, (SESSION[0], *wrong), "s.jsonl"))
    assert [one.position for one in reading.faulty] == [f"line {number}" for number in range(2, 7)]
    assert "content.asin: it is missing" in reading.faulty[-1].why


def test_two_sessions_in_a_file_are_two_exemplars(tmp_path):
    other = [{**one, "goal": {"instruction_text": "find me a blue mug"}} for one in SESSION]
    reading = read(saved(tmp_path, (*SESSION, *other), "s.jsonl"))
    assert [one.exemplar.id for one in reading.candidates] == ["webshop/s", "webshop/s/1"]


# BrowserGym

RUN = [
    gym_step(0, "fill('a1', \"Ada\")\npress('a1', 'Tab')"),
    gym_step(1, "click('a9')"),
    gym_step(2, "click('7')", last_action_error="TimeoutError: a9 is not there\nmore"),
    gym_step(3, "mouse_dblclick(3, 4)"),
    gym_step(4, "send_msg_to_user('sent')"),
    gym_step(5, None),
]


def test_the_steps_of_a_trace_become_a_trajectory_without_what_failed(tmp_path):
    reading = read(saved(tmp_path, RUN, "steps_info.json"))
    (candidate,) = reading.candidates
    assert actions_of(candidate) == [
        'type [textbox "Name"] [Ada]',
        "press [Tab]",
        "click [7]",
        "mouse_dblclick(3, 4)",
        "stop [sent]",
    ]
    assert (candidate.exemplar.task, candidate.exemplar.steps[0].thought) == ("Send the form", "Next.")
    assert whys(reading.left_out) == {"[1]": "its action failed: TimeoutError: a9 is not there"}
    assert any("mouse_dblclick is kept unchanged" in one for one in candidate.remarks)


@pytest.mark.parametrize(
    ("call", "action"),
    [
        ("click('7', button='right')", "right_click [7]"),
        ("click('7', modifiers=['ControlOrMeta', 'Shift'])", "click [7] [keys=Control+Shift]"),
        ("mouse_click(3, 4)", "click_at [3] [4]"),
    ],
)
def test_buttons_keys_and_pixels_of_clicks_are_read(tmp_path, call, action):
    run = [gym_step(0, call), gym_step(1, None)]
    (candidate,) = read(saved(tmp_path, run, "steps_info.json")).candidates
    assert actions_of(candidate) == [action]


def test_a_published_trajectory_with_its_goal_beside_the_steps_is_read(tmp_path):
    steps = [{"action": "click('12')", "reasoning": "Why.", "axtree": "[12] link 'x'"}]
    run = {"goal": "Open it", "task_id": "webarena.12", "steps": steps, "summary_info": {"cum_reward": 1}}
    exemplar = only(saved(tmp_path, run)).exemplar
    assert (exemplar.task, exemplar.family, exemplar.steps[0].thought) == ("Open it", "webarena", "Why.")


def test_a_run_that_got_no_reward_is_left_out(tmp_path):
    failed = [gym_step(0, "click('7')"), {**gym_step(1, None), "reward": 0}]
    reading = read(saved(tmp_path, failed))
    assert (reading.candidates, reading.left_out[0].why) == ((), "its reward is 0, less than 1")


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


# browser-use and Chrome


def test_a_history_that_came_to_its_end_is_an_exemplar(tmp_path):
    done = item({"done": {"text": "two", "success": True}}, results=[{"is_done": True, "success": True}])
    history = {
        "history": [
            item({"click_element": {"index": 4}}),
            item({"scroll": {"down": True}}, results=[{"error": "no"}]),
            done,
        ]
    }
    reading = read(saved(tmp_path, history, "lamps.json"))
    (candidate,) = reading.candidates
    assert actions_of(candidate) == ["click [4]", "stop [two]"]
    assert candidate.exemplar.steps[0].observation == "Page: Shop https://shop.example/"
    assert "does not contain the task" in candidate.remarks[-1]
    assert "it was not done: no" in reading.left_out[0].why


@pytest.mark.parametrize(
    ("results", "why"),
    [
        ([{"is_done": False}], "did not say that it was done"),
        ([{"is_done": True, "success": False}], "did not succeed"),
    ],
)
def test_a_history_that_is_no_success_is_left_out(tmp_path, results, why):
    history = {"history": [item({"done": {"text": "x", "success": False}}, results=results)]}
    reading = read(saved(tmp_path, history))
    assert not reading.candidates
    assert why in reading.left_out[-1].why


def test_a_recording_of_chrome_is_an_exemplar_of_its_title(tmp_path):
    path = saved(tmp_path, recording({"type": "click", **on('aria/Lamps[role="link"]')}))
    assert only(path).exemplar.task == "Find a lamp"
    assert actions_of(only(path)) == ['click [link "Lamps"]']


def test_a_recording_with_a_faulty_step_is_no_exemplar(tmp_path):
    reading = read(saved(tmp_path, recording({"type": "click"}, {"type": "click", **on("text/Lamps")})))
    assert not reading.candidates
    assert reading.faulty[0].position == "steps[2]"


@pytest.mark.parametrize("form", ["step", "webshop"])
def test_actions_of_all_formats_are_in_the_form_of_this_program(tmp_path, form):
    path = (
        saved(tmp_path, SESSION, "s.jsonl")
        if form == "webshop"
        else saved(tmp_path, {"p": {**POLICY, "examples": [example("a", "", "`click [7]`")]}})
    )
    for text in actions_of(only(path)):
        try:
            assert str(parse_action(text)) == text
        except ActionSyntaxError as error:
            pytest.fail(str(error))


def test_several_files_are_read_as_one_and_a_bad_one_is_a_faulty_entry(tmp_path):
    for name, exemplars in (("a.jsonl", ALL[:2]), ("b.jsonl", ALL[1:3])):
        (tmp_path / name).write_text("".join(f"{one.model_dump_json()}\n" for one in exemplars))
    (tmp_path / "c.json").write_text("not JSON")
    found = read(*(tmp_path / name for name in ("a.jsonl", "b.jsonl", "c.json")))
    assert [one.exemplar.id for one in found.candidates] == [one.id for one in ALL[:3]]
    assert [one.position for one in found.left_out] == ["b.jsonl: line 1"]
    assert [one.position for one in found.faulty] == ["c.json"]
    assert found.formats == ("jsonl",)
