"""Runs that are made up, for benchmarks of a database of many runs.

The pages have the size of MiniWoB++ pages, and their pictures are random bytes of the size such pictures have, so
nothing is gained by compressing them.
"""

import json
import random
import statistics
import time
from collections.abc import Callable

from core.schema.action import Click, RefTarget
from core.schema.action_space import Choice, Parameter, Permissible, PermissibleAction
from core.schema.messages import LLMReply, LLMRequest, Message, Tool, ToolCall, Usage
from core.schema.observation import Box, CleanObservation, Element, Observation, PageFrame, Tab
from core.schema.step import (
    Abstracted,
    Acted,
    Aligned,
    Anticipated,
    CallRecord,
    Committed,
    Decided,
    Observed,
    PhaseRecord,
    Proposal,
    Recalled,
    Recognised,
    Reviewed,
)
from core.schema.task import Verdict
from core.trace.blobs import hash_of
from core.trace.encoding import encode_prompt, encode_reply
from core.trace.records import RunStart
from core.trace.store import TraceStore

VOCABULARY = """
    flight hotel from to date search book cheapest shortest email inbox reply forward delete star message
    button submit cancel next previous Oslo Bergen Paris Lyon morning evening window aisle order user name
    password total item row column green red blue circle square large small
"""
TASKS = ("book-flight", "email-inbox", "click-test-2", "social-media")
SYSTEM = (
    "You work on a task in a web page, one action at a time. You are shown the objective, what was done "
    "so far, and the page as lines: a number in brackets, a role, a name and states. Answer with a short "
    "reason and one call of a tool. Use only elements that are listed. When the task is done, stop, and "
    "give the answer if one was asked for. "
) * 3
PICTURE = 6000
"""Bytes of a picture of a MiniWoB++ page as WebP."""


class Author:
    """Makes up runs that look like runs."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self._vocabulary = VOCABULARY.split()

    def words(self, count: int) -> str:
        return " ".join(self.random.choices(self._vocabulary, k=count))

    def start(self, number: int) -> RunStart:
        return RunStart(
            task=f"miniwob/{self.random.choice(TASKS)}",
            environment="miniwob",
            seed=number,
            instruction=self.words(14),
            start_url="http://127.0.0.1:41000/miniwob/book-flight.html",
            preset="plain",
            preset_text="title = 'Plain'\n" * 20,
            llm="rules",
            browser="embedded",
        )

    def page(self, elements: int) -> Observation:
        made = []
        for ref in range(1, elements + 1):
            role = self.random.choice(("button", "link", "text", "text", "textbox", "checkbox"))
            made.append(
                Element(
                    ref=ref,
                    role=role,
                    name=self.words(self.random.randint(1, 5)),
                    states=("disabled",) if self.random.random() < 0.1 else (),
                    uses=() if role == "text" else ("type",) if role == "textbox" else ("click",),
                    depth=self.random.randint(0, 4),
                    parent=None if ref == 1 else self.random.randint(1, ref - 1),
                    box=Box(
                        x=self.random.randint(0, 150) + 0.5,
                        y=self.random.randint(0, 2000) / 8,
                        width=self.random.randint(10, 150),
                        height=18.4,
                    ),
                    tag="div",
                )
            )
        url = "http://127.0.0.1:41000/miniwob/book-flight.html"
        return Observation(
            url=url,
            title="Book Flight Task",
            elements=tuple(made),
            frames=(PageFrame(id="main", url=url),),
            tabs=(Tab(index=0, title="Book Flight Task", url=url, current=True),),
            viewport=(1000, 720),
            document="1",
        )

    def html(self, page: Observation) -> bytes:
        head = "<html><head><title>Book Flight Task</title>" + "<script src='../core/core.js'></script>" * 12
        body = "".join(
            f'<{e.tag} id="e{e.ref}" class="row ui-{e.role} {self.words(1)}" style="top:{e.box.y}px">'
            f"{e.name}</{e.tag}>"
            for e in page.elements
        )
        return f"{head}</head><body>{body}</body></html>".encode()

    def request(self, page: Observation, permissible: Permissible, history: list[str]) -> LLMRequest:
        user = f"OBJECTIVE: {self.words(14)}\nSO FAR:\n" + "\n".join(history) + "\nPAGE:\n" + page.lines()
        return LLMRequest(
            purpose="decide",
            messages=(Message(role="system", text=SYSTEM), Message(role="user", text=user)),
            tools=tuple(
                Tool(name=action.name, description=action.description, parameters=action.json_schema())
                for action in permissible.actions
            ),
            tool_choice="required",
        )


def permissible_on(page: Observation) -> Permissible:
    usable = [element for element in page.elements if element.usable]

    def action(name: str, targets: list[Element], *others: str) -> PermissibleAction:
        choices = tuple(Choice(value=str(e.ref), label=f'{e.role} "{e.name}"') for e in targets)
        target = Parameter(name="target", type="integer", choices=choices)
        return PermissibleAction(
            name=name,
            description=f"The action {name}, on one of its targets.",
            parameters=(target, *(Parameter(name=other) for other in others)),
        )

    plain = ("press", "scroll", "goto", "go_back", "wait", "note", "stop")
    return Permissible(
        actions=(
            action("click", usable),
            action("hover", usable),
            action("type", [e for e in usable if "type" in e.uses], "text"),
            *(PermissibleAction(name=name, description=f"The action {name}.") for name in plain),
        )
    )


def write_step(
    store: TraceStore, author: Author, run: int, number: int, page: Observation, history: list[str]
) -> list[float]:
    """Write one step as a run does; returns the seconds of each transaction that sealing the step took."""
    seconds: list[float] = []

    def save(record: PhaseRecord, blobs: tuple[tuple[bytes, str], ...] = ()) -> None:
        began = time.perf_counter()
        store.save_phase(run, number, record, blobs=blobs)
        seconds.append(time.perf_counter() - began)

    began = time.perf_counter()
    store.begin_step(run, number)
    seconds.append(time.perf_counter() - began)
    html, picture = author.html(page), author.random.randbytes(PICTURE)
    save(
        Observed(observation=page, html=hash_of(html), screenshot=hash_of(picture)),
        ((html, "text/html"), (picture, "image/webp")),
    )
    permissible = permissible_on(page)
    save(Recognised(space="general", state="form", why="It has fields.", permissible=permissible))
    save(Recalled())
    clean = CleanObservation(url=page.url, title=page.title, elements=page.elements, text=page.lines())
    save(Abstracted(clean=clean, tokens=800))
    thought = author.words(25)
    target = author.random.choice([element for element in page.elements if element.usable])
    action = Click(target=RefTarget(ref=target.ref))
    prompt = encode_prompt(author.request(page, permissible, history))
    reply = LLMReply(
        text=thought,
        tool_calls=(ToolCall(id="call_1", name="click", arguments=json.dumps({"target": target.ref})),),
        usage=Usage(prompt_tokens=1800, completion_tokens=60),
        seconds=0.8,
    )
    call = CallRecord(
        number=number, step=number, purpose="decide", llm="rules", messages=prompt.hash, started=1.7e9
    )
    name, blob = encode_reply(reply)
    ended = call.replace(reply=name, usage=reply.usage, cost=0.004, seconds=0.8)
    began = time.perf_counter()
    store.calls.save(run, call, blobs=prompt.blobs)
    store.calls.save(run, ended, blobs=(blob,))
    seconds.append(time.perf_counter() - began)
    save(Decided(proposal=Proposal(action=action, thought=thought), calls=(number,)))
    save(Anticipated())
    save(Reviewed(origin="agent", action=action, thought=thought))
    save(
        Acted(
            effect="page action",
            outcome="done",
            box=target.box,
            target=f'{target.role} "{target.name}"',
            settled="quiet",
            milliseconds={"locate": 2.1, "act": 12.5, "settle": 31.0, "observe": 11.9},
        )
    )
    save(Aligned())
    save(Committed(seconds=0.9, seconds_in_llm=0.8))
    history.append(f"{number}. {thought} {action} -> done")
    return seconds


def fill(store: TraceStore, author: Author, runs: int, steps: int) -> list[float]:
    """Write the runs; returns the seconds that all the transactions of each step took together."""
    took: list[float] = []
    for number in range(runs):
        run = store.begin_run(author.start(number))
        history: list[str] = []
        for step in range(1, steps + 1):
            page = author.page(author.random.randint(12, 46))
            took.append(sum(write_step(store, author, run, step, page, history)))
        store.end_run(
            run,
            outcome="done",
            verdict=Verdict(success=bool(number % 3), reward=1.0, judge="page"),
            answer=author.words(3),
            seconds=30.0,
            seconds_in_llm=24.0,
        )
    return took


def median(times: int, work: Callable[[], object]) -> float:
    """Return the median of so many runs of `work`, in milliseconds."""
    took: list[float] = []
    for _ in range(times):
        began = time.perf_counter()
        work()
        took.append((time.perf_counter() - began) * 1000)
    return statistics.median(took)
