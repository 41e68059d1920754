"""Opening a task in a named profile, which keeps what pages store."""

from pathlib import Path

import pytest
from pytest_httpserver import HTTPServer

from core.browser.host import profile_names
from core.settings.settings import load_settings

PAGE = """<title>Visits</title><p id="said"></p><script>
localStorage.visits = Number(localStorage.visits || 0) + 1;
said.textContent = "visit " + localStorage.visits;
</script>"""


@pytest.fixture
def url(httpserver: HTTPServer) -> str:
    httpserver.expect_request("/").respond_with_data(PAGE, content_type="text/html")
    return httpserver.url_for("/")


def visit(live, url: str, profile: str) -> str:
    live.open("web/open", url=url, instruction="Look.", profile=profile)
    live.wait(lambda: live.step is not None and "visit" in live.step.observation.raw)
    return live.step.observation.raw


def test_a_named_profile_is_kept_and_offered_and_a_clean_one_knows_nothing(live, url):
    assert "visit 1" in visit(live, url, "")
    assert "visit 1" in visit(live, url, "kept")  # No other test opens it: the profiles outlive a test.
    live.wait(lambda: "kept" in live.catalogue.profiles)
    assert "visit 1" in visit(live, url, "")
    assert "visit 2" in visit(live, url, "kept")


def test_a_profile_that_a_person_allowed_is_remembered_in_the_settings(live, url, monkeypatch, tmp_path):
    monkeypatch.setenv("BACKSTEP_CONFIG_DIR", str(tmp_path))
    live.open()
    allowed = []
    host = live.session._current.need_services().host
    monkeypatch.setattr(host, "allow_profile", allowed.append)
    (tmp_path / "settings.toml").write_text('embedded_profiles = ["home"]  # mine\n')
    live.open("web/open", url=url, instruction="Look.", profile="shop", allow_profile=True)
    assert allowed == ["shop"]
    assert live.catalogue.allowed_profiles == ("home", "shop")
    assert load_settings().embedded_profiles == ("home", "shop")
    assert "# mine" in (tmp_path / "settings.toml").read_text()


def test_a_name_that_cannot_be_used_says_so(live, url):
    live.session.tasks.open("web/open", 0, url=url, instruction="Look.", profile="../elsewhere")
    live.wait(lambda: "is not a valid profile name" in live.view.message)
    assert live.view.mode == "failed"


def test_the_run_before_a_task_that_cannot_be_opened_is_listed_as_stopped(live):
    live.open()
    run = live.view.run
    live.session.tasks.open("web/open", 0, url="http://127.0.0.1:9/", instruction="Go.")
    live.wait_mode("failed")
    live.wait(lambda: next(row for row in live.runs.runs if row.run == run).outcome == "stopped")


def test_profiles_are_listed_by_name_without_what_cannot_name_one(tmp_path: Path):
    for name in ("work", "shop", ".hidden"):
        (tmp_path / name).mkdir()
    (tmp_path / "a-file").write_text("")
    assert profile_names(str(tmp_path)) == ("shop", "work")
    assert profile_names(str(tmp_path / "missing")) == ()
    assert profile_names("") == ()


def test_the_session_tells_with_what_the_page_of_its_run_was_opened_on_a_branch_too(live, url):
    visit(live, url, "kept")
    run = live.view.run
    live.open()
    assert (live.view.url, live.view.profile) == ("", "")
    live.session.branches.go_back(run, 1)
    live.wait(lambda: live.view.mode == "waiting" and live.view.task == "web/open")
    assert (live.view.url, live.view.instruction, live.view.profile) == (url, "Look.", "kept")
