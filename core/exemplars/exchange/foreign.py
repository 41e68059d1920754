"""Records of other programs as pydantic models: what a field must be, and a sentence with its place where it is not."""

from collections.abc import Callable
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, ValidationError

from core.trace.imports.records import FaultyError

_KINDS = {str: "a text", dict: "an object", list: "a list", int: "a number", float: "a number"}
_KINDS |= {bool: "yes or no", type(None): "null"}
_WANTED = {"string": "a text", "list": "a list", "dict": "an object", "model": "an object", "int": "a number"}
AnyModel = TypeVar("AnyModel", bound=BaseModel)


class Foreign(BaseModel):
    """A record of another program: the fields that are looked at, with what they must be."""

    model_config = ConfigDict(strict=True, frozen=True, extra="ignore", defer_build=True)


def is_sound(text: str) -> bool:
    """Return whether no character of the text is half of one, which JSON can hold and no file can."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def plain(value: object) -> str:
    """Return a text where it is one, and nothing else."""
    return value if isinstance(value, str) and is_sound(value) else ""


def finite(value: object) -> float | None:
    """Return a number where it is one."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) < 10**300:
        return None
    return float(value)


def kind_of(value: object) -> str:
    return _KINDS.get(type(value), "something else")


def _sound(text: str) -> str:
    if not is_sound(text):
        raise ValueError("it contains half a character (a surrogate)")
    return text


def null_is(empty: object, decode: Callable[[object], object] = lambda value: value) -> BeforeValidator:
    """Return a validator that puts something empty in the place of null, after a value was decoded."""
    return BeforeValidator(lambda value: empty if (decoded := decode(value)) is None else decoded)


def _texts_of(value: object) -> list[str]:
    return [text for text in value if plain(text)] if isinstance(value, list) else []


Text = Annotated[str, AfterValidator(_sound)]
MaybeText = Annotated[Text, null_is("")]
"""A text that may be null."""
MaybeList = Annotated[list[Any], null_is([])]
MaybeObject = Annotated[dict[str, Any], null_is({})]
AnyObject = Annotated[dict[str, Any], BeforeValidator(lambda value: value if isinstance(value, dict) else {})]
"""An object, or anything else, which counts as an empty one; likewise the others that begin so."""
AnyText = Annotated[str, BeforeValidator(plain)]
AnyTexts = Annotated[list[str], BeforeValidator(_texts_of)]
AnyNumber = Annotated[float | None, BeforeValidator(finite)]


class MisplacedError(FaultyError):
    """Something wrong inside an entry; `position` is where."""

    def __init__(self, position: str, inside: str, why: str) -> None:
        """`inside` is the key path from the entry at `position`."""
        is_line = position.startswith("line ")
        super().__init__(f"{inside}: {why}" if is_line and inside else why)
        self.position = position if is_line else f"{position}.{inside}".strip(".").replace(".[", "[")


def parsed(model: type[AnyModel], value: object, position: str) -> AnyModel:
    """Return the value as a model; raises MisplacedError for the first field that is missing or wrong."""
    try:
        return model.model_validate(value)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        if isinstance(first["input"], FaultyError):  # It stands for a value that could not be worked out.
            raise first["input"] from error
        inside = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in first["loc"])
        why = str(first["msg"]).removeprefix("Value error, ")
        if first["type"] == "missing":
            why = "it is missing"
        elif first["type"] == "literal_error":
            why = f"it must be {first['ctx']['expected']}"
        elif wanted := _WANTED.get(first["type"].partition("_")[0]):
            why = f"it must be {wanted}, not {kind_of(first['input'])}"
        raise MisplacedError(position, inside.strip("."), why) from error
