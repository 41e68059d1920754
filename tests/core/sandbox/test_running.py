import asyncio
import os
import sys
import tempfile
import time
from pathlib import Path

import pytest

from core.sandbox.process import SandboxLimits
from core.sandbox.running import confinement, run_parser

pytestmark = [
    pytest.mark.program,
    pytest.mark.skipif(
        not confinement().is_confined, reason=confinement().reason or "parsers are confined here"
    ),
]

ROOT = Path(__file__).resolve().parents[3]
PATIENT = SandboxLimits(seconds=60)
PAGE = '<html><body><h1>Two &amp; three</h1><a class="x" href="/go?a=1">Go</a></body></html>'

FLIGHTS = 8000
LARGE = "".join(
    f'<div class="flight"><span class="hours">{number % 23}h</span>'
    f'<button data-price="{(number * 7919) % 5003 + 40}">Book</button><a href="/f/{number}">details ✈</a></div>\n'
    for number in range(FLIGHTS)
)
LARGE = f"<html><body>{LARGE}</body></html>"
CHEAPEST = str(min((number * 7919) % 5003 + 40 for number in range(FLIGHTS)))

WITH_SOUP = """
from bs4 import BeautifulSoup

def parse(html):
    soup = BeautifulSoup(html, {builder!r})
    return str(min(int(b["data-price"]) for b in soup.select("div.flight > button")))
"""
GOOD = {
    "Beautiful Soup with html.parser": WITH_SOUP.format(builder="html.parser"),
    "Beautiful Soup with lxml": WITH_SOUP.format(builder="lxml"),
    "lxml": """
import lxml.html
prices = lxml.html.fromstring(state).xpath('//div[@class="flight"]/button/@data-price')
obs = str(min(map(int, prices)))
""",
    "lxml.etree": """
from lxml import etree
from io import StringIO
tree = etree.parse(StringIO(html), etree.HTMLParser())
return min((button.get("data-price") for button in tree.iter("button")), key=int)
""",
    "re": """
import re
def parse(html: str) -> str:
    return str(min(int(price) for price in re.findall(r'data-price="(\\d+)"', html)))
""",
    "html.parser": """
from html.parser import HTMLParser
class Prices(HTMLParser):
    found = []
    def handle_starttag(self, tag, attrs):
        if tag == "button":
            self.found.append(int(dict(attrs)["data-price"]))
Prices().feed(state)
obs = f"{min(Prices.found)}"
""",
}


@pytest.mark.parametrize("name", GOOD)
async def test_a_good_parser_works_on_a_page_of_a_megabyte(name):
    assert len(LARGE.encode()) > 1_000_000
    parsed = await run_parser(GOOD[name], LARGE, limits=PATIENT)
    assert (parsed.text, parsed.error) == (CHEAPEST, "")
    assert parsed.seconds > 0


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("def parse(html): return html[:6]", "<html>"),
        ("def parse(html, task): return task", "the task"),
        ("def parse(task, page): return task + page[:1]", "the task<"),
        ("def parse(html, most=3): return html[:most]", "<ht"),
        ("obs = state[:6]", "<html>"),
        ("obs = f'{task}: {html[:6]}'", "the task: <html>"),
        ("return state[:6]", "<html>"),
        ("if 'Go' in state:\n    return 'go'\nreturn 'stay'", "go"),
        ("def parse(cell): return cell.upper()\nobs = parse('x')", "X"),
        ("def inner():\n    return 'x'\nobs = inner()", "x"),
        ("from bs4 import BeautifulSoup\nobs = BeautifulSoup(state, 'lxml').h1.string", "Two & three"),
    ],
)
async def test_each_form_of_code_is_accepted(code, text):
    parsed = await run_parser(code, PAGE, task="the task", limits=PATIENT)
    assert (parsed.text, parsed.error) == (text, "")


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("x = 1", "neither defines a function parse(html)"),
        ("", "neither defines a function parse(html)"),
        ("obs = 5", "holds a value of type int"),
        ("def parse(html): return ['a']", "returned a value of type list"),
        ("def parse(html): pass", "returned a value of type NoneType"),
        ("def parse(): return 'x'", "has no parameter for the HTML"),
        ("parse = len", "not a function that the code defines"),
        ("def parse(a, b): return 'x'", "missing 1 required positional argument: 'b'"),
        ("obs = ' \\n'", "empty text"),
        ("x = (", "not valid Python: '(' was never closed (line 1)"),
        ("\n\nNone.find('p')", "in line 3: AttributeError: 'NoneType' object has no attribute 'find'"),
        ("import requests", "may not import 'requests'"),
        ("obs = '\\0' if open else ''\nopen('x')", "may not open files"),
    ],
)
async def test_an_error_is_one_sentence_that_says_what_to_mend(code, words):
    parsed = await run_parser(code, PAGE, limits=PATIENT)
    assert parsed.text == ""
    assert words in parsed.error
    assert parsed.error.endswith(".")


@pytest.mark.parametrize(
    "code",
    [
        "from datetime import datetime\nobs = str(datetime.strptime('4 May 2020', '%d %B %Y').date())",
        "import json\ntry: json.loads('{]')\nexcept json.JSONDecodeError: obs = 'bad'",
        "from urllib.parse import urlparse, parse_qs\nobs = str(parse_qs(urlparse('/go?a=1').query))",
        "import urllib.parse\nobs = urllib.parse.unquote('a%20b')",
        "import xml.etree.ElementTree as tree\nobs = tree.fromstring('<a>b</a>').text",
        "import unicodedata\nobs = unicodedata.name('é')",
        "obs = 'straße.example'.encode('idna').decode()",
        "from collections import Counter, namedtuple\nobs = str(namedtuple('P', 'x')(1)) + str(Counter('aa'))",
        "from dataclasses import dataclass\n@dataclass\nclass P:\n    x: int\nobs = str(P(1))",
        "import statistics, difflib, textwrap, decimal\nobs = str(statistics.median([1, 2, 9]))",
        "import warnings\nwarnings.warn('odd')\nobs = 'x'",
        "import random, time\nrandom.seed(1)\ntime.sleep(0)\nobs = str(random.random()) + str(time.time() > 0)",
        "try:\n    import html5lib\nexcept ImportError:\n    obs = 'without'",
        "from __future__ import annotations\nobs = 'x'",
        "print('seen by nobody')\nobs = 'x'",
        "from bs4 import BeautifulSoup\nobs = BeautifulSoup(b'<p>\\xe9</p>', 'lxml').p.text",
    ],
)
async def test_what_a_parser_needs_works_without_files(code):
    parsed = await run_parser(code, PAGE, limits=PATIENT)
    assert parsed.error == ""
    assert parsed.text
    assert "nobody" not in parsed.text


async def test_text_goes_in_and_comes_out_unchanged():
    text = "é ✈ 😀 \0 \r\n \u2028 \ufeff \x1b[0m T E F R\n"
    assert (await run_parser("obs = state", text, limits=PATIENT)).text == text


async def test_half_a_character_of_a_page_does_not_break_the_run():
    assert (await run_parser("obs = str(len(state)) + state", "a\ud83d", limits=PATIENT)).text == "2a?"


async def test_as_much_text_as_allowed_comes_out():
    limits = SandboxLimits(seconds=60, output=300_000)
    parsed = await run_parser("obs = 'x' * 300_000", "", limits=limits)
    assert len(parsed.text) == 300_000
    assert (await run_parser("obs = 'x' * 300_001", "", limits=limits)).error


async def test_runs_at_the_same_time_do_not_mix():
    runs = (run_parser("obs = state * 1000", str(number), limits=PATIENT) for number in range(6))
    assert [parsed.text for parsed in await asyncio.gather(*runs)] == [str(n) * 1000 for n in range(6)]


async def test_a_run_leaves_nothing_to_the_next():
    await run_parser("import re\nre.left = 'behind'\nobs = 'x'", "", limits=PATIENT)
    assert "AttributeError" in (await run_parser("import re\nobs = re.left", "", limits=PATIENT)).error


def children_of(process: int) -> list[int]:
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == process:
            found.append(int(path.parent.name))
    return sorted(found)


async def until(condition) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, "it did not come to be"
        await asyncio.sleep(0.02)


def is_confined(process: int) -> bool:
    try:
        return "\nSeccomp:\t2" in Path(f"/proc/{process}/status").read_text()
    except OSError:
        return False


async def test_a_cancelled_run_has_ended_when_the_cancellation_is_through():
    before = set(children_of(os.getpid()))
    run = asyncio.create_task(run_parser("while True: pass", "", limits=PATIENT))
    await until(lambda: any(map(is_confined, set(children_of(os.getpid())) - before)))
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    assert set(children_of(os.getpid())) <= before


async def test_a_run_cancelled_at_once_leaves_no_process():
    before = set(children_of(os.getpid()))
    run = asyncio.create_task(run_parser("while True: pass", "", limits=PATIENT))
    await asyncio.sleep(0)
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    assert set(children_of(os.getpid())) <= before


async def test_runs_leave_no_descriptors_processes_or_folders_behind(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    await run_parser("obs = 'x'", "")
    descriptors, children = set(os.listdir("/proc/self/fd")), children_of(os.getpid())
    for code in ("obs = 'x'", "while True: pass", "1 / 0", "obs = 'x' * 10**6", "x = ("):
        await run_parser(code, LARGE, limits=SandboxLimits(seconds=0.2))
    assert len(os.listdir("/proc/self/fd")) <= len(descriptors)
    assert children_of(os.getpid()) == children
    assert list(tmp_path.iterdir()) == []


_PARENT = """
import asyncio
from core.sandbox.process import SandboxLimits
from core.sandbox.running import run_parser
asyncio.run(run_parser("while True: pass", "", limits=SandboxLimits(seconds=600)))
"""


async def test_a_parser_dies_with_the_program_that_started_it_and_leaves_no_folder(tmp_path):
    parent = await asyncio.create_subprocess_exec(
        sys.executable, "-c", _PARENT, cwd=ROOT, env={**os.environ, "TMPDIR": str(tmp_path)}
    )
    try:
        # The trial of the confinement comes first and ends by itself.
        await until(
            lambda: any(is_confined(child) and _cpu_ticks(child) > 60 for child in children_of(parent.pid))
        )
        parsers = children_of(parent.pid)
    finally:
        parent.kill()
        await parent.wait()
    await until(lambda: not any(map(_is_running, parsers)))
    assert list(tmp_path.iterdir()) == []


def _cpu_ticks(process: int) -> int:
    try:
        return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[11])
    except OSError:
        return 0


def _is_running(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False
