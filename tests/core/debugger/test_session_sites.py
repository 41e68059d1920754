"""What leads out of a task's sites is held at the window, until the person lets it go or refuses it."""

import pytest
from werkzeug import Response

from core.settings.settings import read_settings_file
from tests.core.browser.site import Site
from tests.core.debugger.test_session_stops import begin, clicks, says

pytestmark = pytest.mark.browser


class Leaving:
    """A page with a link to another site, and that site."""

    def __init__(self, site):
        self.came = 0
        self.there = site.elsewhere(site.serve(self._other))
        self.host = self.there.partition("://")[2].partition("/")[0]
        self.url = site.page(f"<a href='{self.there}'>Next</a><p>the shop</p>")

    def _other(self, request):
        self.came += 1
        return Response("<p>the other site</p>", content_type="text/html")


@pytest.fixture
def leaving(live, server, tmp_path, monkeypatch):
    monkeypatch.setenv("BACKSTEP_CONFIG_DIR", str(tmp_path))
    with Site() as site:
        leaving = Leaving(site)
        server.script(clicks('link "Next"'), says("stop []"))
        begin(live, leaving.url)
        live.session.run_commands.run()
        live.wait(lambda: live.view.held_request and live.view.mode == "waiting", "the held page")
        assert leaving.came == 0
        yield leaving


def test_it_is_held_and_said_and_opened_when_the_person_goes_on_and_kept_with_the_run(live, leaving, server):
    view = live.view
    assert (view.held_request, view.crossing) == (leaving.there, leaving.host)
    assert f"{leaving.host} is an address of this machine or its network" in view.stopped_at
    assert [site.partition(":")[0] for site in view.sites] == ["127.0.0.1"]
    live.session.run_commands.run()
    live.wait_mode("ended")
    assert leaving.came == 1
    assert "the other site" in live.step.observation.raw
    assert any(leaving.host in view.sites for view in live.views)
    assert "task_sites" not in read_settings_file().model_fields_set
    store = live.store()
    try:
        kept = store.agent(live.view.run, 2).decode()
    finally:
        store.close()
    assert f'"allowed":["{leaving.host}"]' in kept
    # Going back to an allowed page asks nothing, and the branch goes on with it.
    run, came = live.view.run, leaving.came
    server.script(says(f"goto [{leaving.there}?again]"), says("stop []"))
    live.session.branches.go_back(run, 2)
    live.wait(lambda: live.view.run != run and live.view.mode == "waiting", "the branch")
    assert "the other site" in live.step.observation.raw
    asked = len(live.views)
    live.session.run_commands.run()
    live.wait_mode("ended")
    assert not any(view.held_request for view in live.views[asked:])
    assert leaving.came > came


def test_it_is_refused_by_skip_and_the_agent_is_told(live, leaving, server):
    live.session.corrections.skip()
    live.wait_mode("ended")
    assert leaving.came == 0
    assert "the shop" in live.step.observation.raw
    assert "was not opened" in "\n".join(server.requests[-1].texts)


def test_it_is_always_allowed_for_the_task(live, leaving):
    live.session.corrections.always_allow()
    live.wait_mode("ended")
    assert leaving.came == 1
    (sites,) = read_settings_file().task_sites.values()
    assert sites == (leaving.host,)


def test_a_run_that_is_stopped_opens_nothing(live, leaving):
    live.session.run_commands.stop()
    live.wait_mode("ended")
    assert leaving.came == 0
