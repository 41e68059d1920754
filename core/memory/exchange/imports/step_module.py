"""SteP's policies as they are published: a Python module whose names are policies. It is parsed and never run.

A policy is a dict, or a call with keywords, that has an instruction and
examples. What cannot be worked out is told with its line, an example of its own.
"""

import ast
from pathlib import Path
from typing import Any

from core.memory.exchange.plain_python import NotPlainError, PlainValues
from core.schema.errors import DataError
from core.trace.imports.records import FileEntry

_MOST_TEXT = 2_000_000
_PARTS = frozenset(("instruction", "examples"))


def read_module(text: str, path: Path) -> tuple[dict[str, Any], tuple[FileEntry, ...]]:
    """Return the policies of a module by name, and what of them cannot be read.

    Raises DataError, with the line, for what is not Python.
    """
    try:
        tree = ast.parse(text)
    except SyntaxError as error:
        raise DataError(
            f"{path}, line {error.lineno}: this is not Python ({error.msg}); save it again."
        ) from error
    except (ValueError, RecursionError, MemoryError) as error:
        raise DataError(f"{path} is not valid Python; save it again.") from error
    reader = _Module()
    for statement in tree.body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                reader.take(name, value)
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                reader.take(name, value)
    return reader.policies, tuple(reader.faulty)


class _Module:
    """Takes assignments, in order."""

    def __init__(self) -> None:
        self.policies: dict[str, Any] = {}
        self.faulty: list[FileEntry] = []
        self._values = PlainValues(_MOST_TEXT)

    def take(self, name: str, node: ast.expr) -> None:
        parts = _parts(node)
        if parts is not None and parts.keys() >= _PARTS:
            self.policies[name] = self._policy(name, parts)
        elif parts is not None and any((_parts(one) or {}).keys() >= _PARTS for one in parts.values()):
            for key, value in parts.items():
                self.take(key, value)
        else:
            # Where a policy needs what cannot be worked out, that is told at the policy.
            self._values.assign(name, node)

    def _policy(self, name: str, parts: dict[str, ast.expr]) -> dict[str, Any]:
        """Return the parts that can be read; examples are read one by one."""
        policy: dict[str, Any] = {}
        for part, node in parts.items():
            if part == "examples" and isinstance(node, (ast.List, ast.Tuple)):
                read = [self._read(f"{name}.examples[{number}]", one) for number, one in enumerate(node.elts)]
                policy[part] = [one for one in read if one is not None]
            elif (value := self._read(f"{name}.{part}", node)) is not None:
                policy[part] = value
        return policy

    def _read(self, position: str, node: ast.expr) -> Any:
        try:
            keywords = _parts(node) if isinstance(node, ast.Call) else None
            if keywords is not None:
                return {name: self._values.of(value) for name, value in keywords.items()}
            return self._values.of(node)
        except NotPlainError as error:
            self.faulty.append(FileEntry(position=position, why=str(error)))
        except RecursionError:
            why = f"line {node.lineno} is nested too deeply"
            self.faulty.append(FileEntry(position=position, why=why))
        return None


def _parts(node: ast.expr) -> dict[str, ast.expr] | None:
    """Return the values of a dict, or of a call with keywords alone, by name."""
    match node:
        case ast.Dict(keys=keys, values=values):
            named = zip(keys, values, strict=True)
            return {
                key.value: value
                for key, value in named
                if isinstance(key, ast.Constant) and isinstance(key.value, str)
            }
        case ast.Call(args=[], keywords=keywords):
            return {one.arg: one.value for one in keywords if one.arg is not None}
    return None
