"""Secrets of a task: the LLM and all that is stored have their names, only the page gets the values."""

import subprocess
import sys

import pytest

from core.agent.branching import reopen_task
from core.agent.loop import open_run
from core.agent.state import Budget
from core.agent.world import secrets_of
from core.debugger.exemplars.saving.selection import exemplar_of_run
from core.debugger.exemplars.trying.replay import replay
from core.environments.task_file import TaskFile
from core.exemplars.checks import check_secrets
from core.exemplars.library.records import Provenance
from core.schema.action_text import parse_action
from core.schema.errors import ActionError, DataError, UsageError
from core.schema.exemplar import Exemplar, ExemplarStep
from core.schema.task import Task
from core.trace.exports.registry import FORMATS
from tests.core.stage import llms_for, on, page_file, settings_for, stop
from tests.llm_server import call

VALUES = {"password": "Tr0ub4dor&3", "code": "493817", "size": "XL-secret-9", "pin": "42"}
PAGE = """<form onsubmit="return false"><label>Password <input type=password></label><label>Name <input></label>
<label>Size <select><option>S</option><option>XL-secret-9</option></select></label>
<button onclick="said.textContent = 'You are in with ' + document.querySelector('input').value">Send</button></form>
<p id=said></p>"""


def task_of(url: str, **more) -> Task:
    text = f"Log in with {VALUES['password']}."
    return Task(
        id="mine/log-in", environment="web", instruction=text, start_url=url, **{"secrets": VALUES, **more}
    )


@pytest.fixture
def url(tmp_path):
    return page_file(tmp_path, PAGE, "login.html")


@pytest.fixture
def opened(stage, llm_server, url):
    """Returns how a run of the task is opened."""

    def open_it(**more):
        task = stage.services.environments.find("web/open", url=url, instruction="Log in.").replace(
            instruction=task_of(url).instruction, secrets=VALUES, **more
        )
        llms = llms_for(settings_for(stage.settings.database, llm_server.base_url))
        stage._llms.append(llms)
        services = stage.services
        return stage.thread.run(
            open_run(
                services.store,
                services.world(task),
                task,
                0,
                preset=services.resources.presets.get("plain"),
                llm=llms.routed("test"),
                resources=services.resources,
                budget=Budget(10, 20),
                browser="chromium",
            )
        )

    return open_it


def everything(store, run):
    """Return all that is stored of a run, as text."""
    rows = [store._database.blobs.content(row["id"]) for row in store._database.rows("SELECT id FROM blobs")]
    found = [one.decode(errors="replace") for one in rows]
    found += [repr(store.step(run, row.number)) for row in store.steps(run)]
    return "\n".join([*found, repr(store.run(run))])


def in_page(stage, run, script):
    return stage.thread.run(run.world.tabs.current.evaluate(script))


@pytest.mark.browser
def test_the_llm_and_the_trace_have_the_name_and_the_page_gets_the_value(stage, llm_server, opened):
    run = opened()
    llm_server.script(
        on('textbox "Password"', "type", text="<secret:password>"),
        on('combobox "Size"', "select", option="<secret:size>"),
        on('button "Send"'),
        stop("done"),
    )
    stage.to_the_end(run)
    assert in_page(stage, run, "document.querySelector('input').value") == VALUES["password"]
    assert in_page(stage, run, "document.querySelector('select').value") == VALUES["size"]
    asked = "\n".join(text for request in llm_server.requests for text in request.texts)
    assert "secrets by name only: <secret:password>, <secret:code>, <secret:size>, <secret:pin>" in asked
    assert "Log in with <secret:password>." in asked
    assert "You are in with <secret:password>" in asked
    stored = everything(stage.services.store, run.state.run)
    for value in ("Tr0ub4dor", VALUES["size"]):
        assert value not in asked
        assert value not in stored
    actions = [row.action for row in stage.services.store.steps(run.state.run)]
    assert [one.split(" ", 2)[2] for one in actions[:2]] == ["[<secret:password>]", "[<secret:size>]"]


@pytest.mark.browser
@pytest.mark.parametrize("name", ["code", "pin"])
def test_a_value_that_is_typed_in_clear_is_recorded_by_its_name_also_a_short_one(
    stage, llm_server, opened, name
):
    run = opened()
    llm_server.script(on('textbox "Name"', "type", text=VALUES[name]), stop())
    stage.to_the_end(run)
    store = stage.services.store
    assert store.steps(run.state.run)[0].action.endswith(f"[<secret:{name}>]")
    assert in_page(stage, run, "document.querySelectorAll('input')[1].value") == VALUES[name]


@pytest.mark.browser
def test_an_unknown_name_and_a_secret_in_an_address_fail_with_what_to_do(stage, llm_server, opened):
    run = opened()
    llm_server.script(
        on('textbox "Password"', "type", text="<secret:pasword>"),
        on('textbox "Name"', "type", text="<secret:code> x"),
        stop(),
    )
    stage.step(run)
    (failed,) = stage.services.store.steps(run.state.run)
    assert failed.outcome == "failed"
    with pytest.raises(ActionError, match="never put into an address"):
        stage.thread.run(run.world.actor.act(parse_action("goto [http://localhost/?p=<secret:code>]")))
    assert (
        "There is no <secret:pasword>; the secrets of this task are <secret:password>, <secret:code>"
        in failed.message
    )
    stage.to_the_end(run)
    assert in_page(stage, run, "document.querySelectorAll('input')[1].value") == "493817 x"


@pytest.mark.browser
def test_every_export_has_the_name_and_a_script_reads_the_value_from_the_environment(
    stage, llm_server, opened, tmp_path
):
    run = opened()
    llm_server.script(on('textbox "Password"', "type", text="<secret:password>"), stop())
    stage.to_the_end(run)
    exported = {form.name: form.write(stage.services.store, run.state.run) for form in FORMATS}
    assert [name for name, data in exported.items() if b"Tr0ub4dor" in data] == []
    script = exported["playwright"].decode()
    assert 'os.environ["BACKSTEP_SECRET_PASSWORD"]' in script
    assert "set BACKSTEP_SECRET_PASSWORD" in " ".join(script.split())
    path = tmp_path / "replay.py"
    path.write_text(script)
    subprocess.run([sys.executable, "-m", "py_compile", str(path)], check=True)


@pytest.mark.browser
def test_a_task_opened_again_types_its_secrets_by_name(stage, llm_server, opened, url):
    run = opened()
    llm_server.script(on('textbox "Password"', "type", text="<secret:password>"), stop())
    stage.to_the_end(run)
    run.world.tabs.secrets.clear()
    store, world, task = stage.services.store, run.world, run.state.episode.task
    stage.thread.run(reopen_task(store, world, task, store.run(run.state.run), offline=False))
    stage.thread.run(
        world.actor.act(
            run.state.inputs[0].action.replace(target={"by": "role", "role": "textbox", "name": "Password"})
        )
    )
    assert in_page(stage, run, "document.querySelector('input').value") == VALUES["password"]


def test_a_file_declares_secrets_and_a_missing_one_is_told_with_its_name(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(
        '[[tasks]]\nid = "in"\ninstruction = "Log in."\nurl = "example.org"\n'
        'secrets = {password = "Tr0ub4dor&3", code = "$MY_CODE", price = "$$5.00"}\n'
    )
    (task,) = TaskFile.read(path).tasks()
    found = secrets_of(task, {"MY_CODE": "493817"}.get)
    assert found == {"password": "Tr0ub4dor&3", "code": "493817", "price": "$5.00"}
    assert "Tr0ub4dor" not in f"{task!r} {task.model_dump_json()}"
    with pytest.raises(UsageError, match=r'secret "code" of mine/in is not set: there is no MY_CODE'):
        secrets_of(task, {}.get)


@pytest.mark.parametrize("secrets", ['{"a b" = "x"}', '{password = ""}', "{password = 5}", '"x"'])
def test_a_name_or_value_that_cannot_be_one_is_refused_with_its_line(tmp_path, secrets):
    path = tmp_path / "mine.toml"
    path.write_text(
        f'[[tasks]]\nid = "in"\ninstruction = "Log in."\nurl = "example.org"\nsecrets = {secrets}\n'
    )
    with pytest.raises(DataError, match=r"line 5"):
        TaskFile.read(path)


def exemplar_of(text: str, url: str = "") -> Exemplar:
    step = ExemplarStep(
        observation='[3] textbox "Password" value="•••"', thought="", actions=(f"type [3] [{text}]",)
    )
    return Exemplar(
        id="log-in", family="log-in", task="Log in.", steps=(step,), source=f"web/open seed 0 {url}"
    )


def test_an_exemplar_with_hidden_text_is_a_problem_that_says_what_to_do_and_one_with_a_name_is_none():
    (problem,) = check_secrets(exemplar_of("•••"))
    assert (problem.level, problem.where) == ("fault", "step 1, action 1")
    assert "was not recorded; declare it in the task's `secrets` and put <secret:NAME> there" in problem.text
    assert [*check_secrets(exemplar_of("<secret:password>"))] == []


@pytest.mark.browser
@pytest.mark.parametrize(
    ("text", "problem"), [("•••", "It was stopped before type"), ("<secret:password>", "")]
)
def test_a_replay_stops_before_hidden_text_and_types_what_has_a_name(stage, url, text, problem):
    class Found:
        def find(self, *_, **__):
            return task_of(url, seeded=True).replace(instruction="Log in.")

    result = stage.thread.run(
        replay(
            exemplar_of(text),
            Provenance(),
            1,
            environments=Found(),
            world_of=stage.services.world,
            store=None,
        )
    )
    assert problem in result.problem
    assert ("was not recorded" in result.problem) == bool(problem)
    if not problem:
        assert result.looks == 1


@pytest.mark.browser
def test_a_password_that_a_bundled_task_makes_up_and_tells_is_no_secret(stage, llm_server):
    run = stage.open(llm_server, "miniwob/enter-password", seed=3)
    password = run.state.episode.instruction.split('"')[1]
    first, second = (one.ref for one in stage.thread.run(run.world.read()).observation.elements if one.hides)
    llm_server.say("", call("type", target=first, text=password))
    llm_server.say("", call("type", target=second, text=password))
    llm_server.script(on('button "Submit"'))
    stage.to_the_end(run)
    store = stage.services.store
    assert run.verdict.success
    assert store.steps(run.state.run)[0].action == f"type [{first}] [{password}]"


@pytest.mark.browser
def test_an_exemplar_of_a_run_has_the_names_of_secrets(stage, llm_server, opened):
    run = opened()
    llm_server.script(on('textbox "Password"', "type", text="<secret:password>"), on('button "Send"'), stop())
    stage.to_the_end(run)
    exemplar = exemplar_of_run(stage.services.store, run.state.run).exemplar
    assert exemplar.steps[0].actions[0].endswith("[<secret:password>]")
    assert "Tr0ub4dor" not in exemplar.model_dump_json()
    assert exemplar.task == "Log in with <secret:password>."


def test_a_secret_that_a_person_types_is_found_by_where_the_run_began_too(stage, opened):
    """A page that leads on to another host has its run stored with that one."""
    run = opened()
    world, episode = run.world, run.state.episode
    led_on = episode.replace(start_url="https://login.example.org/sign-in?next=%2F")
    name = world.name_secret(led_on, "password", "open sesame!")
    tabs, task = world.tabs, episode.task
    for begun_at in (task.start_url, led_on.start_url, "https://login.example.org"):
        assert tabs.typed_secrets(task.id, begun_at)[name] == "open sesame!"
    assert tabs.typed_secrets(task.id, "https://elsewhere.example.org") == {}
