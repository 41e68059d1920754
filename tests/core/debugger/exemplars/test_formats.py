"""Every form in which exemplars go out, and that what goes out comes in again as it was."""

import json
import os
import subprocess
import sys

import pytest

from core.debugger.exemplars.formats import EXPORTS, export_format, left_out_words
from core.exemplars.exchange.plan import ReadOptions
from core.exemplars.exchange.reader import read_exemplars_of
from core.exemplars.files import EXEMPLARS, read_exemplars, write_files
from core.schema.errors import UsageError
from core.schema.exemplar import AbstractionPair, Contrast, Exemplar, ExemplarReview, ExemplarStep

TWO = Exemplar(
    id="two",
    family="f",
    task="Do both",
    steps=(
        ExemplarStep(observation='[1] button "A"', thought="First.", actions=("click [1]", "fly away")),
        ExemplarStep(observation='[2] button "B"', actions=("type [2] [x] [enter=1]",)),
    ),
    tags=("mine",),
)


def lines_of(form, *exemplars):
    return [json.loads(line) for line in export_format(form).write(exemplars)[""].splitlines()]


def test_a_conversation_is_written_as_in_a_prompt():
    (conversation,) = lines_of("chat", TWO)
    assert [one["role"] for one in conversation["messages"]] == [
        "system",
        "user",
        "assistant",
        "user",
        "assistant",
    ]
    system, first, reply, second, last = (one["content"] for one in conversation["messages"])
    assert "- click [target]" in system or "- click" in system
    assert "- drag" not in system
    assert first == 'Task: Do both\n\nObservation:\n[1] button "A"'
    assert reply == "REASON: First.\nACTION: click [1]\nACTION: fly away"
    assert second == 'Observation:\n[2] button "B"'
    assert last == "ACTION: type [2] [x] [enter=1]"


CONTRAST = Contrast(
    observation='[2] button "B"', tried="click [2]", right="type [2] [x]", why="It is a field."
)
FIT = TWO.replace(
    steps=(
        TWO.steps[0].replace(actions=("click [1]", "press [Tab]")),
        ExemplarStep(observation='[2] textbox "B"', actions=("type [2] [x]",)),
    ),
    contrasts=(CONTRAST.replace(observation='[2] textbox "B"'),),
)


@pytest.mark.parametrize("form", ["chat", "tools", "sharegpt", "pairs"])
def test_nothing_before_a_reply_tells_it_and_nothing_is_made_up(form):
    (line,) = lines_of(form, FIT)
    before = line.get("prompt") or line.get("messages") or line["conversations"]
    texts = [str(one.get("content") or one.get("value") or "") for one in before]
    assert "It is a field." not in "".join(texts)
    assert not any("Wrong here" in text or "This is next" in text for text in texts)
    assert any('[2] textbox "B"' in text for text in texts)


def test_tool_calls_are_answered_by_the_page_that_they_led_to():
    (line,) = lines_of("tools", FIT)
    roles = [one["role"] for one in line["messages"]]
    assert roles == ["system", "user", "assistant", "tool", "tool", "assistant"]
    calls = line["messages"][2]["tool_calls"]
    assert [json.loads(call["function"]["arguments"]) for call in calls] == [{"target": "1"}, {"keys": "Tab"}]
    assert [one["tool_call_id"] for one in line["messages"][3:5]] == [call["id"] for call in calls]
    assert '[2] textbox "B"' in line["messages"][4]["content"]
    tools = {one["function"]["name"]: one["function"]["parameters"] for one in line["tools"]}
    assert set(tools) == {"click", "type", "press"}
    assert tools["type"]["properties"]["enter"] == {"type": "boolean"}
    assert tools["type"]["required"] == ["target", "text"]
    for call in calls:
        name, given = call["function"]["name"], json.loads(call["function"]["arguments"])
        assert set(given) <= set(tools[name]["properties"])


def test_turns_of_sharegpt_have_its_names():
    (line,) = lines_of("sharegpt", FIT)
    assert [one["from"] for one in line["conversations"]] == ["system", "human", "gpt", "human", "gpt"]
    assert line["conversations"][-1]["value"] == "ACTION: type [2] [x]"


def test_a_contrast_is_a_pair_of_replies_after_the_same_prompt():
    (pair,) = lines_of("pairs", FIT)
    assert [one["role"] for one in pair["prompt"]] == ["system", "user", "assistant", "user"]
    assert pair["chosen"] == [
        {"role": "assistant", "content": "REASON: It is a field.\nACTION: type [2] [x]"}
    ]
    assert pair["rejected"] == [{"role": "assistant", "content": "ACTION: click [2]"}]
    assert lines_of("pairs", FIT.replace(contrasts=())) == []


def test_what_is_not_fit_to_be_trained_with_is_left_out_with_the_reason():
    empty = FIT.replace(id="empty", steps=(FIT.steps[0], FIT.steps[1].replace(observation=" ")))
    wrong = FIT.replace(id="wrong", steps=(FIT.steps[0].replace(actions=("type [1] [x]",)),))
    wanted = wrong.replace(id="wanted", review=ExemplarReview(although=True))
    kept, unfit = export_format("chat").fitting((FIT, empty, wrong, wanted))
    assert [one.id for one in kept] == ["two", "wanted"]
    assert unfit["empty"] == "step 2 has no page"
    assert "a button cannot be typed into" in unfit["wrong"]
    words = left_out_words({"new": 3}, unfit)
    assert words == "3 new; empty (and 1 more), as step 2 has no page"
    assert export_format("pairs").fitting((FIT.replace(contrasts=()),))[1] == {
        "two": "it has no contrast on the page of a step"
    }
    assert export_format("jsonl").fitting((empty, wrong)) == ((empty, wrong), {})


def test_a_trajectory_in_atif_has_its_calls_and_what_came_of_them():
    (trajectory,) = lines_of("atif", TWO)
    assert trajectory["schema_version"] == "ATIF-v1.8"
    assert [one["step_id"] for one in trajectory["steps"]] == [1, 2, 3, 4]
    assert [one["source"] for one in trajectory["steps"]] == ["user", "system", "agent", "agent"]
    first = trajectory["steps"][2]
    assert [one["function_name"] for one in first["tool_calls"]] == ["click", "text"]
    assert first["tool_calls"][0]["arguments"] == {"target": "1"}
    assert first["observation"]["results"][0]["content"] == '[2] button "B"'
    assert trajectory["steps"][3]["tool_calls"][0]["arguments"] == {"target": "2", "text": "x", "enter": True}
    assert trajectory["extra"]["exemplar"]["tags"] == ["mine"]


@pytest.mark.parametrize("form", [one.name for one in EXPORTS if not one.loses])
def test_what_goes_out_in_a_form_that_loses_nothing_comes_in_again_as_it_was(tmp_path, form):
    bundled = (one for path in sorted(EXEMPLARS.glob("*.jsonl")) for one in read_exemplars(path))
    preferred = MARKED.replace(
        id="my/own", pinned=True, never=("Sort it.",), review=ExemplarReview(status="new")
    )
    exemplars, known = (*bundled, MARKED, preferred.replace(task="Do that")), export_format(form)
    write_files(known.files(exemplars, tmp_path if not known.suffix else tmp_path / "own.jsonl"))
    plan = read_exemplars_of([tmp_path], ReadOptions())
    assert plan.those("faulty") == ()
    assert {one.id: one for _, one in plan.exemplars} == {one.id: one for one in exemplars}


def test_an_unknown_export_form_is_reported_with_the_nearest():
    with pytest.raises(UsageError, match="did you mean chat"):
        export_format("chatt")
    assert len({one.name for one in EXPORTS}) == len(EXPORTS)


LOAD = """
import sys
from datasets import load_dataset

for file in sys.argv[2:]:
    rows = load_dataset("json", data_files=file, cache_dir=sys.argv[1], split="train")
    print(len(rows), ",".join(sorted(rows.column_names)))
"""


COLUMNS = {
    "chat": "messages",
    "tools": "messages,tools",
    "sharegpt": "conversations",
    "pairs": "chosen,prompt,rejected",
}


@pytest.mark.program
def test_all_bundled_exemplars_are_fit_for_training_and_load_as_datasets_whole(tmp_path):
    bundled = [one for file in sorted(EXEMPLARS.glob("*.jsonl")) for one in read_exemplars(file)]
    paths, told = [], []
    for form, columns in COLUMNS.items():
        known = export_format(form)
        kept, unfit = known.fitting([*bundled, FIT])
        assert unfit == {} or form == "pairs"
        (path,) = known.files(kept, tmp_path / f"{form}.jsonl")
        path.write_text(known.files(kept, path)[path], encoding="utf-8")
        lines = len(path.read_text(encoding="utf-8").splitlines())
        assert lines == (sum(len(one.contrasts) for one in kept) if form == "pairs" else len(kept))
        paths.append(path)
        told.append(f"{lines} {columns}")
    environment = {**os.environ, "HF_HOME": str(tmp_path), "HF_HUB_OFFLINE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", LOAD, tmp_path / "cache", *paths],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.splitlines() == told


MARKED = Exemplar(
    id="marked",
    family="f",
    task="Do it",
    steps=(
        ExemplarStep(observation='[1] button "Go"', raw="RAW [1]", thought="So.", actions=("click [1]",)),
        ExemplarStep(observation="All is done.", actions=("stop []",)),
    ),
    abstraction=(AbstractionPair(state="[1] ABSTRACTION", observation='[1] button "Go"'),),
    parser="def parse(html):\n    return 'PARSER'",
    contrasts=(Contrast(observation='[1] button "Go"', tried="go_back", right="click [1]", why="CONTRAST"),),
    tags=("TAG",),
    note="NOTE",
    weight=7.125,
)
PARTS = {
    "contrasts": "CONTRAST",
    "abstraction": "ABSTRACTION",
    "the parser": "PARSER",
    "whole pages": "RAW",
    "tags": "TAG",
    "notes": "NOTE",
    "weight": "7.125",
}


@pytest.mark.parametrize("form", [one.name for one in EXPORTS])
def test_a_form_says_what_it_does_not_write(form):
    known = export_format(form)
    text = "".join(known.write((MARKED,)).values())
    missing = [part for part, mark in PARTS.items() if mark not in text]
    assert [part for part in known.loses.split(", ") if part in PARTS] == missing
    assert known.told.startswith(known.words)
