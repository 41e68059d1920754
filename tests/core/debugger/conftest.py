from contextlib import ExitStack, closing

import pytest

from core.schema.exemplar import ExemplarReview
from tests.core.debugger.breakpoints.runs import Stored
from tests.core.debugger.live import live_session, settings_in
from tests.core.debugger.stand_ins import StandInSession
from tests.core.stage import config_folder_in
from tests.llm_server import LLMServer


@pytest.fixture(scope="session")
def started_server():
    with LLMServer() as server:
        yield server


@pytest.fixture(scope="session")
def started_live(tmp_path_factory, started_server):
    """One started session for all tests of a process."""
    folder = tmp_path_factory.mktemp("session")
    config = config_folder_in(folder / "config")
    live = live_session(folder, settings_in(folder, started_server), config)
    live.session.start()
    live.wait(lambda: live.view.message.startswith("Choose a task"))
    yield live
    live.session.close().result(30)
    live.session.stop_worker()


@pytest.fixture
def server(started_server):
    """The LLM of the session, with nothing scripted."""
    started_server.reset()
    return started_server


@pytest.fixture
def live(started_live, server):
    """The session as it is after its start, whatever the last test left."""
    session = started_live.session
    session.run_commands.stop()
    session.live_page.set_handover(False)
    session.agent.set_preset("plain")
    session.agent.set_llm("test")
    session.run_commands.set_pace(0)
    session.run_commands.set_max_steps(30)
    session.trace.search_runs("")
    session.trace.show_now()
    started_live.settle()
    started_live.lines.clear()
    started_live.picked = started_live.text = None
    library = session.services().resources.memory.library()
    before = {row.id for row in library.rows()}
    yield started_live
    # What a test has saved would be recalled in the runs of others.
    if saved := {row.id for row in library.rows()} - before:
        library.review(saved, ExemplarReview(status="retired"))


@pytest.fixture(scope="session")
def stored(whole_stage, tmp_path_factory):
    """Real runs of several presets, and the store they are in."""
    with LLMServer() as server:
        yield Stored(whole_stage, server, tmp_path_factory.mktemp("pages"))


@pytest.fixture
def stand_in():
    """Make stand-ins for a session; they are closed at the end of the test."""
    with ExitStack() as made:
        yield lambda **parts: made.enter_context(closing(StandInSession(**parts)))
