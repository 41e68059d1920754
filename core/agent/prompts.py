"""Prompt templates: Jinja files of the installation, overridden by the user's folder, read anew when edited."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, TemplateError, TemplateSyntaxError

from core.action import usage
from core.errors import DataError

PROMPTS = Path(__file__).resolve().parents[2] / "resources" / "prompts"


class Prompts:
    """Renders templates by their path below the prompts folders; earlier folders win."""

    def __init__(self, folders: Iterable[Path] = (PROMPTS,)) -> None:
        self._environment = Environment(
            loader=FileSystemLoader([str(folder) for folder in folders]),
            undefined=StrictUndefined,
            autoescape=False,
            trim_blocks=False,
            keep_trailing_newline=False,
        )
        self._environment.globals["usage"] = usage

    def render(self, name: str, **values: Any) -> str:
        """Return the text of a template; raises DataError with file and line."""
        try:
            return self._environment.get_template(name).render(**values).strip()
        except TemplateSyntaxError as error:
            raise DataError(f"{error.filename or name}, line {error.lineno}: {error.message}") from error
        except TemplateError as error:
            raise DataError(f"The prompt {name} cannot be rendered: {error}") from error
