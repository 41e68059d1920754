"""Encodes records, prompts and replies for the database, and decodes them.

The large part of a record (observation, clean observation, permissible actions) is a separate blob, so a page
that is seen twice is stored once. Elements of a clean observation that are also in the observation are stored
as their numbers. The rest is JSON: plain text if it is short, so that any SQLite tool can read it, and
compressed if it is long.

A prompt is JSON of messages, tools, tool choice, reply schema and sampling, with the data of the messages,
and which of them came from an exemplar or a policy. Its pictures are separate blobs, so a screenshot that was
sent to the LLM is stored once.
"""

import json
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar, cast

import zstandard
from pydantic import BaseModel, ValidationError
from pydantic_core import PydanticSerializationError

from core.schema.messages import LLMReply, LLMRequest, Prompt
from core.schema.observation import CleanObservation, Observation
from core.schema.step import RECORDS, BlobHash, Phase, PhaseRecord
from core.storage.compression import compress, decompress
from core.trace.blobs import hash_of

_SHORT = 512
"""Bytes of JSON up to which a record stays readable text."""

M = TypeVar("M", bound=BaseModel)


class Encoded(NamedTuple):
    """A record in two parts: the small one as stored, and the large one as JSON, if there is one."""

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
    return Encoded(data.decode() if len(data) <= _SHORT else compress(data), part)


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
    data = json_of(record)
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
    return cls.model_validate({**parsed(data), **(extra or {}), cls.part: whole})  # type: ignore[return-value]


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
    """Raises ValueError if `data` is not such a model."""
    try:
        return cls.model_validate_json(data)
    except ValidationError as error:
        # pydantic's reader refuses half of a surrogate pair, Python's does not.
        if any(problem["type"] == "json_invalid" for problem in error.errors()):
            return cls.model_validate(parsed(data))
        raise


def parsed(data: str | bytes) -> Any:
    """Return what JSON says; raises ValueError if it is none, or is nested too deep to be read."""
    try:
        return json.loads(data)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


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
    values = parsed(part)
    known = {} if observation is None else {element.ref: element for element in observation.elements}
    try:
        values["elements"] = [
            known[element] if isinstance(element, int) else element for element in values.get("elements", ())
        ]
    except KeyError as error:
        raise ValueError(
            f"the clean observation shows element {error}, which is not in the observation"
        ) from error
    return CleanObservation.model_validate(values)


def json_of(record: str | bytes) -> bytes:
    """Return the JSON of a record as it is stored, without its large part; raises ValueError if it is damaged."""
    return record.encode() if isinstance(record, str) else _decompressed(record)


def _decompressed(data: bytes) -> bytes:
    try:
        return decompress(data)
    except zstandard.ZstdError as error:
        raise ValueError("the record is cut or changed") from error


class EncodedPrompt(NamedTuple):
    """A prompt ready to be stored."""

    hash: BlobHash
    """What `CallRecord.messages` is to say."""
    blobs: tuple[tuple[bytes, str], ...]
    """The prompt's own blob, and those of its pictures."""


def encode_prompt(request: LLMRequest, without_secrets: Callable[[bytes], bytes] = bytes) -> EncodedPrompt:
    """Return what `LLMCalls.save` needs of a request."""
    pictures: list[tuple[bytes, str]] = []
    messages: list[dict[str, Any]] = []
    for message in request.messages:
        values = message.model_dump(exclude={"images"}, exclude_defaults=True)
        if message.images:
            values["images"] = [{"blob": hash_of(image.data), "mime": image.mime} for image in message.images]
            pictures += [(image.data, image.mime) for image in message.images]
        messages.append(values)
    unsaid = {"messages", "purpose", "permissible"}
    rest = request.model_dump(exclude=unsaid, exclude_defaults=True, mode="json")
    try:
        data = json.dumps({"messages": messages, **rest}, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        data = json.dumps({"messages": messages, **rest}).encode()
    data = without_secrets(data)
    return EncodedPrompt(hash_of(data), ((data, "application/json"), *pictures))


def decode_prompt(data: bytes, blob: Callable[[BlobHash], bytes]) -> Prompt:
    """Read a stored prompt, its pictures by `blob`; raises ValueError if it is none."""
    values = parsed(data)
    if not isinstance(values, dict):
        raise ValueError("a prompt is a JSON object with messages")
    for message in values.get("messages", ()):
        message["images"] = tuple(
            {"data": blob(image["blob"]), "mime": image["mime"]} for image in message.get("images", ())
        )
    return Prompt.model_validate(values)


def encode_reply(
    reply: LLMReply, without_secrets: Callable[[bytes], bytes] = bytes
) -> tuple[BlobHash, tuple[bytes, str]]:
    """Return what `CallRecord.reply` is to say, and the blob that goes with it."""
    data = without_secrets(to_json(reply))
    return hash_of(data), (data, "application/json")


def decode_reply(data: bytes) -> LLMReply:
    """Read a stored reply; raises ValueError if it is none."""
    return from_json(LLMReply, data)
