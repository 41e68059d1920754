"""What is secret in a run is found, and replaced in whatever way a text writes it."""

import html
import json
from pathlib import Path
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.trace.repro.exporter import SHORTEST, Secrets


@pytest.mark.parametrize(
    "text",
    [
        "sk-proj-abcdefghij0123456789",
        "ghp_abcdefghijklmnopqrst0123456789",
        "AKIAABCDEFGHIJKLMNOP",
        "xoxb-1234567890-abcdef",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abc_def",
        "Authorization: Bearer abcdef.ghijkl-mnopqr",
        "https://ada:lovelace1815@example.org/",
        "-----BEGIN PRIVATE KEY-----\nabc\n-----END PRIVATE KEY-----",
    ],
)
def test_keys_and_tokens_are_recognised_by_their_form(text):
    secrets = Secrets()
    secrets.look_in_text(f"it says {text} there")
    assert secrets.removed.total() == 1
    assert "removed-1" in secrets.text(text)
    assert text not in secrets.text(text)


def test_cookies_typed_passwords_and_telling_names_are_secret_and_others_are_not():
    secrets = Secrets()
    secrets.look_in_headers([("Set-Cookie", "id=cookie-value; Path=/"), ("Content-Type", "text/html-page")])
    secrets.look_in_url("https://a.test/?access_token=url-token&q=harmless-words")
    secrets.look_in_kept(
        {
            "cookies": [{"name": "a", "value": "kept-cookie"}],
            "local": {"authToken": "local-token", "theme": "a-dark-theme", "user": '{"jwt": "inner-token"}'},
            "session": None,
        }
    )
    secrets.look_in_html(
        "<input type=password name=p value='typed-password'><input name=city value='a-long-city'>"
        '<meta name="csrf-token" content="meta-token">'
    )
    said = secrets.text(
        "cookie-value url-token kept-cookie local-token inner-token typed-password meta-token"
        " text/html-page harmless-words a-dark-theme a-long-city"
    )
    assert said.split() == [*(f"removed-{n}" for n in range(1, 8)), "text/html-page", "harmless-words",
                            "a-dark-theme", "a-long-city"]  # fmt: skip


def test_one_secret_has_one_name_and_short_ones_are_left():
    secrets = Secrets()
    for value in ("longer-one", "longer-one", "on", ""):
        secrets.add("cookie", value)
    assert secrets.sentence == "Secrets were replaced by removed-1, removed-2 and so on: 1 of kind cookie."
    assert secrets.text("on longer-one") == "on removed-1"


def test_the_longest_of_two_is_replaced_first():
    secrets = Secrets()
    secrets.add("token", "abcdef")
    secrets.add("token", "abcdefgh")
    assert secrets.text("abcdefgh abcdef") == "removed-2 removed-1"


def test_the_users_own_folder_is_not_named():
    assert Secrets().text(f"{Path.home()}/traces.db") == "~/traces.db"
    assert Secrets().text(f"{Path.home()}ish") == f"{Path.home()}ish"


@given(st.text(min_size=SHORTEST, max_size=30).filter(lambda text: len(text.strip()) >= SHORTEST))
def test_no_way_of_writing_a_secret_is_left(secret):
    secret = secret.strip()
    secrets = Secrets()
    secrets.add("password", secret)
    if not secrets.removed:
        return  # It looks like a name that was given already.
    for write in (str, html.escape, quote, quote_plus, lambda text: json.dumps(text)[1:-1]):
        written = write(secret.encode(errors="replace").decode())
        assert secrets.text(f"<<{written}>>") == "<<removed-1>>"
