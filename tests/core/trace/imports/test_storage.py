import json

import pytest

from core.debugger.steps.view import recorded_step
from core.schema.action import RoleTarget, Type, XPathTarget
from core.schema.errors import DataError, TraceError, UsageError
from core.trace.exports.hiding import without_secrets
from core.trace.exports.registry import FORMATS
from core.trace.imports.records import ImportedRun, ImportedStep
from core.trace.imports.registry import read_file
from tests.core.trace.exports.test_secrets import texts_of
from tests.core.trace.imports.import_files import PNG, item, on, recording, saved
from tests.core.trace.making import limit_to

LAMPS = recording(
    {"type": "click", **on('aria/Lamps[role="link"]', "xpath//html/body/a")},
    {"type": "change", **on("xpath//html/body/input"), "value": "desk lamp"},
)
HISTORY = {
    "history": [
        item({"navigate": {"url": "https://shop.example/lamps"}}, begun=1_700_000_000.0),
        item(
            {"extract": {"query": "price"}}, {"done": {"text": "12", "success": True}}, begun=1_700_000_010.0
        ),
    ]
}


def stored(store, folder, document, name="lamps.json"):
    path = saved(folder, document, name)
    return store.import_run(read_file(path)[1], path.stem)


def test_a_recording_becomes_a_run_of_a_person(store, tmp_path):
    run = stored(store, tmp_path, LAMPS)
    row = store.run(run)
    assert (row.task, row.environment, row.outcome) == ("import/lamps", "import", "done")
    assert (row.instruction, row.start_url) == ("Find a lamp", "https://shop.example/")
    assert row.verdict.success is None
    assert row.llm_calls == 0
    assert [(one.origin, one.action, one.url) for one in store.steps(run)] == [
        ("person", 'click [link "Lamps"]', "https://shop.example/"),
        ("person", "type [xpath=/html/body/input] [desk lamp]", "https://shop.example/"),
    ]
    assert all(one.sealed and one.effect == "page action" for one in store.steps(run))


def test_a_history_becomes_a_run_of_an_agent_with_its_own_times(store, tmp_path):
    run = stored(store, tmp_path, HISTORY)
    row = store.run(run)
    assert (row.started, row.ended, row.seconds) == (1_700_000_000.0, 1_700_000_012.5, 5.0)
    assert row.answer == "12"
    assert [one.begun for one in store.times(run)] == [1_700_000_000.0, 1_700_000_010.0, 1_700_000_010.0]
    first, _, last = store.steps(run)
    assert (first.origin, first.thought) == ("agent", "Open the lamps.")
    assert last.effect == "stop"


def test_nothing_is_invented_that_the_file_has_not(store, tmp_path):
    run = stored(store, tmp_path, LAMPS)
    detail = store.step(run, 1)
    assert [record.phase for record in detail.records] == ["observe", "review", "act", "commit"]
    observation = detail.records[0].observation
    assert (observation.elements, observation.viewport) == ((), (0, 0))
    assert detail.calls == ()


def test_an_imported_run_is_listed_found_shown_and_exported_as_others_are(store, tmp_path):
    run = stored(store, tmp_path, HISTORY)
    assert [row.run for row in store.runs("lamps")] == [run]
    view = recorded_step(store, run, 1)
    assert view.screenshot.data == PNG
    assert view.action.action == "goto [https://shop.example/lamps]"
    for form in FORMATS:
        assert form.write(store, run)


PASSWORD = {"node_name": "INPUT", "x_path": "html/body/input", "attributes": {"type": "password"}}


@pytest.mark.parametrize(
    "document",
    [
        recording({"type": "change", **on("aria/Password", "#password"), "value": "hunter2"}),
        {
            "history": [
                item(
                    {"input": {"index": 3, "text": "hunter2"}},
                    elements=[PASSWORD],
                    results=[{"extracted_content": "Input hunter2 into element 3"}],
                )
            ]
        },
    ],
)
def test_a_password_that_another_program_recorded_is_in_no_export_and_counted(store, tmp_path, document):
    run = stored(store, tmp_path, document)
    assert store.steps(run)[0].action.endswith("[•••••••]")
    with without_secrets(store, run) as hidden:
        assert hidden.left_out == "1 password was left out."
        assert [form.name for form in FORMATS if b"hunter2" in texts_of(form.write(hidden, run))] == []


@pytest.mark.parametrize(
    ("target", "words", "xpath"),
    [
        (XPathTarget(xpath="/html/body/input"), '"Password"', ""),
        (XPathTarget(xpath="/html/body/input"), 'input "Password"', "/html/body/input"),
        (XPathTarget(xpath="//*[@id = 'password']"), "#password", ""),
        (RoleTarget(role="textbox", name="Anything"), 'textbox "Anything"', "//input[@type='password']"),
    ],
)
def test_a_password_of_a_run_that_was_imported_before_is_left_out(store, target, words, xpath):
    step = ImportedStep(
        position="",
        action=Type(target=target, text="hunter2"),
        target=words,
        xpath=xpath,
        message="Input hunter2 into element 3",
    )
    run = store.import_run(ImportedRun(origin="agent", made_with="x", steps=(step,)), "before")
    with without_secrets(store, run) as hidden:
        assert hidden.left_out == "1 password was left out."
        assert [form.name for form in FORMATS if b"hunter2" in texts_of(form.write(hidden, run))] == []


def test_names_become_what_a_task_may_be_called(store, tmp_path):
    assert store.run(stored(store, tmp_path, LAMPS, "my lamps (2).json")).task == "import/my-lamps-2"
    assert store.run(stored(store, tmp_path, LAMPS, "!.json")).task == "import/run"


def test_an_import_that_fails_half_way_leaves_nothing(store):
    limit_to(store, 3)
    steps = tuple(ImportedStep(position="", url="u", screenshot=bytes([n]) * 9000) for n in range(20))
    with pytest.raises(TraceError, match="no space left"):
        store.import_run(ImportedRun(origin="agent", made_with="x", steps=steps), "big")
    assert len(store.runs()) == 0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", r"line 1, column 2: this is not JSON .*export it again"),
        ("[]", "is not a Chrome DevTools recording or a browser-use history"),
        ('{"title": "x"}', "is not a Chrome DevTools recording or a browser-use history"),
        ('{"title": "x", "steps": []}', "contains no page action"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_a_file_of_no_kind_is_reported_in_a_sentence(tmp_path, text, said):
    path = tmp_path / "x.json"
    path.write_text(text)
    with pytest.raises(DataError, match=said) as failed:
        read_file(path)
    assert str(failed.value).startswith(str(path))


def test_a_kind_that_is_given_has_to_fit(tmp_path):
    path = saved(tmp_path, LAMPS)
    assert read_file(path, "chrome-recorder")[0].name == "chrome-recorder"
    with pytest.raises(DataError, match="is not a browser-use history"):
        read_file(path, "browser-use")
    with pytest.raises(UsageError, match="did you mean browser-use"):
        read_file(path, "browseruse")


def test_a_file_that_is_missing_or_no_text_is_reported(tmp_path):
    with pytest.raises(DataError, match="cannot be read"):
        read_file(tmp_path / "none.json")
    (tmp_path / "x.json").write_bytes(b"\xff\xfe{")
    with pytest.raises(DataError, match="is not UTF-8 text"):
        read_file(tmp_path / "x.json")


def test_a_mark_at_the_begin_of_the_file_does_no_harm(tmp_path):
    path = tmp_path / "x.json"
    path.write_text(json.dumps(LAMPS), encoding="utf-8-sig")
    assert len(read_file(path)[1].steps) == 2
