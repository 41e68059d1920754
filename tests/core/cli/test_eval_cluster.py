"""`main.py eval --cluster`, on a real Ray cluster of two nodes on this machine.

    python -m tests.campaigns.cluster

makes an environment that has Ray, and runs these tests in it.
"""

import re
import shutil
import time
from collections import Counter
from pathlib import Path

import pytest

from core.schema.errors import TraceError
from core.storage.resources import RESOURCES
from core.trace.calls import stored_prompt, stored_reply
from core.trace.evaluations import attempts_of, evaluation_named
from core.trace.store import TraceStore
from tests.core.cli.conftest import KEY
from tests.core.cli.test_eval import ONE, attempts
from tests.core.stage import need_chromium
from tests.llm_server import Reply

pytest.importorskip("ray", reason="Ray is not installed here; python -m tests.campaigns.cluster installs it.")
# Ray warns of what becomes of itself.
pytestmark = [pytest.mark.browser, pytest.mark.filterwarnings("default")]

TASKS = "miniwob/click-test-2,miniwob/enter-text,miniwob/login-user,airline/find-flight,shop/goal-000"
NODE = {"num_cpus": 2, "object_store_memory": 80_000_000}


@pytest.fixture
def cluster():
    from ray.cluster_utils import Cluster

    made = Cluster(initialize_head=True, head_node_args={**NODE, "num_cpus": 0, "include_dashboard": False})
    try:
        yield made
    finally:
        made.shutdown()


def words(
    *more: object, llm: str = "rules", name: str = "mine", tasks: str = "miniwob/click-test-2"
) -> list[object]:
    chosen = ("--tasks", tasks, "--llm", llm, "--preset", "plain", "--browser", need_chromium())
    return ["eval", *chosen, "--name", name, "--json", *more]


def stored(cli, name):
    """Return everything of the runs of an evaluation by their case, but for times and the addresses of servers."""
    store = TraceStore.open(cli.db, read_only=True)
    try:
        row = evaluation_named(store, name)
        return {one.attempt: whole(store, one.run.run) for one in attempts_of(store, row.number)}
    finally:
        store.close()


def whole(store, run):
    times = {"run", "started", "ended", "seconds", "seconds_in_llm", "start_url"}
    steps = [store.step(run, row.number) for row in store.own_steps(run)]
    calls = store.calls.of(run)
    found = (
        store.run(run).model_dump(exclude=times),
        [
            one.row.model_dump(exclude={"run", "begun", "seconds", "seconds_in_llm", "html", "screenshot"})
            for one in steps
        ],
        [[type(record).__name__ for record in one.records] for one in steps],
        [
            [
                record.model_dump()
                for record in one.records
                if record.phase in ("recognise", "decide", "review")
            ]
            for one in steps
        ],
        [stored_prompt(store, call).messages for call in calls],
        [stored_reply(store, call).text for call in calls],
    )
    return re.sub(r"127\.0\.0\.1:\d+|/\w+-[0-9a-f]{8,}|[0-9a-f]{16,}|'seconds\w*': [\d.e-]+", "", repr(found))


def test_a_cluster_comes_to_the_same_as_this_machine_though_a_node_dies(cli, cluster):
    nodes = [cluster.add_node(**NODE) for _ in range(2)]
    seeds = ("--seeds", "0-7", "--concurrency", 2)
    process = cli.start(*words(*seeds, "--cluster", cluster.address, tasks=TASKS))
    wait_for_attempts(cli, process, 8)
    cluster.remove_node(nodes[0], allow_graceful=False)
    done = cli.finish(process)
    assert done.code == 0, done.err
    assert "A node of the cluster was lost" in done.err
    assert set(Counter(one.attempt for one in attempts(cli)).values()) == {1}
    local = cli(*words(*seeds, name="local", tasks=TASKS))
    taken = {"seconds": 0.0, "seconds_in_llm": 0.0, "seconds_beside_llm": 0.0}
    assert done.json["done"] == done.json["total"] == 40
    for part in ("variants", "tasks"):
        assert [{**one, **taken} for one in done.json[part]] == [{**one, **taken} for one in local.json[part]]
    here = {one.case: text for one, text in stored(cli, "local").items()}
    there = {one.case: text for one, text in stored(cli, "mine").items()}
    assert there == here


def wait_for_attempts(cli, process, count):
    """Wait until so many runs have come back; a process that ends before, or does not come to that, fails the test."""
    end = time.monotonic() + 300
    while True:
        try:
            found = len(attempts(cli))
        except TraceError:  # The database is not there yet.
            found = 0
        if found >= count:
            return
        if process.poll() is not None or time.monotonic() > end:
            process.kill()
            pytest.fail(f"{found} runs came back: {process.communicate()}")
        time.sleep(0.1)


def test_a_driver_that_is_killed_is_resumed_and_nothing_is_done_twice(cli, cluster, llm_server):
    cluster.add_node(**NODE)
    cluster.add_node(**NODE)
    llm_server.script(ONE, ONE, Reply(hold=True), Reply(hold=True))
    more = ("--cluster", cluster.address, "--concurrency", 1, "--base-url", llm_server.base_url)
    process = cli.start(*words("--seeds", "0-4", *more, llm="test-model"))
    wait_for_attempts(cli, process, 2)
    llm_server.wait_for_requests(4)
    process.kill()
    cli.finish(process)
    llm_server.otherwise = ONE
    done = cli(*words("--seeds", "0-4", *more, llm="test-model"))
    assert done.code == 0, done.err
    assert (done.json["done"], done.json["variants"][0]["successes"]) == (5, 5)
    assert "2 of them already done" in done.err
    assert len(attempts(cli)) == 5
    # The key has come to the nodes, and is in no file of theirs.
    assert {one.headers["authorization"] for one in llm_server.requests} == {f"Bearer {KEY}"}
    session = Path(cluster.head_node.get_session_dir_path())
    files = [path for path in session.rglob("*") if path.is_file()]
    assert files
    assert [path for path in files if KEY.encode() in path.read_bytes()] == []


def test_a_file_of_the_users_holds_on_the_nodes(cli, cluster):
    cluster.add_node(**NODE)
    presets = cli.config / "presets"
    presets.mkdir()
    shutil.copy(RESOURCES / "presets" / "plain.toml", presets / "mine.toml")
    (cli.folder / "own.toml").write_text(
        '[[tasks]]\nid = "gone"\ninstruction = "Look."\nurl = "http://127.0.0.1:9/"\n'
    )
    chosen = ("--tasks", "own/gone,miniwob/click-test-2", "--tasks-file", cli.folder / "own.toml")
    more = ("--llm", "rules", "--name", "mine", "--json", "--browser", need_chromium())
    done = cli("eval", *chosen, "--preset", "mine", *more, "--cluster", cluster.address)
    assert done.code == 0, done.err
    assert [(one["cases"], one["failed"]) for one in done.json["tasks"]] == [(1, 1), (1, 0)]


def test_a_node_without_chromium_is_named_in_one_sentence(cli, cluster):
    cluster.add_node(**NODE)
    chosen = ("--tasks", "miniwob/click-test-2", "--llm", "rules", "--browser", "/nowhere/chromium")
    done = cli("eval", *chosen, "--cluster", cluster.address)
    assert done.code == 3, done.err
    assert re.search(
        r"A node of the cluster cannot start runs: on \S+: There is no browser at /nowhere/chromium", done.err
    )
    assert "Traceback" not in done.err


def test_a_cluster_without_room_and_one_that_is_not_there_are_told(cli, cluster):
    done = cli(*words("--cluster", cluster.address))
    assert done.code == 2
    assert "No node of the cluster has 2 processors" in done.err
    done = cli(*words("--cluster", "127.0.0.1:9"))
    assert done.code == 2
    assert "The cluster 127.0.0.1:9 cannot be reached (Connection refused)" in done.err
    assert "Traceback" not in done.err
