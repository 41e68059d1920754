"""Prompt templates: Jinja files of the installation or, before them, of the user; read again when edited."""

import re
import time
from collections.abc import Callable, Generator, Iterable
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Any, cast

from jinja2 import (
    Environment,
    FileSystemLoader,
    StrictUndefined,
    Template,
    TemplateError,
    TemplateNotFound,
    nodes,
)
from jinja2.exceptions import TemplateSyntaxError
from jinja2.loaders import split_template_path
from jinja2.meta import find_undeclared_variables
from jinja2.runtime import Context
from jinja2.sandbox import ImmutableSandboxedEnvironment

from core.schema.action_space import PermissibleAction
from core.schema.action_text import bracketed, usage
from core.schema.errors import DataError
from core.settings.user_file import MOST_TOLD, near, read_text
from core.storage.resources import RESOURCES

PROMPTS = RESOURCES / "prompts"

UNSAID: dict[str, Any] = {
    "secrets": (),
    "first": True,
    "results": (),
    "exemplars": (),
    "action": "",
    "target": "",
    "result": "",
    "before": None,
    "changed": True,
    "count": 0,
    "unwanted": (),
    "wanted": "",
    "candidates": (),
    "thought": "",
    "raw": "",
    "pairs": (),
    "mistakes": (),
    "read": (),
    "at_budget": False,
    "decided": False,
}
"""What only some templates are given, as the others see it."""
VALUES = (
    *"task objective assignment page tabs history notes permissible left_out reply_format several".split(),
    *"space state budget_note instruction layout shown frame plan experience failed".split(),
    *UNSAID,
)
"""What a template may use, besides the functions ``usage`` and ``written``."""


_PLAIN = frozenset(
    "click double_click right_click hover scroll goto go_back go_forward new_tab close_tab wait"
    " select_text".split()
)
_MAX_CHARACTERS = 2_000_000
"""More than any LLM reads: a text or list as long as this comes of a mistake."""
_MAX_BITS = 4096
"""Of a power of whole numbers."""
_MAX_SECONDS = 2.0
"""Of the processor's time for one template; bundled ones take milliseconds."""
_WRONG = (
    TemplateError,
    ArithmeticError,
    AttributeError,
    LookupError,
    MemoryError,
    RecursionError,
    SyntaxError,
    TypeError,
    ValueError,
)
"""What a template that is wrong may raise; SyntaxError is of the Python it is compiled to."""
_GAPS = re.compile(r"\n[ \t]*\n(?:[ \t]*\n)+")
"""More than one empty line, which parts of templates that say nothing leave."""


def written(action: PermissibleAction) -> str:
    """Return how a permissible action is written, with what it takes here, such as ``select_item [item_id]``."""
    if action.origin == "page":
        return usage(action.name, [parameter.name for parameter in action.parameters] or None)
    return " ".join(
        [action.name, *(bracketed(parameter.name, parameter.required) for parameter in action.parameters)]
    )


def is_plain(action: PermissibleAction) -> bool:
    """Return whether the name of a permissible action says all of what it does."""
    return action.origin == "page" and action.name in _PLAIN


class Prompts:
    """Renders templates by their path in the prompts folders; earlier folders win."""

    def __init__(self, folders: Iterable[Path] = (PROMPTS,)) -> None:
        self._loader = _Loader([str(folder) for folder in folders])
        self._environment: Environment = _Sandbox(
            loader=self._loader,
            undefined=StrictUndefined,
            autoescape=False,
            trim_blocks=False,
            keep_trailing_newline=False,
        )
        self._environment.globals["usage"] = usage
        self._environment.globals["written"] = written
        self._environment.tests["plain"] = is_plain
        self._checked: dict[str, str] = {}

    def names(self) -> tuple[str, ...]:
        """Return the templates there are, by path."""
        return tuple(self._loader.list_templates())

    def is_bundled(self, name: str) -> bool:
        """Return whether the template of this name is that of the installation."""
        return Path(self._load(name)[1]).is_relative_to(PROMPTS)

    def check(self, name: str) -> None:
        """Raise DataError, with file, line and nearest valid name, for what can be found before rendering."""
        source, filename, _ = self._load(name)
        if self._checked.get(filename) == source:
            return
        try:
            tree = self._environment.parse(source, name, filename)
            used_names = find_undeclared_variables(tree)
        except TemplateSyntaxError as error:
            raise DataError(f"{filename}, line {error.lineno}: {error.message}") from error
        except RecursionError as error:
            raise DataError(f"{filename}: {_plain(error)}") from error
        unknown = used_names - {*VALUES, *self._environment.globals}
        wrong_names = (
            (used.lineno, f'there is no value "{used.name}"; {near(used.name, VALUES)}')
            for used in tree.find_all(nodes.Name)
            if used.ctx == "load" and used.name in unknown
        )
        if problems := tuple(islice(wrong_names, MOST_TOLD)):
            wrong = DataError(f"{filename}, line {problems[0][0]}: {problems[0][1]}")
            wrong.problems = problems
            raise wrong
        self._checked[filename] = source

    def render(self, name: str, **values: Any) -> str:
        """Return the text of a template.

        Raises DataError with file and line, even if it calls itself without
        end, or its text takes too long or grows beyond what any LLM reads. Only
        what the template puts out is measured: a loop that puts nothing out is
        bounded by the sandbox alone, at 100 000 turns of each ``range``.
        """
        self.check(name)
        try:
            text = _measured(self._environment.get_template(name), UNSAID | values).strip()
        except TemplateSyntaxError as error:
            raise DataError(f"{error.filename or name}, line {error.lineno}: {error.message}") from error
        except TemplateNotFound as error:
            missing = str(error.name)
            hint = near(missing, self.names())
            raise DataError(f'{self._place(name, error)}: there is no prompt "{missing}"; {hint}') from error
        except _WRONG as error:
            raise DataError(f"{self._place(name, error)}: {_plain(error)}") from error
        return _GAPS.sub("\n\n", text)

    def _load(self, name: str) -> tuple[str, str, Callable[[], bool]]:
        try:
            return self._loader.get_source(self._environment, name)
        except TemplateNotFound as error:
            raise DataError(f'There is no prompt "{name}"; {near(name, self.names())}') from error

    def _place(self, name: str, error: BaseException) -> str:
        """Return the file and line of the template in which `error` came up."""
        place = f"The prompt {name}"
        trace: TracebackType | None = error.__traceback__
        while trace is not None:
            file = trace.tb_frame.f_code.co_filename
            if any(Path(file).is_relative_to(folder) for folder in self._loader.searchpath):
                place = f"{file}, line {trace.tb_lineno}"
            trace = trace.tb_next
        return place


class _Sandbox(ImmutableSandboxedEnvironment):
    """A sandbox that bounds products and powers, which could use up processor or memory."""

    intercepted_binops = frozenset({"*", "**"})

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        if operator == "**":
            size = left.bit_length() * right if isinstance(left, int) and isinstance(right, int) else 0
            too_large = size > _MAX_BITS
        else:
            sizes = [len(one) if hasattr(one, "__len__") else one for one in (left, right)]
            repeats = hasattr(left, "__len__") or hasattr(right, "__len__")
            too_large = repeats and sizes[0] * sizes[1] > _MAX_CHARACTERS
        if too_large:
            raise OverflowError(f'The result of "{operator}" is too large for a prompt.')
        return super().call_binop(context, operator, left, right)


class _Loader(FileSystemLoader):
    """A loader that reads only files of bounded size, and notices a new file that overrides the one that was read."""

    def get_source(self, environment: Environment, template: str) -> tuple[str, str, Callable[[], bool]]:
        source, filename = self._found(template)
        return source, filename, lambda: self._found(template) == (source, filename)

    def _found(self, template: str) -> tuple[str, str]:
        pieces = split_template_path(template)
        for folder in self.searchpath:
            path = Path(folder, *pieces)
            if path.exists() and not path.is_dir():
                return read_text(path, most=_MAX_CHARACTERS), str(path)
        raise TemplateNotFound(template)


def _measured(template: Template, values: dict[str, Any]) -> str:
    """Return what a template puts out; raises OverflowError if that takes too long or grows too large."""
    pieces: list[str] = []
    characters, end = 0, time.thread_time() + _MAX_SECONDS
    stream = cast("Generator[str]", template.generate(values))
    for piece in stream:
        pieces.append(piece)
        characters += len(piece)
        if characters > _MAX_CHARACTERS:
            too_much = f"longer than {_MAX_CHARACTERS} characters"
        elif time.thread_time() > end:
            too_much = f"not done after {_MAX_SECONDS:g} seconds"
        else:
            continue
        # Raised where the template stands, so that its line is known.
        stream.throw(OverflowError(f"the text is {too_much} here; shorten its loops."))
    return "".join(pieces)


def _plain(error: BaseException) -> str:
    if isinstance(error, RecursionError):
        return "it is nested too deeply; check for an include or a macro that calls itself."
    if isinstance(error, MemoryError):
        return "its result is too large for the memory."
    text = str(error).strip() or type(error).__name__
    return text if text.endswith((".", "?")) else f"{text}."
