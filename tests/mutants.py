"""Changes the program's lines one at a time, and prints which changes no test notices.

    python -m tests.mutants                       # lines changed since the last commit
    python -m tests.mutants --since main~3        # lines changed since then
    python -m tests.mutants core/agent/loop.py    # all lines of these files
    python -m tests.mutants --tests tests/core/agent --most 40

All mutants of a file are compiled into it, each behind a switch, and one of them is switched on by a variable of the
environment (mutant schemata: R. H. Untch, A. J. Offutt, M. J. Harrold, "Mutation Analysis Using Mutant Schemata",
ISSTA 1993). A first run, with all of them off, notes which tests come to which switch; each mutant is then tried with
these tests only. It ends with 1 where one survives. As a plugin of pytest (``-p tests.mutants``) this module loads the
changed files.
"""

import argparse
import ast
import builtins
import collections
import importlib.abc
import importlib.machinery
import importlib.util
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, NamedTuple

import pytest

ROOT = Path(__file__).parents[1]
_LINES = "BACKSTEP_MUTANTS"
"""JSON: which lines of which files have mutants."""
_SWITCHED_ON = "BACKSTEP_MUTANT"
_REACHED = "BACKSTEP_MUTANTS_REACHED"
"""The file to which the first run writes which tests come to which mutant."""
_SWITCH = "__mutant__"
_LEAST_SECONDS = 60.0
_MOST_TESTS = 25
"""So many of the tests that come to a mutant are run, the quickest to name it first."""
_NOT_RUN = (pytest.ExitCode.USAGE_ERROR, pytest.ExitCode.NO_TESTS_COLLECTED)
_COMPARED: Mapping[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
_COMPUTED: Mapping[type[ast.operator], type[ast.operator]] = {ast.Add: ast.Sub, ast.Sub: ast.Add}
Lines = Mapping[str, list[int]]
"""The lines that have mutants, by the file's path from the root."""


class Mutant(NamedTuple):
    """One changed place."""

    path: str
    line: int
    before: str
    after: str


class _Changer(ast.NodeTransformer):
    """Puts each place of a file that can be changed behind a switch."""

    def __init__(self, path: str, lines: Sequence[int], first: int) -> None:
        self._path = path
        self._lines = frozenset(lines)
        self._first = first
        self.mutants: list[Mutant] = []

    def visit(self, node: ast.AST) -> Any:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            node.body = [self.visit(part) for part in node.body]  # Neither annotations nor decorators.
            return node
        if isinstance(node, ast.AnnAssign):
            node.value = self.visit(node.value) if node.value is not None else None
            return node
        if isinstance(node, ast.match_case):
            node.guard = self.visit(node.guard) if node.guard is not None else None
            node.body = [self.visit(part) for part in node.body]
            return node
        if isinstance(node, (ast.JoinedStr, ast.Lambda, ast.Import, ast.ImportFrom)):
            return node
        changed = self._changed(node) if getattr(node, "lineno", 0) in self._lines else None
        before = ast.unparse(node) if changed is not None else ""
        whole: Any = self.generic_visit(node)
        if changed is None:
            return whole
        if isinstance(whole, (ast.Expr, ast.Return)):
            whole.value = self._switch(whole.value, changed, before, whole.lineno)
            return whole
        return self._switch(whole, changed, before, whole.lineno)

    def _changed(self, node: ast.AST) -> ast.expr | None:
        """Return another expression in place of this one, or of its value; None if it stays."""
        match node:
            case ast.Compare(left, [operator], rights) if type(operator) in _COMPARED:
                return ast.Compare(left, [_COMPARED[type(operator)]()], rights)
            case ast.BoolOp(ast.And(), values):
                return ast.BoolOp(ast.Or(), values)
            case ast.BoolOp(_, values):
                return ast.BoolOp(ast.And(), values)
            case ast.UnaryOp(ast.Not(), operand):
                return operand
            case ast.BinOp(left, operator, right) if type(operator) in _COMPUTED:
                return ast.BinOp(left, _COMPUTED[type(operator)](), right)
            case ast.Constant(bool(value)):
                return ast.Constant(not value)
            case ast.Constant(int(value)):
                return ast.Constant(value + 1)
            case ast.Expr(ast.Call() | ast.Await()):
                return ast.Constant(None)
            case ast.Return(value) if value is not None and not isinstance(value, ast.Constant):
                return ast.Constant(None)
        return None

    def _switch(self, original: Any, changed: ast.expr, before: str, line: int) -> ast.IfExp:
        self.mutants.append(Mutant(self._path, line, before, ast.unparse(changed)))
        number = ast.Constant(self._first + len(self.mutants) - 1)
        asked = ast.Call(ast.Name(_SWITCH, ast.Load()), [number], [])
        return ast.IfExp(asked, changed, original)


def compile_mutants(path: str, lines: Sequence[int], first: int) -> tuple[CodeType, list[Mutant]]:
    """Compile a file with its mutants, which are numbered from `first`."""
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    changer = _Changer(path, lines, first)
    changed = ast.Module([changer.visit(part) for part in tree.body], [])
    return compile(ast.fix_missing_locations(changed), str(ROOT / path), "exec"), changer.mutants


def mutants_of(lines: Lines) -> list[Mutant]:
    mutants: list[Mutant] = []
    for path in sorted(lines):
        mutants += compile_mutants(path, lines[path], len(mutants))[1]
    return mutants


# In the process of the tests


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Loads the files that have mutants."""

    def __init__(self, lines: Lines) -> None:
        self._code: dict[str, tuple[CodeType, str]] = {}
        count = 0
        for path in sorted(lines):
            code, mutants = compile_mutants(path, lines[path], count)
            count += len(mutants)
            name = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
            self._code[name] = code, path

    def find_spec(
        self, fullname: str, path: object, target: object = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname not in self._code:
            return None
        place = ROOT / self._code[fullname][1]
        is_package = place.name == "__init__.py"
        spec = importlib.util.spec_from_loader(fullname, self, origin=str(place), is_package=is_package)
        if spec is not None:
            spec.has_location = True
            if is_package:
                spec.submodule_search_locations = [str(place.parent)]
        return spec

    def exec_module(self, module: ModuleType) -> None:
        exec(self._code[module.__name__][0], module.__dict__)


def _install() -> None:
    on = int(os.environ.get(_SWITCHED_ON, "-1"))
    reached: dict[int, dict[str, None]] = collections.defaultdict(dict)

    def note(number: int) -> bool:
        test = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" (")[0]
        if test:
            reached[number][test] = None
        return False

    setattr(builtins, _SWITCH, note if on < 0 else on.__eq__)
    sys.meta_path.insert(0, _Finder(json.loads(os.environ[_LINES])))
    if place := os.environ.get(_REACHED):
        global pytest_sessionfinish

        def pytest_sessionfinish() -> None:
            Path(place).write_text(json.dumps({number: list(tests) for number, tests in reached.items()}))


if _LINES in os.environ and __name__ != "__main__":
    _install()


# The command


def lines_since(revision: str) -> dict[str, list[int]]:
    """Return the lines of the program that are other than at a revision."""
    command = ["git", "diff", "--unified=0", "--no-color", revision, "--", "core", "gui"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    lines: dict[str, list[int]] = {}
    path = ""
    for line in done.stdout.splitlines():
        if line.startswith("+++ "):
            path = line.removeprefix("+++ b/")
        elif (hunk := re.match(r"@@ -\S+ \+(\d+)(?:,(\d+))? @@", line)) and path.endswith(".py"):
            start, count = int(hunk[1]), int(hunk[2] or 1)
            lines.setdefault(path, []).extend(range(start, start + count))
    return lines


def lines_in(paths: Sequence[str]) -> dict[str, list[int]]:
    """Return all lines of files."""
    places = [(ROOT / path).resolve() for path in paths]
    return {
        str(place.relative_to(ROOT)): list(range(1, place.read_text(encoding="utf-8").count("\n") + 2))
        for place in places
    }


def tests_of(lines: Lines) -> list[str]:
    """Return the tests that mirror the files: the file of tests, else the nearest folder of tests."""

    def places(path: str) -> Iterator[Path]:
        place = ROOT / "tests" / path
        yield place.with_name(f"test_{place.name}")
        yield from place.parents

    nearest = (next(place for place in places(path) if place.exists()) for path in lines)
    return sorted({str(place.relative_to(ROOT)) for place in nearest})


def _pytest(tests: Sequence[str], environment: Mapping[str, str], seconds: float | None = None) -> int:
    """Run tests; return pytest's code, and 1 where they take longer than `seconds`."""
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-x",
        "-p",
        "tests.mutants",
        "-p",
        "no:cacheprovider",
        *tests,
    ]
    silent = subprocess.DEVNULL
    try:
        done = subprocess.run(
            command,
            cwd=ROOT,
            env={**os.environ, **environment},
            stdout=silent,
            stderr=silent,
            timeout=seconds,
        )
    except subprocess.TimeoutExpired:
        return 1
    return done.returncode


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__.partition("\n")[0])
    parser.add_argument("files", nargs="*", help="files of core or gui, in place of changed lines")
    parser.add_argument("--since", default="HEAD", help="lines changed since this revision")
    parser.add_argument("--tests", nargs="+", help="in place of the tests that mirror the files")
    parser.add_argument(
        "--most", type=int, default=20, help="try so many, chosen by chance but always the same"
    )
    asked = parser.parse_args(words)
    lines = lines_in(asked.files) if asked.files else lines_since(asked.since)
    mutants = mutants_of(lines)
    if not mutants:
        print("There is nothing to change in these lines.")
        return 0
    tests = asked.tests or tests_of(lines)
    environment = {_LINES: json.dumps(lines)}
    print(f"{len(mutants)} mutants. First run of {' '.join(tests)}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        noted = Path(folder) / "reached.json"
        began = time.monotonic()
        if _pytest(tests, {**environment, _REACHED: str(noted)}) != 0:
            print("These tests fail, or there are none: nothing can be said of mutants.", file=sys.stderr)
            return 2
        took = time.monotonic() - began
        reached = {int(number): names for number, names in json.loads(noted.read_text()).items()}
    chosen = sorted(random.Random(0).sample(range(len(mutants)), min(asked.most, len(mutants))))
    survivors = 0
    for number in chosen:
        mutant, comes_to_it = mutants[number], reached.get(number, [])
        limit = max(_LEAST_SECONDS, 3 * took)
        on = {**environment, _SWITCHED_ON: str(number)}
        code = _pytest(comes_to_it[:_MOST_TESTS], on, limit) if comes_to_it else 0
        if code not in (0, *_NOT_RUN):
            continue
        survivors += 1
        why = "" if comes_to_it else "   (no test comes to it)"
        why = "   (not tried: pytest could not select its tests)" if code in _NOT_RUN else why
        print(f"{mutant.path}:{mutant.line}: {mutant.before}  ->  {mutant.after}{why}", flush=True)
    print(f"{len(chosen) - survivors} of {len(chosen)} killed")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
