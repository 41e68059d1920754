"""What is copied out of one row: Playwright lines, and curl commands without secrets."""

import json
import shlex

import pytest

from core.schema.observation import Box, Element
from core.trace.exports.copied import (
    call_command,
    playwright_line,
    request_command,
)
from core.trace.exports.playwright_script import NotExpressibleError

BOX = Box(x=0, y=0, width=10, height=10)
ELEMENTS = (
    Element(ref=6, role="button", name="Buy now", box=BOX),
    Element(ref=9, role="textbox", name="Gift note", box=BOX),
    Element(ref=12, role="button", name="Buy now", box=BOX),
)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("click [6]", 'page.get_by_role("button", name="Buy now", exact=True).nth(0).click()'),
        ("click [12]", 'page.get_by_role("button", name="Buy now", exact=True).nth(1).click()'),
        ("type [9] [hello]", 'page.get_by_role("textbox", name="Gift note", exact=True).fill("hello")'),
        ("goto [https://x.example/a]", 'page.goto("https://x.example/a")'),
        ("scroll [down]", "page.mouse.wheel(0, 600)"),
        ("press [Enter]", 'page.keyboard.press("Enter")'),
    ],
)
def test_an_action_is_one_line_of_playwright(text, line):
    assert playwright_line(text, ELEMENTS) == line


def test_the_target_of_a_page_that_is_gone_is_read_from_its_words():
    line = playwright_line("click [3]", (), 'link "Next"')
    assert line == 'page.get_by_role("link", name="Next", exact=True).click()'


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("click [44]", "element 44 is not in the page"),
        ("no such thing", "cannot be read"),
        ("stop [done]", "not an action of Playwright"),
        ("type [9] [••••]", "hidden and was not recorded"),
        ("type [9] [my removed-key-1]", "hidden and was not recorded"),
        ("answer_dialog [accept] [removed-key-1]", "hidden and was not recorded"),
        ("select [9] [removed-key-1]", "hidden and was not recorded"),
    ],
)
def test_what_is_no_line_says_why(text, why):
    with pytest.raises(NotExpressibleError, match=why):
        playwright_line(text, ELEMENTS)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://a.example/x?q=lamp", "https://a.example/x?q=lamp"),
        ("https://a.example/x?api_key=abc&q=a b", "https://a.example/x?api_key=removed-key-1&q=a b"),
        ("https://me:word@a.example/", "https://removed-password-1@a.example/"),
        ("https://a.example/#access_token=abc", "https://a.example/#access_token=removed-token-1"),
        (
            "https://a.example/cb#state=1&access_token=abc",
            "https://a.example/cb#state=1&access_token=removed-token-1",
        ),
        (
            "https://a.example/reset/eyJhbGciOi1.eyJzdWIiOi1.abc/x",
            "https://a.example/reset/removed-token-1/x",
        ),
        ("https://a.example/?q=sk-abcdefghijklmnop123456", "https://a.example/?q=removed-key-1"),
        (
            "https://a.example/?to=https%3A%2F%2Fb%2F%3Ftoken%3Dabc12345",
            "https://a.example/?to=https%3A%2F%2Fb%2F%3Ftoken%3Dremoved-token-1",
        ),
        ("https://a.example/#/lamps?sort=price", "https://a.example/#/lamps?sort=price"),
        ("http://[bad", "http://[bad"),
        ("https://tok3nabc123@a.example/x", "https://***@a.example/x"),
        ("https://u:p1@a.example/x", "https://***@a.example/x"),
        ("https://a.example/cb?code=4/0Adeu5B&q=1#sid=a1b2c3", "https://a.example/cb?code=***&q=1#sid=***"),
        (
            "https://a.example/?session=abc&auth=12345&token=",
            "https://a.example/?session=***&auth=***&token=",
        ),
        ("https://a.example/?key=AB12CD34&signature=abcdef", "https://a.example/?key=***&signature=***"),
        ("http://[x/?token=abc12345", "http://[x/?token=removed-token-1"),
        ("https://QWxhZGRpbg==@h.test/x", "https://***@h.test/x"),
        ("https://ann:a&b@h.test/", "https://removed-password-1@h.test/"),
        ("https://h.test/a@b", "https://h.test/a@b"),
        ("https://h.test?to=ada@x.org", "https://h.test?to=ada@x.org"),
        (
            "https://h.test/?next=http://o.test&email=ada@x.org",
            "https://h.test/?next=http://o.test&email=ada@x.org",
        ),
    ],
)
def test_a_request_is_a_command_without_the_secrets_of_its_address(url, shown):
    assert shlex.split(request_command("GET", url)) == ["curl", shown]


def test_a_request_is_a_command_that_a_shell_reads_as_it_is_meant():
    assert shlex.split(request_command("GET", "http://a.example/?q='x'")) == [
        "curl",
        "http://a.example/?q='x'",
    ]
    assert shlex.split(request_command("POST", "http://a.example/"))[1:3] == ["-X", "POST"]


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ("The key is:\nsk-abcdefghijklmnop123456", "The key is:\n[key]"),
        ("\tghp_abcdefghijklmnopqrstuvwxyz12", "\t[key]"),
        ("Authorization: Basic dXNlcjpwYXNzd29yZA==", "Authorization: Basic [key]"),
        (
            "bearer ab-cdefghijk1 or ab.cdefghijk1; bearer ab.cdefghijk1",
            "bearer [key] or ab.cdefghijk1; bearer [key]",
        ),
        (
            "Explain basic requirements and basic functionality; bearer authentication.",
            "Explain basic requirements and basic functionality; bearer authentication.",
        ),
        ("Authorization: Bearer sk-abcdefghijklmnopqrstuvwx", "Authorization: Bearer [key]"),
        ("Bearer abcdefghijklmnopqrstuvwx", "Bearer [key]"),
        ("Basic abcdefghijklmnop", "Basic [key]"),
        ("basic sk-ant-abcdefghijklmnopqrstuv", "basic [key]"),
        (r'{"text": "The key is:\nsk-abcdefghijklmnop123456"}', r'{"text": "The key is:\n[key]"}'),
    ],
)
def test_an_llm_call_is_a_command_without_the_keys_in_its_texts(words, shown):
    tools = json.dumps([{"name": "click", "description": words, "parameters": {}}])
    command = call_command("gpt-4o", [{"role": "user", "content": [{"type": "text", "text": words}]}], tools)
    body = json.loads(shlex.split(command.replace("\\\n", " "))[-1])
    assert body["messages"][0]["content"][0]["text"] == shown
    assert body["tools"][0]["function"]["description"] == shown


def test_an_llm_call_is_a_command_with_the_key_from_the_environment():
    words = 'Don\'t $HOME, "Bearer abcdefghij123"'
    messages = ({"role": "user", "content": words},)
    tools = json.dumps([{"name": "click", "description": "Click", "parameters": {}}])
    command = call_command("gpt-4o", messages, tools, "temperature 0.5, reasoning_effort low")
    assert "Bearer $OPENAI_API_KEY" in command
    body = json.loads(shlex.split(command.replace("\\\n", " "))[-1])
    assert body["messages"] == [{"role": "user", "content": words.replace("abcdefghij123", "[key]")}]
    assert body["model"] == "gpt-4o"
    assert body["temperature"] == 0.5
    assert body["reasoning_effort"] == "low"
    assert body["tools"][0]["function"]["name"] == "click"
