"""What is secret by its name, its form or its field; and texts without it, however they write it."""

import base64
import html
import json
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from core.schema.hiding import Secrets, left_out
from core.schema.secrets import (
    is_text_of,
    kind_of_field,
    kind_of_header,
    kind_of_name,
    kind_of_selector,
    names_in,
    places_in,
    stands_out,
    values_of_html,
    with_values,
)

NAMES = {
    "password": "password",
    "passwd": "password",
    "secret": "key",
    "token": "token",
    "access_token": "token",
    "refresh_token": "token",
    "id_token": "token",
    "api_key": "key",
    "client_secret": "key",
    "otp": "one-time code",
    "pin": "PIN",
    "cvv": "card code",
    "card_number": "card number",
}
WORDS = st.sampled_from(["user", "my", "new", "app", "login", "billing", "web", "data", "form"])
JOINS = st.sampled_from(["snake", "kebab", "camel", "brackets", "dots", "upper", "pascal"])
VALUE = st.text(
    st.characters(codec="ascii", categories=("L", "N", "P", "S")), min_size=9, max_size=24
).filter(lambda text: stands_out(text) and "removed" not in text)


def joined(words, how):
    match how:
        case "snake":
            return "_".join(words)
        case "kebab":
            return "-".join(words)
        case "dots":
            return ".".join(words)
        case "upper":
            return "_".join(words).upper()
        case "camel":
            return words[0] + "".join(word.capitalize() for word in words[1:])
        case "pascal":
            return "".join(word.capitalize() for word in words)
        case _:
            return words[0] + "".join(f"[{word}]" for word in words[1:])


@given(st.sampled_from(sorted(NAMES)), st.lists(WORDS, max_size=2), JOINS)
def test_a_telling_word_makes_a_name_secret_however_its_words_are_joined(name, before, how):
    assert kind_of_name(joined([*before, *name.split("_")], how), "value") == NAMES[name]


@given(st.sampled_from(["token", "password", "secret", "otp", "pin", "cvv"]), st.text("bfghj", min_size=2))
def test_a_telling_word_inside_a_longer_word_makes_no_name_secret(word, more):
    assert kind_of_name(f"my_{word}{more}", "a-value-1234567") is None
    assert kind_of_name(f"{more}{word}", "a-value-1234567") is None


@pytest.mark.parametrize(
    "name",
    "tokens_used passwordless pinned token_type prompt_tokens max_token password_hint has_password author_id"
    " secretary token_count pinLocation forgotPassword session keyboard".split(),
)
def test_a_name_that_only_tells_something_about_a_secret_is_not_secret(name):
    assert kind_of_name(name, "active") is None


def test_a_name_of_many_things_is_secret_where_its_value_looks_like_a_key():
    assert kind_of_name("session", "9f8e7d6c5b4a") == "token"
    assert kind_of_name("code", "ERR-4711", in_address=True) is None
    assert kind_of_name("code", "4/0AY0e-g7Kq3mTz8vRw", in_address=True) == "token"


@pytest.mark.parametrize(
    "name",
    "Authorization Proxy-Authorization Cookie Set-Cookie X-API-Key Api-Key X-Auth-Token X-CSRF-Token"
    " X-Amz-Security-Token x-goog-api-key X-Auth X-Auth-Key Ocp-Apim-Subscription-Key".split(),
)
def test_headers_that_log_in_are_secret(name):
    assert kind_of_header(name) is not None


@pytest.mark.parametrize(
    "name", "Content-Type Accept Authority X-Request-Id WWW-Authenticate Location Idempotency-Key".split()
)
def test_other_headers_are_not(name):
    assert kind_of_header(name) is None


@pytest.mark.parametrize(
    ("field", "kind"),
    [
        (("password", "", ""), "password"),
        (("text", "current-password webauthn", ""), "password"),
        (("tel", "section-a billing cc-number", ""), "card number"),
        (("text", "one-time-code", ""), "one-time code"),
        (("text", "cc-csc", ""), "card code"),
        (("text", "cc-exp-month", ""), "card date"),
        (("text", "off", "user[otp]"), "one-time code"),
        (("text", "username", "user"), None),
        (("submit", "", "forgot-password"), None),
    ],
)
def test_a_field_is_secret_by_type_autocomplete_or_name(field, kind):
    assert kind_of_field(*field) == kind


@pytest.mark.parametrize(
    "text",
    [
        "sk-proj-abcdefghij0123456789",
        "ghp_abcdefghijklmnopqrst0123456789",
        "AKIAABCDEFGHIJKLMNOP",
        "gsk_a1B2c3D4e5F6g7H8i9J0k1L2m3N4",
        "xai-a1B2c3D4e5F6g7H8i9J0k1L2m3N4",
        "nvapi-a1B2c3D4e5F6g7H8i9J0k1L2m3",
        "pplx-a1B2c3D4e5F6g7H8i9J0k1L2m3N4",
        "xoxb-1234567890-abcdef",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abc_def",
        "x-eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abc_def",
        "Authorization: Bearer abcdef.ghijkl-mnopqr",
        "Authorization: Bearer correct-horse-battery",
        "https://ada:lovelace1815@example.org/",
        "postgres://ann:p#ssw0rd@db/x",
        json.dumps("-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkq/hkiG\n-----END PRIVATE KEY-----").replace("/", "\\/"),
        json.dumps(["-----BEGIN PRIVATE KEY-----", "MIIEvQIBADANBgkqhkiG", "-----END PRIVATE KEY-----"]),
        "-----BEGIN PRIVATE KEY-----<br>MIIEvQIBADANBgkqhkiG<br>-----END PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG\n-----END PRIVATE KEY-----",
        '-----BEGIN PRIVATE KEY-----\\n"\n + "MIIEvQIBADANBgkqhkiG\\n-----END PRIVATE KEY-----',
        "Authorization: Bearer abcdefghijklmnopqrstuvwx",
        "Basic abcdefghijklmnop",
        "basic sk-ant-abcdefghijklmnopqrstuv",
        json.dumps("The key is:\nsk-abcdefghijklmnop123456"),
        json.dumps("My token:\nghp_abcdefghijklmnopqrstuvwxyz12"),
        json.dumps("A\tAKIAABCDEFGHIJKLMNOP"),
        json.dumps("→eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abc_def"),
        json.dumps(
            "-----BEGIN RSA PRIVATE KEY-----\nDEK-Info: AES-128-CBC,0A\n\nMIIEvQIBADANBgkqhkiG\n"
            "-----END RSA PRIVATE KEY-----"
        ),
    ],
)  # fmt: skip
def test_keys_and_tokens_are_recognised_by_their_form(text):
    secrets = Secrets()
    secrets.look_in_text(f"it says {text} there")
    assert sum(secrets.counts.values()) == 1
    assert "removed-" in secrets.text(text)
    assert text not in secrets.text(text)


@pytest.mark.parametrize(
    "text",
    [
        "Basic Authentication is basic functionality; bearer authentication. Bearer access_token",
        "Basic username/password, or Bearer my-secret-token-for-the-site",
        "https://o.test:8080?to=@bob",
        'if (t.includes("-----BEGIN PRIVATE KEY-----") && check(t) && t.includes("-----END PRIVATE KEY-----")) go();',
        'x="-----BEGIN PRIVATE KEY-----", y="-----END PRIVATE KEY-----"',
        "It begins with -----BEGIN PRIVATE KEY----- and ends with -----END PRIVATE KEY-----.",
        json.dumps(["begins with -----BEGIN PRIVATE KEY-----.", "Yes.", "-----END PRIVATE KEY-----. Good."]),
    ],
)  # fmt: skip
def test_words_are_no_keys_by_their_form(text):
    secrets = Secrets()
    secrets.look_in_text(text)
    assert secrets.counts == {}


def test_cookies_passwords_and_telling_names_are_secret_and_others_are_not():
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
    assert all(word.startswith("removed-") for word in said.split()[:7])
    assert said.split()[7:] == ["text/html-page", "harmless-words", "a-dark-theme", "a-long-city"]
    assert left_out(secrets.counts) == "2 cookies, 1 password and 4 tokens were left out."


@pytest.mark.parametrize(
    "value", ["a", "on", "test", "Test", "admin", "password", "4711", "12/27", "", "to be", "••••••"]
)
def test_a_value_that_is_short_or_an_ordinary_word_is_hidden_nowhere_else(value):
    secrets = Secrets()
    assert not secrets.add("password", value)
    text = f"a test of on-line {value} admin 4711 12/27"
    assert secrets.text(text) == text


def test_short_words_and_numbers_are_only_found_as_whole_words():
    secrets = Secrets()
    secrets.add("password", "sesame")
    secrets.add("one-time code", "493817")
    assert secrets.text("sesames 1493817 open:sesame code=493817.") == (
        "sesames 1493817 open:removed-password-1 code=removed-one-time-code-1."
    )
    assert secrets.text(json.dumps("say\nsesame")) == json.dumps("say\nremoved-password-1")


def test_a_card_number_is_found_in_groups_too():
    secrets = Secrets()
    secrets.add("card number", "4111 1111 1111 1111")
    for written in ("4111111111111111", "4111-1111-1111-1111", "4111+1111+1111+1111"):
        assert secrets.text(f"x {written} y") == "x removed-card-number-1 y"


def test_the_longest_of_two_is_replaced_first():
    secrets = Secrets()
    secrets.add("token", "abcdefg1")
    secrets.add("token", "abcdefg1h")
    assert secrets.text("abcdefg1h abcdefg1") == "removed-token-2 removed-token-1"


@given(VALUE, st.binary(max_size=12))
def test_no_way_of_writing_a_secret_is_left(secret, user):
    secrets = Secrets()
    assume(secrets.add("password", secret))
    basic = base64.b64encode(user + b":" + secret.encode()).decode()
    writes = (str, html.escape, quote, quote_plus, lambda one: json.dumps(one)[1:-1],
              lambda one: json.dumps(json.dumps(one))[3:-3], lambda one: quote(one, safe="!'()*"),
              lambda one: one.replace("&", "&amp;").replace('"', "&quot;"),
              lambda one: html.escape(one).replace("&#x27;", "&apos;").replace("/", "&#x2F;"),
              lambda one: json.dumps(one)[1:-1].replace("/", "\\/"),
              lambda one: json.dumps(one)[1:-1].replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"),
              )  # fmt: skip
    for write in writes:
        assert secrets.text(f"<<{write(secret)}>>") == "<<removed-password-1>>"
    assert secrets.text(f"Basic {basic}") == "Basic removed-password-1"


@given(st.lists(VALUE, max_size=4), st.text())
def test_hiding_twice_changes_nothing_more_and_what_is_not_secret_stays_byte_for_byte(values, text):
    secrets = Secrets()
    for value in values:
        secrets.add("token", value)
    whole = " | ".join((text, *values, "removed-token-1", "<secret:password>"))
    hidden = secrets.text(whole)
    assert secrets.text(hidden) == hidden
    assume(not any(form in text for form, _ in secrets._written.values()))
    assert secrets.text(text) is text
    assert secrets.data(text.encode(errors="replace")) == text.encode(errors="replace")


@given(st.binary())
def test_bytes_that_are_no_text_stay_as_they_are(data):
    secrets = Secrets()
    secrets.add("token", "abcdefg1")
    assert secrets.data(data) == data


def test_values_go_from_their_places_in_json_json_in_json_and_forms():
    inner = json.dumps({"refreshToken": 'with "quotes" 1', "name": "Ann"})
    data = json.dumps({"cvv": "123", "otp": 4711, "user": "ann", "tokens_used": 4711, "inner": inner})
    hidden = json.loads(Secrets().text_of_places(data))
    assert (hidden["cvv"], hidden["otp"]) == ("removed-card-code-1", 0)
    assert (hidden["user"], hidden["tokens_used"]) == ("ann", 4711)
    assert json.loads(hidden["inner"]) == {"refreshToken": "removed-token-1", "name": "Ann"}
    assert (
        Secrets().text_of_places("user=ann&user%5Bpassword%5D=a%26b&q=1")
        == "user=ann&user%5Bpassword%5D=removed-password-1&q=1"
    )


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("user=a&password=Tr0ub(4)dor!xyz&x=1", "user=a&password=removed-password-1&x=1"),
        ("/p?a=(x)&password=it's;a{b}c?d", "/p?a=(x)&password=removed-password-1"),
        ("(see https://a.test/?token=abc123de)", "(see https://a.test/?token=removed-token-1)"),
        ("fetch('/x?token=abc123de').then(f)", "fetch('/x?token=removed-token-1').then(f)"),
        ('{"u":"/x?next=/y?token=abc(123)de"}', '{"u":"/x?next=/y?token=removed-token-1"}'),
        ('"/x?token={{token}}"', '"/x?token={{token}}"'),
        (f"?token={'a1' * 5000}&b=1", "?token=removed-token-1&b=1"),
        (json.dumps({"token": "a1" * 5000}), '{"token": "removed-token-1"}'),
        ('{"token": "abc123de', '{"token": "removed-token-1'),
        (json.dumps({"a": '{"token": "abc123de'}), json.dumps({"a": '{"token": "removed-token-1'})),
        ('{"otps": ["123456", 234567]}', '{"otps": ["123456", 234567]}'),
        (
            '{"passwords": ["pw-1234567", 7654321, "Too short."]}',
            '{"passwords": ["removed-password-1", 7654321, "Too short."]}',
        ),
        (
            json.dumps({"a": json.dumps({"passwords": ["", "pw-\\12", 'say"so-1'], "b": ["c"]})}),
            json.dumps(
                {"a": json.dumps({"passwords": ["", "removed-password-1", "removed-password-2"], "b": ["c"]})}
            ),
        ),
        ('{"name": "password", "value": "pw-1"}', '{"name": "password", "value": "removed-password-1"}'),
        ('{"password": ["hunter2abc"]}', '{"password": ["removed-password-1"]}'),
        ('{"token": "abc123de\nand more', '{"token": "removed-token-1\nand more'),
        ("fetch(`/x?token=abc123de`)", "fetch(`/x?token=removed-token-1`)"),
        ("goto [https://h.test/a?token=abc123de]", "goto [https://h.test/a?token=removed-token-1]"),
        (
            "goto [https://h.test/a?token=abc123de] [new tab]",
            "goto [https://h.test/a?token=removed-token-1] [new tab]",
        ),
        ("https://h.test/a?password=!it's;(a]&x=1", "https://h.test/a?password=removed-password-1&x=1"),
        ('{"form":"a=1&password=Passw0rd!"}', '{"form":"a=1&password=removed-password-1"}'),
        ("https://h.test/a?token=12345678:87654321&x", "https://h.test/a?token=removed-token-1&x"),
        ('<a href="account/reset?token=abc123de">', '<a href="account/reset?token=removed-token-1">'),
        ("goto [account/reset?token=abc123de]", "goto [account/reset?token=removed-token-1]"),
        ("Location: reset.php?token=abc123de", "Location: reset.php?token=removed-token-1"),
        ("Location: #access_token=abc123de", "Location: #access_token=removed-token-1"),
        ("GET /login?password=$ecret123 200", "GET /login?password=removed-password-1 200"),
        ('{"Password (min. 8)":"hunter2abc"}', '{"Password (min. 8)":"removed-password-1"}'),
        ('Wrong? "password":"hunter2abc"', 'Wrong? "password":"removed-password-1"'),
        ('[null, {"password":"hunter2abc cut', '[null, {"password":"removed-password-1'),
        ('{"password":["Summer2024"]}', '{"password":["removed-password-1"]}'),
        ('{"name":"api_key","value":"abcd-efgh-1234"}', '{"name":"api_key","value":"removed-key-1"}'),
        ("GET /a?token=abc123de 200", "GET /a?token=removed-token-1 200"),
        ("at h.test:80/a?token=abc123de", "at h.test:80/a?token=removed-token-1"),
        ("<a href=page.php?a=1&amp;token=abc123de>", "<a href=page.php?a=1&amp;token=removed-token-1>"),
        (r'{"u":"https:\/\/h.test\/a?token=abc123de"}', r'{"u":"https:\/\/h.test\/a?token=removed-token-1"}'),
        (json.dumps({"a": '{"u":"?token=abc123de"}'}), json.dumps({"a": '{"u":"?token=removed-token-1"}'})),
        ('{"name":"csrf","value":"9f8e7d6c5b"}', '{"name":"csrf","value":"removed-token-1"}'),
        ('{"token":["QWxhZGRpbjpvcGVuIHNlc2FtZQ"]}', '{"token":["removed-token-1"]}'),
        ('["user", {"password": "hunter2abc', '["user", {"password": "removed-password-1'),
    ],
)
def test_a_value_goes_whole_from_its_place_and_nothing_around_it(text, hidden):
    assert Secrets().text_of_places(text) == hidden


@pytest.mark.parametrize(
    "text",
    [
        "var m = /#access_token=([^&]+)/.exec(location.hash);",
        "e.match(g)?t.lastToken==`def`||e:t;",
        "is?token=='abc123def456':other",
        r"var m = s.match(/\?token=(.*)/);",
        "var u=c?d+'&token='+e:f;go(u)",
        "s='Hello world?token='+t;go()",
        "u = x?'/x?a=1&token='+t+'&b=2':'';",
        '{"name": "city", "value": "Oslo-Vest"}',
        '{"name": "authorization", "value": "reader"}',
        '{"name": "password", "value": "Password of your account"}',
        '{"series": [{"name": "Token", "value": 1048}]}',
        '{"errors": {"password": ["too_short", "invalid_credentials"]}}',
        '{"password": ["パスワードは8文字以上です"]}',
        '{"pin": [52.52, 13.40], "token": [3923, 374]}',
        '{"security": [{"jwt": ["read:pets", "write:pets"]}]}',
        'Type "password":" and go on with everything else in this text',
        '[info] Type "password":" and go on with everything else',
        "location.href.replace(/[?&]token=[^&]+/,'')",
        "if(/[?&]token=/.test(location.search))signIn();",
        "u.replace(/&token=[^&]*/,'')",
        "u.replace(/#id_token=.*$/,'')",
        "r?t.token=r:t.token=null;go()",
        'typeof e=="string"?t.token=e:t.token=null;',
        "class A{#token=null;constructor(e){this.#token=e}}",
        "var u='/x?token=:token'; var v='/x?token=[token]'; var w='/x?token=%s'",
        "x='/a?token='+encodeURIComponent(t)+'&b=1'",
        'if (token.endsWith(":")) a(token.indexOf("*"), "{")',
        'f(a ? "hidePassword" : "showPassword"), e.type=b?"password":"text"',
        '{"name":"spacing.token","value":"16px"}',
        '{"name":"color-token","value":"#ff8800"}',
        '{"name":"authorization","value":"read-only"}',
        '{"name":"Token","value":"1,048,576"}',
        '[{"name":"password","value":"Benutzerkennwort"},{"name":"otp","value":"true"}]',
        '{"errors":{"password":["min_length_8", "E1042_WEAK"]}}',
    ],
)
def test_code_messages_and_numbers_beside_telling_names_stay_as_they_are(text):
    for whole in (text, f"<p>a</p><script>{text}</script>"):
        assert Secrets().text_of_places(whole) == whole


@pytest.mark.parametrize(
    "text",
    [
        "Failed (url https://h.test/a?token=abc123de), retrying",
        "Error: {url: https://h.test/a?token=abc123de}, retry",
        "See https://h.test/a?token=abc123de, and retry.",
        "GET https://h.test/a?token=abc123de;lang=en 200",
        "https://h.test/#id_token=abc123de;state=1",
        "goto [https://h.test/a?token=abc123de]",
        "See [the page](https://h.test/a?token=abc123de) and **https://h.test/a?token=abc123de**",
        "Failed https://h.test/a?token=abc123de: timeout",
        "at f (https://h.test/app.js?token=abc123de:12:34)",
        "at https://h.test/app.js?token=abc123de:12:34",
        "See https://h.test/a?token=abc123de!",
        "See https://h.test/a?token=abc123de…",
    ],
)
def test_a_value_of_an_address_is_hidden_elsewhere_without_what_stands_behind_it(text):
    secrets = Secrets()
    assert "abc123de" not in secrets.text_of_places(text)
    assert "abc123de" not in secrets.text("it is abc123de")


@pytest.mark.parametrize("value", ["summer(2024)", "search(price)"])
def test_a_part_of_a_value_is_no_secret_of_its_own(value):
    secrets = Secrets()
    hidden = secrets.text_of_places(f"https://h.test/a?pageToken={value}&x=1")
    assert hidden == "https://h.test/a?pageToken=removed-token-1&x=1"
    assert secrets.sentence == "1 token was left out."
    assert secrets.text("A nice summer day; search abc123de") == "A nice summer day; search abc123de"


def test_threads_may_hide_and_add_at_once_and_each_value_has_its_own_name():
    secrets = Secrets()
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(2) as pool:
            adding = [
                pool.submit(lambda names: [secrets.add("token", name) for name in names], names)
                for names in ([f"{one}-token-{at}" for at in range(1000)] for one in "ab")
            ]
            while not all(one.done() for one in adding):
                secrets.text("a text" * 1000)
    finally:
        sys.setswitchinterval(interval)
    assert all(all(one.result()) for one in adding)
    assert len({secrets.instead_of(f"{one}-token-{at}") for one in "ab" for at in range(1000)}) == 2000


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ('<input type="password" value="hunter2abc" data-value="">', "hunter2abc"),
        ('<input data-type="text" value=hunter2abc type=password data-type="field">', "hunter2abc"),
        ("<input type='password' title='a>b' value=\"pass>word1234\">", "pass>word1234"),
        ('<input name="csrf_token" data-name="x" title="value=none" value="abcd1234">', "abcd1234"),
        ('<input type="password"value="hunter2abc"', "hunter2abc"),
        ('<input title=it"s type=password value="hunter2abc">', "hunter2abc"),
    ],
)
def test_what_a_field_holds_is_read_as_a_browser_reads_it(field, value):
    assert [found for _, found in values_of_html(f"<p>{field}")] == [value]


@pytest.mark.parametrize(
    "unit",
    [
        "\\", "<input ", '<input "', "<input a='", "<input a=", "-----BEGIN PRIVATE KEY-----", "eyJaaaaaaaa-",
        "-eyJaaaaaaaa.a", "&password=a(", '"?token=a(',
        '"password":"', '\\"session\\":\\"a ', "&password=(", "?session=a+(", "?code=", '"passwords":[', "a://b",
        "?token=a(", "?token=a[", "a://?token=", "'?[", "-----BEGIN PRIVATE KEY-----a ", "Basic a-",
    ],
)  # fmt: skip
def test_looking_at_a_text_takes_time_in_proportion_to_it(unit):
    def took(size):
        secrets, text = Secrets(), unit * (size // len(unit))
        begun = time.process_time()
        secrets.look_in_text(text)
        secrets.look_in_html(text)
        secrets.look_in_places(text)
        return time.process_time() - begun

    # What is quadratic takes 64 times as long.
    assert min(took(160_000) for _ in range(2)) < 30 * max(0.02, *(took(20_000) for _ in range(3)))


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda one: st.lists(one) | st.dictionaries(st.text() | st.sampled_from(sorted(NAMES)), one),
        max_leaves=8,
    )
)
def test_json_stays_json_when_its_secrets_are_hidden_and_hiding_again_changes_nothing(value):
    secrets = Secrets()
    text = json.dumps(value)
    hidden = secrets.text_of_places(text)
    json.loads(hidden)
    assert secrets.text_of_places(hidden) == hidden
    if not any(places_in(text)):
        assert hidden == text


@given(st.text())
def test_any_text_can_be_looked_at(text):
    secrets = Secrets()
    secrets.look_in_text(text)
    secrets.look_in_places(text)
    secrets.look_in_html(text)
    secrets.look_in_url(text)


def test_what_was_hidden_before_is_counted_and_its_numbers_are_not_given_again():
    secrets = Secrets()
    secrets.look_in_text("removed-token-7 and removed-card-number-1, <secret:code>")
    secrets.add("token", "abcdefg1")
    assert secrets.text("abcdefg1") == "removed-token-8"
    assert left_out(secrets.counts) == "1 card number, 1 secret and 2 tokens were left out."


def test_names_stand_for_the_secrets_of_a_task():
    assert names_in("a <secret:one> b <secret:two>") == ("one", "two")
    assert with_values("<secret:one>!", {"one": "1"}) == "1!"
    with pytest.raises(KeyError):
        with_values("<secret:three>", {})


@given(st.lists(st.sampled_from(["", "a", "ab", "\n", "b"]), min_size=1, max_size=5), st.data())
def test_a_text_is_known_again_with_anything_in_place_of_what_is_hidden(parts, data):
    hidden = st.sampled_from(["••", "<secret:pin>"])
    stored, text = parts[0], parts[0]
    for part in parts[1:]:
        stored += data.draw(hidden) + part
        text += data.draw(st.text("ab\n", max_size=3)) + part
    assert is_text_of(stored, text)
    assert not is_text_of("a••b••c", "a__c")
    assert not is_text_of("ab••ba", "aba")
    assert not is_text_of(stored, f"x{text}") or parts[0] == ""
    assert not is_text_of(stored, f"{text}x") or parts[-1] == ""


@pytest.mark.parametrize(
    ("selector", "kind"),
    [
        ("#login > #user\\:password", "password"),
        ("form[id='a/b'] input[type=password]", "password"),
        ("[data-testid='login-otp']", "one-time code"),
        ("//form//input[@autocomplete='cc-number'][1]", "card number"),
        ('(//*[@aria-label="PIN" or @id=//label[normalize-space()="PIN"]/@for])[1]', "PIN"),
        ("//iframe >> //*[@id = 'password']", "password"),
        ("#password-form > input", None),
        ("//*[@id='password']/input", None),
        ("#forgot-password", None),
        ("]][", None),
    ],
)
def test_a_selector_tells_a_secret_field_by_the_attributes_of_its_last_part(selector, kind):
    assert kind_of_selector(selector, "hunter2") == kind
