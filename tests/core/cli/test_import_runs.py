import pytest

from tests.core.trace.imports.import_files import item, on, recording, saved

LAMPS = recording({"type": "click", **on("text/Lamps")})
FAULTY = recording({"type": "click"}, {"type": "click", **on("text/Lamps")}, {"type": "klick"})


def test_a_recording_is_shown_and_stored(inside):
    path = saved(inside.folder, LAMPS)
    done = inside("import", path)
    assert done.code == 0
    assert "a Chrome DevTools recording: 1 steps, 2 entries left out, 0 faulty" in done.err
    assert "it is where the run starts" in done.out
    assert "was imported as run 1" in done.err
    (row,) = inside("runs", "--json").json
    assert (row["task"], row["steps"], row["outcome"]) == ("import/lamps", 1, "done")
    assert "Lamps" in inside("show", 1).out


def test_a_dry_run_stores_nothing(inside):
    done = inside("import", saved(inside.folder, LAMPS), "--dry-run")
    assert done.code == 0
    assert "would become one run with 1 step. Nothing was stored" in done.err
    assert not inside.db.exists()


def test_json_tells_what_was_done(inside):
    history = {"history": [item({"go_back": {}})]}
    done = inside("import", saved(inside.folder, history), "--json").json
    assert (done["format"], done["run"]) == ("browser-use", 1)
    assert done["steps"][0] == {
        "position": "history[0].model_output.action[0]",
        "action": "go_back",
        "target": "",
        "url": "https://shop.example/",
        "outcome": "done",
    }


@pytest.mark.parametrize("words", [(), ("--dry-run",), ("--json",)])
def test_faulty_entries_are_listed_and_the_others_imported(inside, words):
    done = inside("import", saved(inside.folder, FAULTY), *words)
    assert done.code == 0
    assert "a click needs selectors" in done.out
    assert "steps[4]" in done.out
    assert "--json" in words or "without 2 entries that cannot be read" in done.err
    assert inside.db.exists() == ("--dry-run" not in words)
    assert not inside.db.exists() or inside("runs", "--json").json[0]["steps"] == 1


def test_a_file_of_which_no_entry_can_be_read_is_refused(inside):
    done = inside("import", saved(inside.folder, {"steps": [{"type": "klick"}, {"type": "click"}]}))
    assert done.code == 2
    assert "no entry can be read: steps[0]: there is no step type 'klick' (2 entries in all)." in done.err
    assert not inside.db.exists()


def test_the_playwright_script_of_a_recording_goes_into_the_frame(inside):
    change = {"type": "change", **on('aria/Card[role="textbox"]', "#card"), "frame": [1, 0], "value": "4"}
    inside("import", saved(inside.folder, recording(change)))
    inside("export", 1, "--format", "playwright", "-o", "run.py")
    assert (
        "page.main_frame.child_frames[1].child_frames[0].get_by_role("
        in (inside.folder / "run.py").read_text()
    )
    assert 'textbox "Card" in frame 1, 0' in inside("show", 1, "--step", 1).out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("nowhere.json",), "nowhere.json cannot be read"),
        (("nowhere.json", "--format", "chrome"), "did you mean chrome-recorder?"),
        ((), "Missing argument"),
    ],
)
def test_a_wrong_call_has_the_code_2(inside, words, said):
    done = inside("import", *words)
    assert (done.code, "Traceback" in done.err) == (2, False)
    assert said in done.err


def test_brackets_and_backslashes_of_a_history_are_printed_as_they_are(inside):
    first = item({"input": {"index": 3, "text": "the [red] one"}})
    first["state"]["interacted_element"] = [
        {"node_name": "INPUT", "attributes": {}, "x_path": 'html/body/div[@id="shop"]/input'}
    ]
    last = item({"done": {"text": "posted [b]hello[/b], see [/rules]", "success": True}})
    typed = r'type [xpath=/html/body/div\[@id="shop"\]/input] [the \[red\] one]'
    said = r"stop [posted \[b\]hello\[/b\], see \[/rules\]]"
    imported = inside("import", saved(inside.folder, {"history": [first, last]}))
    assert imported.code == 0, imported.err
    for done in (imported, inside("show", 1)):
        assert typed in done.out
        assert said in done.out
    assert typed in inside("show", 1, "--step", 1).out
    assert "answer: posted [b]hello[/b], see [/rules]" in inside("show", 1).out
