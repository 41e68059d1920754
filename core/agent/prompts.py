"""Prompt templates: Jinja files of the installation or, before them, of the user; read anew when edited."""

import re
from collections.abc import Callable, Iterable
from pathlib import Path
from types import TracebackType
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, TemplateError, TemplateNotFound, nodes
from jinja2.exceptions import TemplateSyntaxError
from jinja2.meta import find_undeclared_variables
from jinja2.sandbox import ImmutableSandboxedEnvironment

from core.schema.action import bracketed, usage
from core.schema.action_space import PermissibleAction
from core.schema.errors import DataError
from core.settings.user_file import near
from core.storage.resources import RESOURCES

PROMPTS = RESOURCES / "prompts"

UNSAID: dict[str, Any] = {
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
    "raw": "",
    "pairs": (),
    "mistakes": (),
    "read": (),
    "at_budget": False,
}
"""What only some templates are given, as the others see it."""
VALUES = (
    *"task objective assignment page tabs history notes permissible left_out reply_format several".split(),
    *"space state state_why instruction layout shown frame plan experience failed".split(),
    *UNSAID,
)
"""What a template may use, beside the functions ``usage`` and ``written``."""


_GAPS = re.compile(r"\n[ \t]*\n(?:[ \t]*\n)+")
"""More than one empty line, which parts of templates that say nothing leave."""


def written(action: PermissibleAction) -> str:
    """Return how a permissible action is written, with what it takes here, such as ``select_item [item_id]``."""
    if action.origin == "page":
        return usage(action.name, [parameter.name for parameter in action.parameters])
    return " ".join([action.name, *(bracketed(one.name, one.required) for one in action.parameters)])


class Prompts:
    """Renders templates by their path below the prompts folders; earlier folders win."""

    def __init__(self, folders: Iterable[Path] = (PROMPTS,)) -> None:
        self._loader = _Loader([str(folder) for folder in folders])
        self._environment: Environment = ImmutableSandboxedEnvironment(
            loader=self._loader,
            undefined=StrictUndefined,
            autoescape=False,
            trim_blocks=False,
            keep_trailing_newline=False,
        )
        self._environment.globals["usage"] = usage
        self._environment.globals["written"] = written
        self._checked: dict[str, str] = {}

    def names(self) -> tuple[str, ...]:
        """Return the templates there are, by path."""
        return tuple(self._loader.list_templates())

    def check(self, name: str) -> None:
        """Raise DataError, with file, line and nearest valid name, for what can be found before rendering."""
        source, filename, _ = self._load(name)
        if self._checked.get(filename) == source:
            return
        try:
            tree = self._environment.parse(source, name, filename)
        except TemplateSyntaxError as error:
            raise DataError(f"{filename}, line {error.lineno}: {error.message}") from error
        unknown = find_undeclared_variables(tree) - {*VALUES, *self._environment.globals}
        for used in tree.find_all(nodes.Name):
            if used.ctx == "load" and used.name in unknown:
                place = f"{filename}, line {used.lineno}"
                raise DataError(f'{place}: there is no value "{used.name}"; {near(used.name, VALUES)}')
        self._checked[filename] = source

    def render(self, name: str, **values: Any) -> str:
        """Return the text of a template; raises DataError with file and line."""
        self.check(name)
        try:
            text = self._environment.get_template(name).render(UNSAID | values).strip()
        except TemplateSyntaxError as error:
            raise DataError(f"{error.filename or name}, line {error.lineno}: {error.message}") from error
        except TemplateNotFound as error:
            missing = str(error.name)
            hint = near(missing, self.names())
            raise DataError(f'{self._place(name, error)}: there is no prompt "{missing}"; {hint}') from error
        except (TemplateError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            raise DataError(f"{self._place(name, error)}: {_plain(error)}") from error
        return _GAPS.sub("\n\n", text)

    def _load(self, name: str) -> tuple[str, str, Callable[[], bool]]:
        try:
            return self._loader.get_source(self._environment, name)
        except TemplateNotFound as error:
            raise DataError(f'There is no prompt "{name}"; {near(name, self.names())}') from error
        except OSError as error:
            raise DataError(f"The prompt {name} cannot be read: {error.strerror or error}.") from error
        except UnicodeDecodeError as error:
            raise DataError(f"The prompt {name} is not UTF-8 text (byte {error.start}).") from error

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


class _Loader(FileSystemLoader):
    """A loader that also notices a file put in front of the one that was read."""

    def get_source(self, environment: Environment, template: str) -> tuple[str, str, Callable[[], bool]]:
        source, filename, unchanged = super().get_source(environment, template)

        def still_it() -> bool:
            return unchanged() and super(_Loader, self).get_source(environment, template)[:2] == (
                source,
                filename,
            )

        return source, filename, still_it


def _plain(error: Exception) -> str:
    text = str(error).strip() or type(error).__name__
    return text if text.endswith((".", "?")) else f"{text}."
