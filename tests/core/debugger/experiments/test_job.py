"""What the subprocess of an experiment is started with, and that stored experiments stay readable."""

import json
from itertools import pairwise

import pytest

from core.debugger.ask_again.views import Attribution
from core.debugger.experiments.bisect import Bisection, BisectRequest
from core.debugger.experiments.service import WorthService
from core.debugger.experiments.worth_records import ReplayResult, Subject, Worth, WorthRequest
from core.environments.registry import Environments
from tests.core.debugger.experiments.fake_subprocess import FakeSubprocess

RUN = (
    '{"run": 8, "success": true, "reward": 1.0, "outcome": "done", "steps": 4, "llm_calls": 3, "cost": 0.5, '
    '"seconds": 2.5, "error": ""%s}'
)
BISECTION = (
    '{"number": 4, "run": 12, "preset": "plain", "llm": "fast", "browser": "embedded", "times": 1, "chosen": [3], '
    '"most_calls": 9, "most_cost": null, "when": 1.5, "state": "done", "why": "", "results": [{"step": 3, '
    '"action": "click [1]", "runs": [8], "successes": 1, "judged": 1, "low": 0.2, "high": 1.0, "problems": [], '
    f'"branches": [{RUN % ""}]}}]}}'
)
ARM = RUN % ', "used": true'
WORTH = (
    '{"number": 2, "subject": {"kind": "change", "name": "a/1", "before": 1, "after": 2}, "tasks": ["t/x"], '
    '"seeds": [1], "times": 1, "preset": "synapse", "llm": "fast", "browser": "embedded", "on_gate": "refuse", '
    '"unseeded": [], "left_out": [["t/x", 0]], "trace": "traces.db", "most_calls": null, "most_cost": 1.0, '
    '"when": 1.5, "state": "limit", "why": "The limit.", "pairs": [{"task": "t/x", "seed": 1, "time": 1, '
    f'"with_it": {ARM}, "without_it": {ARM}}}]}}'
)
REPLAY = (
    '{"id": "a/1", "version": 2, "task": "t/x", "seed": 0, "success": false, "looks": 1, "problem": "It was gone.", '
    '"guessed": ["x"], "when": 1.5}'
)
ATTRIBUTION = (
    '{"id": "a/1", "family": "f", "trace": "traces.db", "run": 1, "step": 2, "llm": "fast", "temperature": 1.0, '
    '"action": "click [1]", "with_same": 4, "with_all": 5, "without_same": 1, "without_all": 5, "when": 1.5, '
    '"success": true}'
)
BISECT_REQUEST = (
    '{"run": 1, "steps": [2], "every": 1, "times": 3, "preset": "", "llm": "fast", "most_calls": 9, '
    '"most_cost": 1.0}'
)
WORTH_REQUEST = (
    '{"subject": {"kind": "family", "name": "f", "before": 0, "after": 0}, "tasks": ["t/*"], "seeds": [0, 1], '
    '"times": 2, "preset": "synapse", "llm": "", "on_gate": "allow", "most_calls": null, "most_cost": null}'
)


@pytest.mark.parametrize(
    ("record", "text"),
    [
        (Bisection, BISECTION),
        (Worth, WORTH),
        (ReplayResult, REPLAY),
        (Attribution, ATTRIBUTION),
        (BisectRequest, BISECT_REQUEST),
        (WorthRequest, WORTH_REQUEST),
    ],
)
def test_what_is_stored_is_read_and_stored_alike(record, text):
    assert json.loads(record.model_validate_json(text).model_dump_json()) == json.loads(text)


def test_a_measurement_ends_as_done_at_its_limit_or_cancelled():
    done = Bisection.model_validate_json(BISECTION).replace(state="running")
    assert (done.ended().state, done.ended().why) == ("done", "")
    short = done.replace(times=2)
    assert (short.ended().state, short.ended().why) == ("cancelled", "It was cancelled.")
    assert short.replace(most_calls=3).ended().state == "limit"
    assert short.failed(OSError("gone")).why == "OSError('gone')"
    assert short.failed(KeyboardInterrupt()).state == "cancelled"


@pytest.mark.browser
def test_the_job_is_given_the_choices_and_the_task_files_of_the_command_line(stage, tmp_path, monkeypatch):
    path = tmp_path / "tasks.toml"
    path.write_text('[[tasks]]\nid = "own/one"\nurl = "about:blank"\ninstruction = "Look."\n')
    remembered = tmp_path / "remembered.toml"
    remembered.write_text(path.read_text().replace("own/one", "own/two"))
    environments = Environments(task_files=(path,), remembered_task_files=(remembered,), strict=False)
    monkeypatch.setattr(stage.services, "environments", environments)
    fake = FakeSubprocess(stage, WorthService)
    fake.service.open(None)
    fake.wait(lambda view: view.ready)
    request = WorthRequest(
        subject=Subject(kind="family", name="click-link"),
        tasks=("miniwob/click-link",),
        preset="synapse",
        llm="rules",
        on_gate="allow",
        most_calls=7,
    )
    fake.service.measure(request)
    fake.wait(lambda view: fake.asked and not view.busy)
    [arguments] = fake.asked
    flags = dict(pairwise(arguments))
    assert arguments.count("--tasks-file") == 1
    assert flags["--tasks-file"] == str(path)
    assert flags["--db"] == str(stage.services.store.path)
    assert (flags["--preset"], flags["--llm"], flags["--max-calls"]) == ("synapse", "rules", "7")
    assert (flags["--on-gate"], flags["--max-steps"], flags["--task"]) == (
        "allow",
        "30",
        "miniwob/click-link",
    )
    assert "--family" in arguments
    assert "--max-cost" not in arguments
