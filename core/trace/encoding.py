"""Records as they lie in the database, and back.

What is large in a record (observation, clean observation, permissible
actions) is a blob of its own, so that the same page seen twice is stored
once. Elements of a clean observation that are those of the observation are
stored as their numbers. The rest is JSON: text where it is short, so that it
can be read in any SQLite tool, and compressed where it is long.
"""

import json
from typing import Any, NamedTuple, TypeVar, cast

import zstandard
from pydantic import BaseModel, ValidationError
from pydantic_core import PydanticSerializationError

from core.schema.observation import CleanObservation, Observation
from core.schema.step import RECORDS, Phase, PhaseRecord
from core.trace import blobs

_SHORT = 512
"""Bytes of JSON up to which a record stays readable text."""

M = TypeVar("M", bound=BaseModel)


class Encoded(NamedTuple):
    """A record in two pieces: the rest of it as stored, and its large part as JSON, if it has one."""

    record: str | bytes
    part: bytes | None


def encode(record: PhaseRecord, observation: Observation | None = None) -> Encoded:
    """Take `record` apart; `observation` is what its clean observation was made from."""
    whole = getattr(record, record.part) if record.part else None
    part = None
    if isinstance(whole, CleanObservation):
        part = _encode_clean(whole, observation)
    elif whole is not None:
        part = to_json(whole, exclude_defaults=True)
    # Only whole fields can be left out: inside them a default tells one kind of action from another.
    unsaid = {
        field
        for field, info in type(record).model_fields.items()
        if not info.is_required()
        and getattr(record, field) == info.get_default(call_default_factory=True, validated_data={})
    }
    data = to_json(record, exclude=unsaid | {record.part, *record.blobs})
    return Encoded(data.decode() if len(data) <= _SHORT else blobs.compress(data), part)


def decode(
    phase: Phase,
    record: str | bytes,
    part: bytes | None,
    observation: Observation | None = None,
    extra: dict[str, str] | None = None,
) -> PhaseRecord:
    """Put a record together again, with the fields that were kept elsewhere as `extra`.

    Raises ValueError (pydantic's ValidationError is one) where the pieces do
    not make one.
    """
    data = record.encode() if isinstance(record, str) else _decompressed(record)
    cls = RECORDS[phase]
    if not cls.part:
        return from_json(cls, data)  # type: ignore[return-value]
    if part is None:
        raise ValueError(f"the {cls.part} is missing")
    part_class = cast(type[BaseModel], cls.model_fields[cls.part].annotation)
    whole: BaseModel
    whole = (
        _decode_clean(part, observation) if part_class is CleanObservation else from_json(part_class, part)
    )
    return cls.model_validate({**json.loads(data), **(extra or {}), cls.part: whole})  # type: ignore[return-value]


def to_json(model: BaseModel, **options: Any) -> bytes:
    """Return a model as JSON that `from_json` reads back equal.

    Half of a surrogate pair, as pages have it, and infinite numbers are
    beyond pydantic's own writer, which fails on the one and writes null for the other.
    """
    try:
        data = model.model_dump_json(**options).encode()
        # In the keys of a dictionary pydantic puts the replacement character for such a half.
        plain = "\ufffd".encode() not in data
    except (PydanticSerializationError, UnicodeEncodeError):
        data, plain = b"", False
    if plain and b":null" not in data and b"[null" not in data and b",null" not in data:
        return data
    values = model.model_dump(**options)
    return json.dumps(values, ensure_ascii=not plain, separators=(",", ":")).encode()


def from_json(cls: type[M], data: bytes) -> M:
    """Raises ValueError where `data` is not such a model."""
    try:
        return cls.model_validate_json(data)
    except ValidationError as error:
        # pydantic's reader refuses half of a surrogate pair, Python's does not.
        if any(problem["type"] == "json_invalid" for problem in error.errors()):
            return cls.model_validate(json.loads(data))
        raise


def _encode_clean(clean: CleanObservation, observation: Observation | None) -> bytes:
    if observation is None:
        return to_json(clean, exclude_defaults=True)
    known = {element.ref: element for element in observation.elements}
    values = clean.model_dump(exclude_defaults=True, exclude={"elements"})
    values["elements"] = [
        element.ref
        if (same := known.get(element.ref)) is element or same == element
        else element.model_dump(exclude_defaults=True)
        for element in clean.elements
    ]
    try:
        return json.dumps(values, ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:
        return json.dumps(values, separators=(",", ":")).encode()


def _decode_clean(part: bytes, observation: Observation | None) -> CleanObservation:
    values = json.loads(part)
    known = {} if observation is None else {element.ref: element for element in observation.elements}
    try:
        values["elements"] = [
            known[element] if isinstance(element, int) else element for element in values.get("elements", ())
        ]
    except KeyError as error:
        raise ValueError(
            f"the clean observation shows element {error}, which the observation lacks"
        ) from error
    return CleanObservation.model_validate(values)


def _decompressed(data: bytes) -> bytes:
    try:
        return blobs.decompress(data)
    except zstandard.ZstdError as error:
        raise ValueError("the record is cut or changed") from error
