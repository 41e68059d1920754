"""What is said of a program that has failed, from what Python, Node and their libraries really write."""

import asyncio
import os
import re
import shutil
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.attach.last_words import last_words
from core.attach.program import AgentProgram

pytestmark = pytest.mark.program

PYTHON = {
    "a library's error": (
        "import json\ndef read():\n    json.loads('[')\nread()",
        "json.decoder.JSONDecodeError: Expecting value: line 1 column 2 (char 1) (agent.py, line 3)",
    ),
    "an error from another": (
        "try:\n    1 / 0\nexcept ZeroDivisionError as error:\n    raise RuntimeError('no tea') from error",
        "RuntimeError: no tea (agent.py, line 4)",
    ),
    "an error while one was handled": (
        "try:\n    1 / 0\nexcept ZeroDivisionError:\n    {}['tea']",
        "KeyError: 'tea' (agent.py, line 4)",
    ),
    "a group": (
        "def fail():\n    raise ValueError('no tea')\ntry:\n    fail()\nexcept ValueError as error:\n"
        "    raise ExceptionGroup('both', [error, TypeError('no cup')])",
        "ExceptionGroup: both (2 sub-exceptions) (agent.py, line 6): ValueError: no tea (agent.py, line 2); "
        "TypeError: no cup",
    ),
    "a bracket that is not closed": (
        "cup = 1\nprint(cup\ntea = 2",
        "SyntaxError: '(' was never closed (agent.py, line 2) · print(cup",
    ),
    "a line that is not indented": (
        "def brew():\nprint(1)",
        "IndentationError: expected an indented block after function definition on line 1 (agent.py, line 2)"
        " · print(1)",
    ),
    "an error without words": (
        "class NoTea(Exception): pass\nraise NoTea",
        "NoTea (agent.py, line 2)",
    ),
    "an error of several lines": (
        "raise TimeoutError('Timeout exceeded.\\nCall log:\\n  - waiting for the tea\\n')",
        "TimeoutError: Timeout exceeded. (agent.py, line 1) · waiting for the tea",
    ),
    "a deep recursion": (
        "def f():\n    f()\nf()",
        "RecursionError: maximum recursion depth exceeded (agent.py, line 2)",
    ),
    "output after the error": (
        "import atexit\natexit.register(print, 'bye')\nraise KeyError('tea')",
        "KeyError: 'tea' (agent.py, line 3) · bye",
    ),
    "an error that is ignored at the end": (
        "class Cup:\n    def __del__(self):\n        raise OSError('broken')\ncup = Cup()\ncup.me = None\n"
        "raise ValueError('no tea')",
        "ValueError: no tea (agent.py, line 6)",
    ),
    "an error that was only logged, long before": (
        "import logging, sys\ntry:\n    1 / 0\nexcept ZeroDivisionError:\n    logging.exception('failed')\n"
        "for at in range(20):\n    print('try', at)\nsys.exit('no tea')",
        "try 18 · try 19 · no tea",
    ),
    "a frame around the error": (
        "from rich.traceback import install\ninstall()\nimport json\njson.loads('[')",
        "JSONDecodeError: Expecting value: line 1 column 2 (char 1) (agent.py, line 4)",
    ),
    "a frame and colours": (
        "from rich.console import Console\nimport sys\ntry:\n    1 / 0\nexcept ZeroDivisionError:\n"
        "    Console(force_terminal=True).print_exception(show_locals=True)\n    sys.exit(3)",
        "ZeroDivisionError: division by zero (agent.py, line 4)",
    ),
    "a wrong option": (
        "import typer\ndef main(): ...\ntyper.run(main)",
        "No such option: --no-tea",
    ),
    "decoration": (
        "import sys\nprint('one')\nsys.exit('=' * 20 + '\\n\\n== two ==\\n' + '-' * 9)",
        "one · two",
    ),
}
NODE = {
    "an error": (
        "function brew() {\n  throw new Error('no tea');\n}\nbrew();",
        "Error: no tea (agent.mjs, line 2)",
    ),
    "a promise that failed": (
        "async function brew() {\n  throw new TypeError('no tea');\n}\nbrew();",
        "TypeError: no tea (agent.mjs, line 2)",
    ),
    "an error of the system": (
        "import { readFile } from 'node:fs/promises';\nawait readFile('/no/tea');",
        "Error: ENOENT: no such file or directory, open '/no/tea' (agent.mjs, line 2)",
    ),
    "an error with a cause": (
        "try {\n  JSON.parse('');\n} catch (error) {\n  throw new Error('no tea', { cause: error });\n}",
        "Error: no tea (agent.mjs, line 4) · cause: SyntaxError: Unexpected end of JSON input",
    ),
    "an error of its own kind": (
        "class NoTea extends Error { name = 'NoTea'; }\nthrow new NoTea('none left');",
        "NoTea: none left (agent.mjs, line 2)",
    ),
    "several errors": (
        "await Promise.any([Promise.reject(new Error('one'))]);",
        "AggregateError: All promises were rejected (agent.mjs, line 1)",
    ),
    "an error that is written": (
        "async function main() { throw new Error('no tea'); }\n"
        "main().catch(error => { console.error(error); process.exit(1); });",
        "Error: no tea (agent.mjs, line 1)",
    ),
    "a syntax error": (
        "let cup = 1;\nlet tea = ;",
        "SyntaxError: Unexpected token ';' (agent.mjs, line 2) · let tea = ;",
    ),
    "a text that is thrown": ("throw 'no tea';", "no tea"),
}


def said_of(folder: Path, *command: str) -> str:
    """Return the last output that is told of a program."""
    program = AgentProgram(command, {**os.environ, "COLUMNS": "90"}, folder)

    async def whole() -> str:
        await program.start()
        return await program.followed(lambda line: None)

    return asyncio.run(whole()).partition(" Its last output: ")[2]


@pytest.mark.parametrize(("code", "said"), PYTHON.values(), ids=PYTHON)
def test_an_error_of_python_is_told_with_its_place(tmp_path, code, said):
    (tmp_path / "agent.py").write_text(code, encoding="utf-8")
    assert said_of(tmp_path, sys.executable, "agent.py", "--no-tea").endswith(said)


@pytest.mark.parametrize("length", [30, 50, 52, 53, 60, 80, 120, 200])
def test_the_place_of_an_error_is_told_where_a_frame_breaks_its_path(tmp_path, length):
    folder = tmp_path / "a" / ("d" * length)
    folder.mkdir(parents=True)
    (folder / "agent.py").write_text(PYTHON["a frame around the error"][0], encoding="utf-8")
    said = said_of(tmp_path, sys.executable, f"a/{'d' * length}/agent.py", "--no-tea")
    assert re.search(r"\(\S*agent\.py, line 4\)$", said)


@pytest.mark.skipif(shutil.which("node") is None, reason="there is no Node")
@pytest.mark.parametrize(("code", "said"), NODE.values(), ids=NODE)
def test_an_error_of_node_is_told_with_its_place(tmp_path, code, said):
    (tmp_path / "agent.mjs").write_text(code, encoding="utf-8")
    assert said_of(tmp_path, "node", "agent.mjs") == said


@pytest.mark.skipif(shutil.which("node") is None, reason="there is no Node")
def test_a_promise_that_failed_with_a_text_says_which(tmp_path):
    said = said_of(tmp_path, "node", "-e", "Promise.reject('no tea')")
    assert said.startswith("UnhandledPromiseRejection: ")
    assert said.endswith('with the reason "no tea".')


PIECES = st.sampled_from(
    [
        "Traceback (most recent call last):",
        '  File "a.py", line 3, in f',
        "ValueError: no",
        "    at f (a.js:1:2)",
        "a.js:3",
        "  ^",
        "Node.js v20",
        "  | x",
        "  + Exception Group Traceback",
        "╰──╯",
        "│ a.py:3 in f │",
        "",
    ]
)


@given(st.lists(PIECES | st.text()))
def test_any_output_is_told_in_one_line(lines):
    one_line = [" ".join(line.split()) if "\n" in line or "\r" in line else line for line in lines]
    assert "\n" not in last_words(one_line, Path("/agent"))
