"""What else pages ask the person who has the live page: to leave, for files, colours and permissions."""

import hashlib
from pathlib import Path
from typing import TypeVar

import pytest
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QApplication, QColorDialog, QFileDialog, QLineEdit, QTabBar, QWidget
from werkzeug import Request, Response

from tests.core.browser.browsing import Browsing, in_browser
from tests.core.browser.site import Site
from tests.core.browser.test_happenings import self_signed
from tests.gui.live.person import Person

__all__ = ["self_signed"]
pytestmark = pytest.mark.browser

W = TypeVar("W", bound=QWidget)
UNSAVED = """
<button onclick="document.title = 'edited'">edit</button>
<script>addEventListener("beforeunload", event => event.preventDefault());</script>
"""
CHOOSES = """
<script>
  const show = field => document.title = [...field.files].map(f => f.webkitRelativePath || f.name).sort().join(" ");
</script>
<input type="file" aria-label="one" accept=".csv" onchange="show(this)">
<input type="file" aria-label="some" multiple onchange="show(this)">
<input type="file" aria-label="folder" webkitdirectory onchange="show(this)">
<input type="color" aria-label="colour" value="#0000ff" onchange="document.title = this.value">
"""
PERMITS = """
<script>
  const say = word => { document.title = word; };
  const copy = word => navigator.clipboard.writeText(word).then(() => say("copied " + word), () => say("refused"));
  const place = () => navigator.geolocation.getCurrentPosition(() => say("placed"), e => say("place " + e.code));
</script>
<button onclick="place()">where</button>
<button onclick="copy('one')">copy one</button>
<button onclick="copy('two')">copy two</button>
<button onclick="Notification.requestPermission().then(say)">notify</button>
<button onclick="print(); say('went on')">print</button>
"""


def told(browser: Browsing) -> list[str]:
    return [event.text for event in browser.events()]


def shown(kind: type[W]) -> W | None:
    """Return the dialog of this kind that is open."""
    return next((one for one in QApplication.allWidgets() if isinstance(one, kind) and one.isVisible()), None)


async def click_field(browser: Browsing, person: Person, name: str, opens: type[QWidget]) -> None:
    page = browser.tabs.current.playwright_page
    box = await page.get_by_label(name, exact=True).bounding_box()
    assert box is not None
    await page.mouse.move(box["x"] + 10, box["y"] + 8)
    await page.mouse.down()
    person.later(page.mouse.up())
    await person.until(lambda: shown(opens))


@in_browser
async def test_a_page_asks_the_person_before_it_is_left_or_closed(
    browser: Browsing, site: Site, person: Person
) -> None:
    await browser.open(site.page(UNSAVED))
    area, box = person.area, person.area._box
    await person.press("edit")
    await person.title("edited")
    await person.do(lambda: area.current_view().load(f"{site.home}/arrived"))
    assert (await person.asked()).startswith("Leave 127.0.0.1:")
    assert await person.do(box.cancel_button.text) == "Stay"
    await person.do(box.cancel_button.click)
    await person.title("edited")
    await person.do(lambda: (area.open_tab(), area.activate_tab(area.tabs()[0])))
    close = await person.do(lambda: area._bar.tabButton(0, QTabBar.ButtonPosition.RightSide))
    await person.do(close.click)
    await person.asked()
    await person.do(box.ok_button.click)
    await person.until(lambda: len(area.tabs()) == 1)
    assert told(browser) == [
        'The page asked (beforeunload): ""; it was dismissed by the person.',
        'The page asked (beforeunload): ""; it was accepted by the person.',
        "A tab was closed by the person.",
    ]


@in_browser
async def test_a_page_that_closes_itself_after_the_person_stayed_was_not_closed_by_them(
    browser: Browsing, site: Site, person: Person
) -> None:
    await browser.open(site.page(UNSAVED))
    area, box = person.area, person.area._box
    await person.press("edit")
    await person.title("edited")
    await person.do(lambda: (area.open_tab(), area.activate_tab(area.tabs()[0])))
    close = await person.do(lambda: area._bar.tabButton(0, QTabBar.ButtonPosition.RightSide))
    await person.do(close.click)
    await person.asked()
    await person.do(box.cancel_button.click)
    await person.do(lambda: area.current_view().page().windowCloseRequested.emit())
    await person.until(lambda: len(area.tabs()) == 1)
    assert told(browser)[-1] == "A tab was closed by its page."


@in_browser
async def test_the_person_gives_the_page_files_and_folders(
    browser: Browsing, site: Site, person: Person, tmp_path: Path
) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    first, second = folder / "a.csv", folder / "b.csv"
    for file in (first, second):
        file.write_text("x")

    def choose(text: str) -> str:
        dialog = shown(QFileDialog)
        dialog.findChild(QLineEdit).setText(text)
        dialog.accept()
        return dialog.windowTitle()

    await browser.open(site.page(CHOOSES))
    for name, text, wanted, title in (
        ("one", str(first), "a.csv", "Upload a file"),
        ("some", f'"{first}" "{second}"', "a.csv b.csv", "Upload files"),
        ("folder", str(folder), "folder/a.csv folder/b.csv", "Upload a folder"),
    ):
        await click_field(browser, person, name, QFileDialog)
        assert await person.do(lambda text=text: choose(text)) == title
        await person.title(wanted)
    await click_field(browser, person, "one", QFileDialog)
    await browser.host.end_questions()
    await person.until(lambda: shown(QFileDialog) is None)
    assert not await person.do(lambda: person.area.questions.engine_waits)


@in_browser
async def test_the_person_chooses_a_colour_which_ends_as_the_page_is_taken_back(
    browser: Browsing, site: Site, person: Person
) -> None:
    await browser.open(site.page(CHOOSES))
    await click_field(browser, person, "colour", QColorDialog)
    await person.do(
        lambda: (shown(QColorDialog).setCurrentColor(QColor("#ff8800")), shown(QColorDialog).accept())
    )
    await person.title("#ff8800")
    await click_field(browser, person, "colour", QColorDialog)
    await person.do(lambda: person.area.set_handed_over(False))
    await person.until(lambda: shown(QColorDialog) is None)
    assert told(browser) == ["The page asked for a colour; none was chosen: fill in the field."]


@in_browser
async def test_what_the_person_permits_is_permitted_to_them_alone(
    browser: Browsing, site: Site, person: Person
) -> None:
    await browser.open(site.page(PERMITS))
    box = person.area._box
    await person.press("where")
    assert "to know where you are" in await person.asked()
    await person.do(box.cancel_button.click)
    await person.title("place 1")
    await person.press("copy one")
    assert "to read and change the clipboard" in await person.asked()
    await person.do(box.ok_button.click)
    await person.title("copied one")
    await person.do(lambda: person.area.set_handed_over(False))
    await browser.do('click [button "copy two"]')
    await person.title("refused")
    assert told(browser) == [
        "The page asked for Geolocation; it was refused by the person.",
        "The page asked for ClipboardReadWrite; the person allowed it.",
        "The page asked for ClipboardReadWrite; it was refused.",
    ]


@in_browser
async def test_notifications_and_printing_are_refused_in_words(
    browser: Browsing, site: Site, person: Person
) -> None:
    await browser.open(site.page(PERMITS))
    await person.press("notify")
    await person.title("denied")
    await person.press("print")
    await person.title("went on")
    assert [title for title, _ in person.said] == [
        "The page shows no notifications",
        "The page is not printed",
    ]
    assert len(told(browser)) == 2


@in_browser
async def test_a_certificate_that_is_refused_is_described_to_the_person(
    browser: Browsing, site: Site, person: Person, self_signed: str
) -> None:
    await browser.open(site.page("before"))
    await person.do(lambda: person.area.current_view().load(self_signed))
    await person.until(lambda: person.said)
    ((title, text),) = person.said
    assert title == "The page was not opened"
    assert "certificate of localhost was refused" in text
    assert ". It is for localhost, issued by localhost, valid until 2" in text


def digest(request: Request) -> Response:
    login = request.authorization
    if login is not None and login.type == "digest":
        who = _md5(f"ada:{login.realm}:secret")
        what = _md5(f"{request.method}:{login.uri}")
        if login.response == _md5(f"{who}:{login.nonce}:{login.nc}:{login.cnonce}:{login.qop}:{what}"):
            return Response("<title>inside</title>", content_type="text/html")
    wanted = 'Digest realm="the lab", nonce="n1", qop="auth", algorithm=MD5'
    return Response("<title>refused</title>", 401, {"WWW-Authenticate": wanted}, content_type="text/html")


def _md5(text: str) -> str:
    return hashlib.md5(text.encode()).hexdigest()


@in_browser
async def test_a_digest_login_is_asked_again_after_a_wrong_password(
    browser: Browsing, site: Site, person: Person
) -> None:
    box = person.area._box
    url = site.serve(digest)
    await person.do(lambda: person.area.current_view().load(url))
    for password in ("wrong", "secret"):
        assert '"the lab"' in await person.asked()
        before = person.area.questions.current
        await person.do(
            lambda password=password: (
                box.field.setText("ada"),
                box.password.setText(password),
                box.ok_button.click(),
            )
        )
        await person.until(lambda before=before: person.area.questions.current is not before)
    await person.title("inside")
