from pathlib import Path

import pytest

from core.environments.web import OpenWeb, full_url
from core.schema.errors import UsageError


@pytest.mark.parametrize(
    ("given", "url"),
    [
        ("https://example.org/a?b=c#d", "https://example.org/a?b=c#d"),
        ("example.org", "https://example.org"),
        ("  example.org/search?q=1 ", "https://example.org/search?q=1"),
        ("//example.org", "https://example.org"),
        ("localhost", "http://localhost"),
        ("localhost:8000/x", "http://localhost:8000/x"),
        ("127.0.0.1:9", "http://127.0.0.1:9"),
        ("192.168.0.7/admin", "http://192.168.0.7/admin"),
        ("[::1]:8080/", "http://[::1]:8080/"),
        ("example.org:8443", "https://example.org:8443"),
        ("printer.local", "http://printer.local"),
        ("http://intranet/wiki", "http://intranet/wiki"),
        ("HTTP://EXAMPLE.ORG", "HTTP://EXAMPLE.ORG"),
        ("münchen.de", "https://münchen.de"),
        ("file:///tmp/a.html", "file:///tmp/a.html"),
        ("about:blank", "about:blank"),
        ("data:text/html,<p>two words", "data:text/html,<p>two words"),
    ],
)
def test_a_missing_scheme_is_added(given, url):
    assert full_url(given) == url


@pytest.mark.parametrize(
    "given",
    [
        "",
        "   ",
        "foo",
        "two words.org",
        "https://",
        "https://exa mple.org",
        "http://a..b",
        "example.org:99999",
        "http://-bad.org",
        "javascript:alert(1)",
        "mailto:someone@example.org",
        "300.1.1.1",
        "/no/such/file.html",
        "http://[::1",
    ],
)
def test_nonsense_is_refused_with_an_example_of_what_would_do(given):
    with pytest.raises(UsageError, match=r"https://example\.org"):
        full_url(given)


def test_the_path_of_a_file_becomes_a_file_url(tmp_path: Path):
    page = tmp_path / "a page.html"
    page.write_text("x")
    assert full_url(str(page)) == page.as_uri()


def test_an_open_task_has_the_url_and_the_instruction_and_no_judge():
    task = OpenWeb().task("example.org", "Find\n the  price.")
    assert (task.id, task.start_url, task.instruction) == (
        "web/open",
        "https://example.org",
        "Find the price.",
    )
    assert not task.judged


def test_an_open_task_without_an_instruction_is_refused():
    with pytest.raises(UsageError, match="needs an instruction"):
        OpenWeb().task("example.org", "  ")


@pytest.mark.browser
@pytest.mark.asyncio(loop_scope="session")
async def test_the_episode_starts_at_the_url_and_nobody_judges_it(used_page, site):
    (site.root / "a.html").write_text("<title>A</title>")
    web = OpenWeb()
    episode = await web.open(web.task(f"{site.origin}/a.html", "Look."), 0, used_page)
    assert (episode.start_url, episode.instruction) == (f"{site.origin}/a.html", "Look.")
    assert not await web.ended(used_page)
    verdict = await web.judge(episode, used_page, "42")
    assert (verdict.success, verdict.reward, verdict.judge) == (None, None, "none")


@pytest.mark.browser
@pytest.mark.asyncio(loop_scope="session")
async def test_the_template_cannot_be_opened_without_a_url(used_page):
    web = OpenWeb()
    with pytest.raises(UsageError, match="needs a URL"):
        await web.open(web.tasks()[0], 0, used_page)
