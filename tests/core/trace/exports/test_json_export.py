import base64
import hashlib
import json
import re

import pytest
from bs4 import BeautifulSoup

from core.schema.action import Click, GoBack, Press, RefTarget
from core.schema.action_space import Choice, Parameter, Permissible, PermissibleAction
from core.schema.errors import TraceError
from core.schema.events import BrowserEvent, LogLine
from core.schema.messages import Image, LLMReply, LLMRequest, Message, Retry, Sampling, Tool, ToolCall, Usage
from core.schema.observation import Box, CleanObservation
from core.schema.step import (
    Abstracted,
    Acted,
    Aligned,
    Anticipated,
    CallRecord,
    Committed,
    Decided,
    Observed,
    Proposal,
    Recognised,
    Reviewed,
)
from core.schema.task import Verdict
from core.trace.blobs import hash_of
from core.trace.encoding import encode_prompt, encode_reply
from core.trace.exports.html_page import export_html
from core.trace.exports.json_export import export_json
from core.trace.records import Intervention, RunStart
from tests.core.trace.making import HTML, PICTURE, page, records, start, write_run, write_step

HOSTILE = "</pre></script></style>'\"><img src=x onerror=alert(1)><script>alert(2)</script>{{ 7 * 7 }}"


def write_talkative_run(store, words: str = "some words") -> int:
    """Write a run that uses every field a run can have, `words` in all of them."""
    run = store.begin_run(
        RunStart(
            task=f"web/{words}",
            environment="web",
            seed=5,
            instruction=words,
            start_url=words,
            preset=words,
            preset_text=words,
            llm=words,
            browser=words,
        )
    )
    store.begin_step(run, 1)
    seen = page(words, "Cancel", url=words)
    choice = Choice(value="1", label=words)
    action = PermissibleAction(
        name="click",
        description=words,
        parameters=(Parameter(name="target", choices=(choice,)),),
        cannot_be_undone=True,
    )
    store.save_phase(
        run,
        1,
        Observed(observation=seen, html=hash_of(HTML), screenshot=hash_of(PICTURE)),
        blobs=[(HTML, "text/html"), (PICTURE, "image/webp")],
    )
    permissible = Permissible(actions=(action,), left_out=3)
    store.save_phase(
        run, 1, Recognised(space=words, state=words, why=words, also=(words,), permissible=permissible)
    )
    store.save_phase(
        run, 1, Abstracted(clean=CleanObservation(url=words, elements=seen.elements, text=words))
    )
    prompt = encode_prompt(
        LLMRequest(
            purpose="decide",
            messages=(
                Message(role="system", text=words),
                Message(role="user", text=words, images=(Image(data=b"another picture"),)),
                Message(role="assistant", tool_calls=(ToolCall(name=words, arguments=words),)),
            ),
            tools=(Tool(name=words, description=words),),
            sampling=Sampling(temperature=0.5),
        )
    )
    reply = LLMReply(text=words, tool_calls=(ToolCall(name=words, arguments=words),))
    name, blob = encode_reply(reply)
    store.calls.save(
        run,
        CallRecord(
            number=1,
            step=1,
            purpose="decide",
            llm=words,
            model=words,
            messages=prompt.hash,
            reply=name,
            usage=Usage(prompt_tokens=1200, completion_tokens=34, cached_tokens=56, estimated=True),
            cost=0.0125,
            started=1.0,
            seconds=2.5,
            retries=(Retry(reason=words, waited=1.5),),
            error=words,
        ),
        blobs=[*prompt.blobs, blob],
    )
    first, second = Click(target=RefTarget(ref=1)), Click(target=RefTarget(ref=2))
    for record in (
        Decided(proposal=Proposal(action=first, thought=words), queue=(Press(keys=words),), calls=(1,)),
        Anticipated(remedies=(GoBack(),)),
        Reviewed(origin="person", action=second, proposed=first, thought=words, edited=True, note=words),
        Acted(
            effect="page action",
            outcome="failed",
            message=words,
            box=Box(x=10, y=80, width=120, height=30),
            target=words,
            settled=words,
            events=(BrowserEvent(kind="dialog", text=f"First {words}"),),
            milliseconds={"locate": 2.25, words: 31.0},
        ),
        Aligned(judged=True, aligned=False, sentence=words),
        Committed(seconds=3.0, seconds_in_llm=2.5),
    ):
        store.save_phase(run, 1, record)
    store.save_intervention(
        Intervention(run=run, step=1, kind="edit", who=words, when=2.0, before=words, after=words)
    )
    store.pages.save_event(run, 1, BrowserEvent(kind="dialog", text=f"First {words}"))
    store.pages.save_event(run, 0, BrowserEvent(kind="console", text=f"Early {words}", url=words))
    store.save_log(run, LogLine(time=3.0, source="trace", text=words))
    store.end_run(
        run,
        outcome="error",
        verdict=Verdict(success=False, reward=-0.5, judge="file", reason=words),
        answer=words,
        error=words,
        seconds=75.0,
        seconds_in_llm=2.5,
    )
    return run


@pytest.fixture
def document(store) -> BeautifulSoup:
    return BeautifulSoup(export_html(store, write_talkative_run(store)), "lxml")


def text_of(node) -> str:
    return re.sub(r"\s+", " ", node.get_text(" ")).strip()


def test_the_json_holds_all_that_is_stored(store):
    run = write_talkative_run(store)
    whole = json.loads(export_json(store, run))
    assert (whole["form"], whole["version"]) == ("backstep run", 1)
    assert whole["run"]["task"] == "web/some words"
    assert whole["run"]["verdict"] == {
        "success": False,
        "reward": -0.5,
        "judge": "file",
        "reason": "some words",
    }
    assert whole["run"]["preset_text"] == "some words"
    (step,) = whole["steps"]
    assert step["action"] == "click [2]"
    detail = store.step(run, 1)
    assert [record["phase"] for record in step["records"]] == [record.phase for record in detail.records]
    for stored, record in zip(step["records"], detail.records, strict=True):
        assert type(record).model_validate(stored) == record
    (call,) = whole["calls"]
    assert [message["role"] for message in call["prompt"]["messages"]] == ["system", "user", "assistant"]
    (image,) = call["prompt"]["messages"][1]["images"]
    assert base64.b64decode(image["base64"]) == b"another picture"
    assert call["reply"]["text"] == "some words"
    assert [event["step"] for event in whole["events"]] == [1, 0]
    assert [one["before"] for one in whole["interventions"]] == ["some words"]
    assert [line["text"] for line in whole["log"]] == ["some words"]
    observed = step["records"][0]
    assert base64.b64decode(whole["blobs"][observed["screenshot"]]["base64"]) == PICTURE
    assert whole["blobs"][observed["html"]] == {"media_type": "text/html", "text": HTML.decode()}


def test_the_json_of_a_run_without_steps_is_whole(store):
    whole = json.loads(export_json(store, store.begin_run(start())))
    assert (whole["steps"], whole["calls"], whole["run"]["outcome"]) == ([], [], "running")


def test_the_page_tells_how_the_run_went(document):
    head = text_of(document.header)
    for words in (
        "web/some words",
        "seed 5",
        "✗ no success",
        "ended by a failure",
        "reward -0.5",
        "judged by the file",
        "a person took part",
        "1 min 15 s, 2.5 s of it in the LLM",
        "1 200 + 34",
        "$0.0125",
    ):
        assert words in head


def test_a_step_shows_what_was_seen_thought_done_and_changed(document):
    step = document.find(id="step-1")
    text = text_of(step)
    for words in (
        "Step 1 ◆ person ✗ failed page action",
        "click [2]",
        "◆ changed from click [1]",
        "failed : some words",
        "◆ edit by some words",
        "Observation 2 elements shown of 2 read",
        "Permissible actions 1",
        "LLM call 1",
        "3 messages, temperature 0.5",
        "about 1 200 + 34 tokens (56 cached)",
        "1 retry",
        "Made again after 1.5 s: some words",
        "press [some words]",
        "cannot be undone",
    ):
        assert words in text, words
    assert text.count("First some words") == 1


def test_the_acted_element_is_framed_where_it_was(document):
    shot = document.find(id="step-1").find("div", class_="shot").svg
    assert shot["viewbox"] == "0 0 240 180"
    frame = shot.find("rect", class_="mark")
    assert [float(frame[name]) for name in ("x", "y", "width", "height")] == [8.0, 78.0, 124.0, 34.0]


def test_each_picture_is_in_the_page_once_and_the_film_leads_to_the_steps(store):
    run = store.begin_run(start())
    for number in (1, 2, 3):
        write_step(store, run, number)
    html = export_html(store, run)
    assert html.count(base64.b64encode(PICTURE).decode()) == 1
    document = BeautifulSoup(html, "lxml")
    links = [link["href"] for link in document.nav.find_all("a")]
    assert links == ["#step-1", "#step-2", "#step-3"]
    assert all(document.find(id=link[1:]) for link in links)
    used = {use["href"][1:] for use in document.find_all("use")}
    assert used == {image["id"] for image in document.find_all("image")}


def test_hostile_text_stays_text(store):
    document = BeautifulSoup(export_html(store, write_talkative_run(store, HOSTILE)), "lxml")
    assert len(document.find_all("script")) == 1
    assert len(document.find_all("style")) == 1
    assert document.find_all(["img", "iframe", "object", "link"]) == []
    assert [
        tag.name for tag in document.find_all(lambda tag: any(a.startswith("on") for a in tag.attrs))
    ] == []
    assert HOSTILE in document.find("p", class_="instruction").get_text()
    assert HOSTILE in document.find("p", class_="thought").get_text()
    assert HOSTILE.replace("{{ 7 * 7 }}", "49") not in document.get_text()


def test_the_page_asks_nothing_of_the_network(store):
    html = export_html(store, write_talkative_run(store, "http://127.0.0.1:9/x.png"))
    document = BeautifulSoup(html, "lxml")
    links = [
        tag[name]
        for name in ("src", "href", "action", "data")
        for tag in document.find_all(attrs={name: True})
    ]
    assert links
    assert [link for link in links if not link.startswith(("#", "data:image/"))] == []
    assert not re.search(r"url\(|@import", document.style.string)
    policy = document.find("meta", attrs={"http-equiv": True})["content"]
    assert policy.startswith("default-src 'none'; base-uri 'none'; form-action 'none'; img-src data:;")
    digest = base64.b64encode(hashlib.sha256(document.script.string.encode()).digest()).decode()
    assert f"'sha256-{digest}'" in policy


def test_an_unfinished_step_says_how_far_it_came(store, path):
    run = store.begin_run(start())
    write_step(store, run, 1)
    write_step(store, run, 2, until="decide")
    document = BeautifulSoup(export_html(store, run), "lxml")
    text = text_of(document.find(id="step-2"))
    assert "not finished: decide was the last phase stored" in text
    assert "0 ms in the LLM" not in text


def test_a_run_without_steps_says_so(store):
    assert "The run has no steps." in export_html(store, store.begin_run(start()))


def test_a_step_without_a_picture_says_so(store):
    run = store.begin_run(start())
    store.begin_step(run, 1)
    store.save_phase(run, 1, Observed(observation=page("Save").replace(viewport=(0, 0))))
    document = BeautifulSoup(export_html(store, run), "lxml")
    assert "No picture was taken or kept." in text_of(document.find(id="step-1"))


def test_damage_in_one_step_leaves_the_others_readable(store):
    run = store.begin_run(start())
    for number in (1, 2):
        store.begin_step(run, number)
        for record in records(page(f"Button {number}")):
            store.save_phase(run, number, record, blobs=[(HTML, "text/html"), (PICTURE, "image/webp")])
    store._database.execute("UPDATE phases SET record = 'x' WHERE step = 2 AND phase = 'act'")
    document = BeautifulSoup(export_html(store, run), "lxml")
    assert "Button 1" in text_of(document.find(id="step-1"))
    assert "cannot be read" in text_of(document.find(id="step-2"))
    store._database.execute("UPDATE blobs SET data = x'00' WHERE media_type = 'image/webp'")
    document = BeautifulSoup(export_html(store, run), "lxml")
    assert "is damaged" in text_of(document.find(id="step-1"))
    with pytest.raises(TraceError, match=r"damaged"):
        export_json(store, run)


def test_half_of_a_surrogate_pair_does_not_break_a_file(store, tmp_path):
    run = store.begin_run(start())
    write_step(store, run, 1, observation=page("cut \ud83d"))
    (tmp_path / "run.html").write_text(export_html(store, run), encoding="utf-8")
    (tmp_path / "run.json").write_text(export_json(store, run), encoding="utf-8")
    whole = json.loads((tmp_path / "run.json").read_text(encoding="utf-8"))
    assert whole["steps"][0]["records"][0]["observation"]["elements"][0]["name"] == "cut \ud83d"


@pytest.mark.parametrize("export", [export_json, export_html])
def test_a_run_that_is_not_there_is_refused(store, export):
    write_run(store)
    with pytest.raises(TraceError, match="no run 4"):
        export(store, 4)
