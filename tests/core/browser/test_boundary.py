"""Pages stay in the sites of their task, whatever they or an agent try."""

from pathlib import Path

import pytest
from werkzeug import Response

from core.browser import boundary as module
from core.browser.boundary import Boundary, Crossing
from core.schema.errors import ActionError
from tests.core.browser.browsing import Browsing, in_browser
from tests.core.browser.site import Site

WAYS = {
    "a link": "<a href='{url}'>go</a>",
    "a form": "<form method=post action='{url}'><button>go</button></form>",
    "a new tab": "<a href='{url}' target=_blank>go</a>",
    "a window": "<button onclick=\"window.open('{url}')\">go</button>",
    "a late script": "<button onclick=\"setTimeout(() => location.assign('{url}'), 300)\">go</button>",
}


class Asked:
    """Answers crossings, and keeps what was asked."""

    def __init__(self, answer: bool = False) -> None:
        self.answer = answer
        self.crossings: list[Crossing] = []

    async def __call__(self, crossing: Crossing) -> bool:
        self.crossings.append(crossing)
        return self.answer


def bound(browser: Browsing, start_url: str, *, answer: bool = False, sites: tuple[str, ...] = ()) -> Asked:
    asked = Asked(answer)
    boundary = Boundary(start_url, sites)
    boundary.ask = asked
    browser.tabs.border.set(boundary)
    return asked


async def go(browser: Browsing) -> None:
    seen = await browser.see()
    element = next(one for one in seen.elements if one.name == "go" and one.uses)
    await browser.do(f"click [{element.ref}]")
    await browser.tabs.check_arrival()


@pytest.mark.parametrize("way", WAYS)
@in_browser
async def test_a_page_does_not_lead_to_another_site(browser: Browsing, site: Site, way: str) -> None:
    there = site.elsewhere(site.page("<p>the other site</p>"))
    start = site.page(WAYS[way].replace("{url}", there))
    await browser.open(start)
    asked = bound(browser, start)
    await go(browser)
    if way == "a late script":
        await browser.do("wait [1]")
    assert "the other site" not in await browser.words()
    assert browser.tabs.current.playwright_page.url == start
    assert {(one.kind, one.what.rstrip("?")) for one in asked.crossings} == {("network", there)}
    (event,) = [one for one in browser.events() if one.kind == "refused"]
    assert event.text.startswith(f"{there}")
    assert "was not opened" in event.text


@pytest.mark.parametrize("way", ["a link", "a form", "a window"])
@in_browser
async def test_what_is_allowed_is_opened_and_not_asked_about_again(
    browser: Browsing, site: Site, way: str
) -> None:
    there = site.elsewhere(site.page("<p>the other site</p>"))
    start = site.page(WAYS[way].replace("{url}", there))
    await browser.open(start)
    asked = bound(browser, start, answer=True)
    await go(browser)
    assert "the other site" in await browser.words()
    await browser.do(f"goto [{start}]")
    await browser.do(f"goto [{there}]")
    assert len(asked.crossings) == 1


@in_browser
async def test_a_redirect_does_not_lead_to_another_site(browser: Browsing, site: Site) -> None:
    there = site.elsewhere(site.page("<p>the other site</p>"))
    start = site.page("here")
    await browser.open(start)
    asked = bound(browser, start)
    with pytest.raises(ActionError, match=r"was not opened: localhost:\d+ is an address of this machine"):
        await browser.do(f"goto [{site.serve(lambda _: Response(status=302, headers={'Location': there}))}]")
    assert [one.what for one in asked.crossings] == [there]
    assert "here" in await browser.words()


@in_browser
async def test_a_page_shows_foreign_sites_in_frames_but_none_of_the_local_network(
    browser: Browsing, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    inner = site.elsewhere(site.page("<p>in the frame</p>"))
    start = site.page(f"<p>page</p><iframe src='{inner}'></iframe>")
    bound(browser, start)
    await browser.open(start)
    assert "in the frame" not in await browser.words()
    monkeypatch.setattr(module, "is_near", lambda host: False)
    monkeypatch.setattr(module, "is_near_address", lambda address: False)
    bound(browser, start)
    await browser.open(start)
    assert "in the frame" in await browser.words()


@in_browser
async def test_a_file_beside_the_folder_of_the_task_is_not_opened_by_link_or_frame(
    browser: Browsing, tmp_path: Path
) -> None:
    (tmp_path / "secret.txt").write_text("top secret")
    folder = tmp_path / "task"
    (folder / "sub").mkdir(parents=True)
    (folder / "sub" / "near.html").write_text("<p>near</p>")
    start = folder / "start.html"
    start.write_text(
        "<a href='../secret.txt'>go</a><a href='sub/near.html'>near</a><iframe src='../secret.txt'></iframe>"
    )
    bound(browser, start.as_uri())
    await browser.open(start.as_uri())
    await go(browser)
    assert "top secret" not in await browser.words()
    await browser.do('click [link "near"]')
    assert "near" in await browser.words()
    for way in (tmp_path / "secret.txt", tmp_path, folder / ".." / "secret.txt"):
        with pytest.raises(ActionError, match="only files below"):
            await browser.do(f"goto [file://{way}]")


@in_browser
async def test_other_schemes_are_refused_with_a_sentence(browser: Browsing, site: Site) -> None:
    start = site.page("here")
    await browser.open(start)
    bound(browser, start, answer=True, sites=("*",))
    for url in (
        "file:///etc/hostname",
        "FILE:///etc/hostname",
        "file://localhost/etc/hostname",
        "view-source:https://example.org",
        "javascript:alert(1)",
        "chrome://version",
        "data:text/html,<img src='https://example.org/?secret'>",
        "ftp://example.org/",
        "about:version",
        "filesystem:http://127.0.0.1/temporary/x",
    ):
        with pytest.raises(ActionError, match=r"was not opened: .*addresses"):
            await browser.do(f"goto [{url}]")
        assert browser.tabs.current.playwright_page.url == start, url


@in_browser
async def test_a_task_that_begins_with_the_empty_page_begins_at_the_first_that_is_opened(
    browser: Browsing, site: Site
) -> None:
    start, there = site.page("here"), site.elsewhere(site.page("there"))
    asked = bound(browser, "about:blank")
    await browser.do(f"goto [{start}]")
    assert asked.crossings == []
    with pytest.raises(ActionError, match="where the task did not begin"):
        await browser.do(f"goto [{there}]")


@in_browser
async def test_a_file_is_uploaded_only_from_the_folders_of_the_task(
    browser: Browsing, site: Site, tmp_path: Path
) -> None:
    mine, other = tmp_path / "mine", tmp_path / "other"
    for folder in (mine, other):
        folder.mkdir()
        (folder / "a.txt").write_text("a")
    (mine / "link.txt").symlink_to(other / "a.txt")
    start = site.page("<input type=file id=f>")
    await browser.open(start)
    asked = bound(browser, start)
    browser.tabs.border.boundary.folders = (mine,)
    field = next(one for one in (await browser.see()).elements if "upload" in one.uses)
    await browser.do(f"upload [{field.ref}] [{mine / 'a.txt'}]")
    assert await browser.js("f.files[0].name") == "a.txt"
    await browser.js("f.value = ''")
    for path in (other / "a.txt", mine / "link.txt", mine / ".." / "other" / "a.txt"):
        with pytest.raises(ActionError, match="in no folder that the task"):
            await browser.do(f"upload [{field.ref}] [{path}]")
    assert await browser.js("f.files.length") == 0
    assert {one.what for one in asked.crossings} == {str(other / "a.txt")}
    asked.answer = True
    await browser.do(f"upload [{field.ref}] [{other / 'a.txt'}]")
    assert await browser.js("f.files[0].name") == "a.txt"


@in_browser
@pytest.mark.parametrize("bounded", [True, False])
async def test_an_upload_of_what_can_be_no_file_is_a_failed_action(
    browser: Browsing, site: Site, bounded: bool
) -> None:
    await browser.open(start := site.page("<input type=file id=f>"))
    field = next(one for one in (await browser.see()).elements if "upload" in one.uses)
    if bounded:
        bound(browser, start, answer=True)
    for path in ("~$draft.docx", "~nobody-of-this-name/cv.pdf", "a\0b", "~a\0b", "a" * 300):
        with pytest.raises(ActionError, match=r"does not exist|is not a path"):
            await browser.do(f"upload [{field.ref}] [{path}]")


# Without a browser


async def asks(url: str, boundary: Boundary, *, top: bool = True) -> str:
    """Return of which kind the question about an address is; empty if there is none."""
    boundary.ask = asked = Asked()
    await boundary.admits(url, top=top)
    return asked.crossings[0].kind if asked.crossings else ""


@pytest.fixture
def resolved(monkeypatch: pytest.MonkeyPatch) -> None:
    async def leads_near(self: Boundary, host: str) -> bool:
        return host.startswith("rebound.")

    monkeypatch.setattr(Boundary, "_leads_near", leads_near)


@pytest.mark.usefixtures("resolved")
@pytest.mark.parametrize(
    ("start", "sites", "url", "kind"),
    [
        ("https://www.shop.com/a", (), "https://shop.com/b", ""),
        ("https://shop.com", (), "https://pay.shop.com", ""),
        ("https://shop.com", (), "https://shop.com.evil.org", "site"),
        ("https://shop.com", (), "https://shop.com@evil.org/", "site"),
        ("https://shop.com", (), "https://evilshop.com", "site"),
        ("https://shop.com", ("evil.org",), "https://a.evil.org/x", ""),
        ("https://shop.com", ("*",), "https://evil.org", ""),
        ("https://shop.com", ("*",), "http://169.254.169.254/latest/meta-data", "network"),
        ("https://shop.com", ("*",), "http://localhost:9222/json", "network"),
        ("https://shop.com", ("*",), "http://[::ffff:7f00:1]/", "network"),
        ("https://shop.com", ("*",), "https://rebound.example.com/", "network"),
        ("https://shop.com", (), "https://rebound.shop.com/", "network"),
        ("https://shop.com", ("pay.org",), "https://rebound.pay.org/", "network"),
        ("https://shop.com", ("rebound.pay.org",), "https://rebound.pay.org/", ""),
        ("https://rebound.shop.com", (), "https://rebound.shop.com/x", ""),
        ("https://shop.com", ("localhost:8000",), "http://localhost:8000/", ""),
        ("https://shop.com", ("localhost:8000",), "http://localhost:8001/", "network"),
        ("http://127.0.0.1:8000/", (), "http://127.0.0.1:8000/x", ""),
        ("http://127.0.0.1:8000/", (), "http://127.0.0.1:8001/x", "network"),
        ("https://shop.com", (), "blob:https://shop.com/1-2", ""),
        ("https://shop.com", (), "blob:https://evil.org/1-2", "site"),
    ],
)
async def test_a_host_is_asked_about_unless_the_task_has_it(start, sites, url, kind):
    assert await asks(url, Boundary(start, sites)) == kind


@pytest.mark.usefixtures("resolved")
@pytest.mark.parametrize(
    ("instruction", "url"),
    [
        ("Compare with https://other.org/page, then stop.", "https://other.org/x"),
        ("Look it up on wiki.example.org.", "https://wiki.example.org"),
        ("Open localhost:8000 too", "http://localhost:8000/"),
        ("Open http://192.168.1.7:81/a", "http://192.168.1.7:81/b"),
    ],
)
async def test_the_sites_that_an_instruction_names_are_the_tasks(instruction, url):
    assert await asks(url, Boundary.of("https://shop.com", (), instruction)) == ""
    assert await asks(url, Boundary.of("https://shop.com", (), "Do it.")) != ""
