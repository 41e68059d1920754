"""What happens beside what was asked: each is an event or a failed step, and the browser goes on."""

import asyncio
import datetime
import ssl
from collections.abc import Iterator
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from pytest_httpserver import HTTPServer
from werkzeug import Response

from core.browser.channel import PageGone
from core.schema.errors import ActionError, UsageError
from tests.core.browser.browsing import Browsing, in_browser
from tests.core.browser.site import Site


async def _goes_on(browser: Browsing, site: Site) -> None:
    await browser.open(site.page("<button onclick=\"this.textContent='went on'\">b</button>"))
    await browser.do(f"click [{(await browser.find('button', 'b')).ref}]")
    await browser.find("button", "went on")


def _reported(browser: Browsing, kind: str) -> list[str]:
    return [event.text for event in browser.events() if event.kind == kind]


@in_browser
async def test_dialogs_are_answered_and_reported(browser: Browsing, site: Site) -> None:
    await browser.open(
        site.page(
            "<button onclick=\"alert('hi'); this.textContent = [confirm('sure?'), prompt('name?', 'Ada')]\">"
            "ask</button>"
        )
    )
    await browser.do('click [button "ask"]')
    await browser.find("button", "true,Ada")
    assert _reported(browser, "dialog") == [
        'The page asked (alert): "hi"; it was accepted.',
        'The page asked (confirm): "sure?"; it was accepted.',
        'The page asked (prompt): "name?"; it was accepted.',
    ]


@in_browser
async def test_a_dialog_while_loading_and_one_in_a_frame_hold_nothing_up(
    browser: Browsing, site: Site
) -> None:
    inner = site.page("<script>document.body.append(confirm('inner') ? 'yes' : 'no')</script>")
    await browser.open(
        site.page(
            f"<script>alert('early')</script><p>after</p><iframe src='{site.elsewhere(inner)}'></iframe>"
        )
    )
    words = await browser.words()
    assert "after" in words
    assert "yes" in words
    assert len(_reported(browser, "dialog")) == 2


@in_browser
async def test_a_page_cannot_keep_anyone_from_leaving(browser: Browsing, site: Site) -> None:
    for leave in ("goto", "click"):
        target = site.page("<p>left")
        await browser.open(
            site.page(
                f"<input aria-label=f><a href='{target}'>away</a>"
                "<script>onbeforeunload = e => { e.preventDefault(); return 'stay' }</script>"
            )
        )
        await browser.do('type [textbox "f"] [x]')
        await browser.do(f"goto [{target}]" if leave == "goto" else 'click [link "away"]')
        assert "left" in await browser.words()
        browser.events()


@pytest.mark.parametrize(
    "body",
    [
        "<button onclick=\"window.open('/arrived')\">b</button>",
        "<a target=_blank role=button href=/arrived>b</a>",
        "<button onclick=\"const w = window.open(''); w.document.write('<p>arrived</p>'); w.document.close()\">"
        "b</button>",
    ],
    ids=["window.open", "target", "written"],
)
@in_browser
async def test_a_popup_becomes_the_current_tab(browser: Browsing, site: Site, body: str) -> None:
    await browser.open(site.page(body))
    await browser.do('click [button "b"]')
    assert "arrived" in await browser.words()
    assert [tab.current for tab in (await browser.see()).tabs] == [False, True]
    assert len(_reported(browser, "popup")) == 1
    await browser.do("close_tab")
    await browser.find("button", "b")


@in_browser
async def test_a_popup_that_closes_itself_gives_the_opener_back(browser: Browsing, site: Site) -> None:
    popup = site.page("<button onclick='opener.document.body.append(\"told\"); window.close()'>shut</button>")
    await browser.open(site.page(f"<button onclick=\"window.open('{popup}')\">b</button>"))
    await browser.do('click [button "b"]')
    await browser.do('click [button "shut"]')
    assert "told" in await browser.words()
    assert _reported(browser, "tab_closed") == ["A tab was closed by its page."]


@in_browser
async def test_a_page_that_closes_the_only_tab_leaves_an_empty_one(browser: Browsing, site: Site) -> None:
    popup = site.page("<button onclick='window.close()'>shut</button>")
    await browser.open(site.page(f"<button onclick=\"window.open('{popup}')\">b</button>"))
    await browser.do('click [button "b"]')
    await browser.do("tab_focus [0]")
    await browser.do("close_tab")
    await browser.do('click [button "shut"]')
    assert len((await browser.see()).tabs) == 1
    await _goes_on(browser, site)


@in_browser
async def test_a_download_is_refused_and_reported(browser: Browsing, site: Site) -> None:
    await browser.open(site.page("<p>page"))
    with pytest.raises(ActionError, match="it is a download, and downloads are refused"):
        await browser.do(f"goto [{site.home}/file]")
    assert _reported(browser, "download") == ["The page offered the download report.csv; it was refused."]
    assert "page" in await browser.words()


@in_browser
async def test_a_crashed_page_is_reported_once_and_comes_back(browser: Browsing, site: Site) -> None:
    await browser.open(site.page("<button>b</button>"))
    page = browser.tabs.current
    with pytest.raises(PageGone):
        await page.send("Page.crash", {})
    with pytest.raises(ActionError, match="crashed"):
        await browser.do('click [button "b"]')
    await browser.find("button", "b")
    assert len(_reported(browser, "crash")) == 1
    assert len((await browser.see()).tabs) == 1
    await _goes_on(browser, site)


@pytest.mark.usefixtures("impatient")
@in_browser
async def test_a_script_that_loops_for_ever_is_ended(browser: Browsing, site: Site) -> None:
    await browser.open(site.page("<p>before</p><script>while (true);</script><button>b</button>"))
    await browser.find("button", "b")
    assert len(_reported(browser, "hang")) == 1
    await _goes_on(browser, site)


@pytest.mark.usefixtures("impatient")
@in_browser
async def test_a_handler_that_loops_for_ever_is_ended(browser: Browsing, site: Site) -> None:
    await browser.open(site.page("<button>b</button><script>onkeydown = () => { while (true); }</script>"))
    await browser.do("press [a]")
    assert "b" in await browser.words()
    assert len(_reported(browser, "hang")) == 1
    await _goes_on(browser, site)


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("/round", "redirects endlessly"),
        pytest.param(
            "/empty-error",
            "answered with an error and no page",
            marks=pytest.mark.whole_chromium,  # The headless shell shows an empty page.
        ),
    ],
)
@in_browser
async def test_a_page_that_cannot_be_loaded_is_reported_once(
    browser: Browsing, site: Site, path: str, reason: str
) -> None:
    with pytest.raises(ActionError, match=reason):
        await browser.do(f"goto [{site.home}{path}]")
    failures = [event for event in browser.events() if event.kind == "load_failed"]
    assert len(failures) >= 1
    await browser.see()
    await _goes_on(browser, site)
    await browser.open(site.page(f"<a href='{path}'>go</a>"))
    await browser.do('click [link "go"]')
    assert any(reason in text or "404" in text for text in _reported(browser, "load_failed"))
    await browser.do("go_back")
    await browser.find("link", "go")


@in_browser
async def test_an_error_page_of_the_server_is_read_and_reported(browser: Browsing, site: Site) -> None:
    for path, words in (("/missing", "no such page"), ("/broken", "it broke")):
        await browser.do(f"goto [{site.home}{path}]")
        assert words in await browser.words()
        assert len(_reported(browser, "load_failed")) == 1


@pytest.fixture(scope="session")
def self_signed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """An HTTPS server whose certificate nobody vouches for."""
    folder: Path = tmp_path_factory.mktemp("certificate")
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .sign(key, hashes.SHA256())
    )
    (folder / "both.pem").write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        + certificate.public_bytes(serialization.Encoding.PEM)
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "both.pem")
    with HTTPServer(host="localhost", ssl_context=context, threaded=True) as server:
        server.expect_request("/").respond_with_data("<p>secret", content_type="text/html")
        yield server.url_for("/")


@in_browser
async def test_a_certificate_nobody_vouches_for_is_refused(
    browser: Browsing, site: Site, self_signed: str
) -> None:
    with pytest.raises(ActionError, match="its certificate is not valid"):
        await browser.do(f"goto [{self_signed}]")
    assert len(_reported(browser, "certificate")) == 1
    await browser.open(site.page(f"<a href='{self_signed}'>go</a>"))
    await browser.do('click [link "go"]')
    assert "secret" not in await browser.words()
    assert len(_reported(browser, "certificate")) == 1
    await _goes_on(browser, site)


@in_browser
async def test_a_clean_profile_knows_nothing_and_a_named_one_remembers(browser: Browsing, site: Site) -> None:
    url = site.page("<script>document.body.append(localStorage.kept || 'nothing kept')</script>")
    keep = "localStorage.kept = 'kept'; document.cookie = 'c=1; max-age=999'"
    await browser.open(url)
    await browser.js(keep)
    await browser.tabs.open_profile()
    await browser.open(url)
    assert "nothing kept" in await browser.words()
    await browser.tabs.open_profile("shop.account-1")
    await browser.open(url)
    await browser.js(keep)
    await browser.tabs.open_profile()
    await browser.tabs.open_profile("shop.account-1")
    await browser.open(url)
    assert await browser.js("[document.body.innerText, document.cookie]") == ["kept", "c=1"]
    with pytest.raises(UsageError, match="is not a valid profile name"):
        await browser.tabs.open_profile("../elsewhere")
    await browser.tabs.open_profile()
    await _goes_on(browser, site)


@pytest.mark.usefixtures("impatient")
@in_browser
async def test_pages_open_at_the_same_time_do_not_disturb_each_other(browser: Browsing, site: Site) -> None:
    await browser.open(site.page("<script>setTimeout(() => { while (true); }, 300)</script><p>loops"))
    await browser.do("new_tab")
    await asyncio.wait_for(_goes_on(browser, site), 30)
    browser.events()
    # Whoever connects to the same engine would wait for the page that loops.
    await browser.tabs.open_profile()


@in_browser
async def test_what_a_tab_has_sent_is_told_after_it_was_closed(browser: Browsing, site: Site) -> None:
    order = site.serve(lambda _: Response("taken"))
    await browser.do("new_tab")
    await browser.open(site.page(f"<button onclick=\"fetch('{order}', {{method: 'POST'}})\">Order</button>"))
    await browser.do('click [button "Order"]')
    await browser.do("close_tab")
    assert [str(one) for one in browser.tabs.browser.take_sent()] == [f"POST {order}"]
    assert browser.tabs.browser.take_sent() == ()
