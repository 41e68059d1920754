"""What pages, tasks and LLMs say stays words in every export, whatever they say."""

import ast
from html.parser import HTMLParser

import pytest
from bs4 import BeautifulSoup
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.schema.action import Goto, RefTarget, RoleTarget, Type, Wait, XPathTarget
from core.schema.element_identity import ElementMark  # noqa: F401
from core.schema.events import BrowserEvent
from core.schema.messages import Image, LLMReply, Message, Retry
from core.schema.observation import Box, Element, Observation, Option, PageFrame
from core.schema.step import (
    CallRecord,
)
from core.schema.task import Verdict
from core.trace.blobs import hash_of
from core.trace.encoding import encode_prompt, encode_reply
from core.trace.exports.html_page import export_html
from core.trace.exports.playwright_script import export_playwright, lines_of, literal
from core.trace.records import Intervention
from core.trace.store import TraceStore
from tests.core.trace.making import BLOBS, PICTURE, a_request, records, start

HOSTILE = [
    '<script>alert(1)</script><img src="x" onerror="alert(1)">',
    '"><svg onload=alert(1)><a href="javascript:alert(1)">x</a>',
    "' onmouseover='alert(1)",
    "</pre></details></title></style><iframe srcdoc='<script>1</script>'>",
    "javascript:alert(1)",
    "{{ 7 * 7 }}{% for x in y %}<!--",
    "]]><base href=//evil.test><meta http-equiv=refresh content=0>\u2028\x00\ud800",
]
PLAIN = "plain words"


def write(store: TraceStore, words: str) -> int:
    """Store a run that has these words wherever words may be."""
    button = Element(
        ref=1, role="button", name=words, value=words, uses=("click", "type"), tag="input",
        box=Box(x=1, y=1, width=9, height=9), options=(Option(label=words, value=words),),
    )  # fmt: skip
    seen = Observation(
        url=words,
        title=words,
        elements=(button,),
        frames=(PageFrame(id="1", url=""), PageFrame(id="2", url=words, name=words)),
    )
    asked = start(words, task=f"web/{words}").replace(
        start_url=words, preset=words, preset_text=words, llm=words, browser=words
    )
    run = store.begin_run(asked)
    store.begin_step(run, 1)
    action = Type(target=RefTarget(ref=1), text=words)
    event = BrowserEvent(kind="dialog", text=words, url=words)
    made = {one.phase: one for one in records(seen, thought=words, action=action)}
    made["recognise"] = made["recognise"].replace(space=words, state=words, why=words, also=(words,))
    made["decide"] = made["decide"].replace(queue=(action,))
    made["anticipate"] = made["anticipate"].replace(remedies=(action,))
    made["review"] = made["review"].replace(proposed=action, note=words)
    made["act"] = made["act"].replace(target=words, message=words, xpath=words, events=(event,))
    made["align"] = made["align"].replace(judged=True, sentence=words)
    for record in made.values():
        store.save_phase(run, 1, record, blobs=BLOBS if record.phase == "observe" else ())
    request = a_request(words)
    request = request.replace(
        messages=(*request.messages, Message(role="user", text=words, images=(Image(data=PICTURE),))),
        tools=(request.tools[0].replace(name=words, description=words),),
    )
    prompt, (reply, blob) = encode_prompt(request), encode_reply(LLMReply(text=words))
    call = CallRecord(
        number=1, step=1, purpose="decide", llm=words, model=words, messages=prompt.hash, reply=reply, started=1.0,
        error=words, retries=(Retry(reason=words, waited=1.0),),
    )  # fmt: skip
    store.calls.save(run, call, blobs=(*prompt.blobs, blob))
    store.pages.save_event(run, 1, event.replace(text=f"{words} again"))
    change = {
        "run": run,
        "step": 1,
        "kind": "edit",
        "who": words,
        "when": 1.0,
        "before": words,
        "after": words,
    }
    store.save_intervention(Intervention.model_validate(change))
    verdict = Verdict(success=False, reward=0.0, judge="page", reason=words)
    store.end_run(
        run, outcome="error", verdict=verdict, answer=words, error=words, seconds=1.0, seconds_in_llm=1.0
    )
    return run


class _Parts(HTMLParser):
    """Keeps the elements with the names of their attributes, as they come."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, tuple[str, ...]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, tuple(name for name, _ in attrs)))


def parts(text: str) -> list[tuple[str, tuple[str, ...]]]:
    parser = _Parts()
    parser.feed(text)
    return parser.found


@pytest.mark.parametrize("words", HOSTILE)
def test_no_element_and_no_attribute_of_the_page_comes_from_words(store, words):
    page, plain = export_html(store, write(store, words)), export_html(store, write(store, PLAIN))
    assert plain.count(PLAIN) > 30
    assert parts(page) == parts(plain)
    soup, sane = BeautifulSoup(page, "lxml"), BeautifulSoup(plain, "lxml")
    assert [one.name for one in soup.find_all(True)] == [one.name for one in sane.find_all(True)]
    assert len(soup.find_all("script")) == 1
    for element in soup.find_all(True):
        for name, value in element.attrs.items():
            assert not name.startswith("on")
            if name in ("href", "src", "action", "srcdoc", "data", "xlink:href"):
                assert str(value).startswith(("#", "data:image/")), (element.name, name)


def test_the_page_may_load_nothing_and_run_its_own_script_only(store):
    page = BeautifulSoup(export_html(store, write(store, PLAIN)), "lxml")
    policy = page.find("meta", attrs={"http-equiv": "Content-Security-Policy"})["content"]
    for rule in (
        "default-src 'none'",
        "base-uri 'none'",
        "form-action 'none'",
        "img-src data:",
        "script-src 'sha256-",
    ):
        assert rule in policy
    assert "script-src 'unsafe-inline'" not in policy


@pytest.mark.parametrize("kind", ["text/html", "image/svg+xml", 'image/png"><script>', ""])
def test_a_picture_that_is_none_is_told_and_not_put_into_the_page(store, kind):
    run = write(store, PLAIN)
    store._database.execute("UPDATE blobs SET media_type = ? WHERE hash = ?", (kind, hash_of(PICTURE)))
    page = export_html(store, run)
    assert "is not shown, because it may contain scripts" in page
    assert f'href="data:{kind};' not in page


@pytest.mark.parametrize(
    "words", [*HOSTILE, '"""\nimport os', "\rimport os\r", "\x0cx = 1", "\\", "http://[", "a\\\n"]
)
def test_the_script_of_a_run_compiles_to_the_same_code_whatever_is_said(store, words):
    scripts = [export_playwright(store, write(store, one)) for one in (words, PLAIN)]
    code = [ast.parse(one.encode(errors="replace").decode()) for one in scripts]
    found, plain = ([type(node) for node in ast.walk(one)] for one in code)
    calls = [ast.dump(node.func) for node in ast.walk(code[0]) if isinstance(node, ast.Call)]
    assert not any("'os'" in call or "alert" in call for call in calls)
    assert len(found) == pytest.approx(len(plain), abs=12)


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
ANY = TEXT | st.sampled_from([*HOSTILE[:-1], '"', "\\", '"""', "\n", "\r", "http://[", "\u2029"])


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(text=ANY)
def test_a_literal_is_the_text_and_nothing_else(text):
    assert ast.literal_eval(literal(text)) == text


@given(
    name=ANY, role=st.sampled_from(["button", "generic"]), url=ANY, home=ANY, xpath=ANY.filter(bool), text=ANY
)
def test_each_line_of_the_script_is_one_statement_of_known_calls(name, role, url, home, xpath, text):
    element = Element(ref=1, role=role, name=name, tag="a", frame=1, box=Box(x=0, y=0, width=1, height=1))
    seen = Observation(
        url=url,
        elements=(element,),
        frames=(PageFrame(id="1", url=url), PageFrame(id="2", url=url, name=name)),
    )
    for action in (
        Type(target=RefTarget(ref=1), text=text, enter=True),
        Type(target=RoleTarget(role=role, name=name), text=text),
        Type(target=XPathTarget(xpath=xpath), text=text),
        Goto(url=url if url.strip() else "x"),
        Wait(seconds=1),
    ):
        for line in lines_of(action, seen, xpath, home):
            (statement,) = ast.parse(line).body
            assert isinstance(statement, ast.Expr)
            names = {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)}
            assert names <= {"page", "type_into", "one", "frame", "urljoin", "start", "True", "False"}
