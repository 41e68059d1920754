"""The LLM calls of runs, with what was sent and what came back."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeVar

from core.schema.errors import TraceError
from core.schema.messages import LLMReply, Prompt, PromptPart, Usage
from core.schema.step import BlobHash, CallRecord
from core.trace import encoding
from core.trace.database import NewBlobs, TraceDatabase, Transactions
from core.trace.run_reader import rows_of_step, valid
from core.trace.under_way import RunsUnderWay

T = TypeVar("T")

_HASHES = {name: f"(SELECT hash FROM blobs WHERE id = {name}) AS {name}" for name in ("messages", "reply")}
_COLUMNS = ", ".join(
    name
    for field in CallRecord.model_fields
    for name in (tuple(Usage.model_fields) if field == "usage" else (_HASHES.get(field, field),))
)


class LLMCalls:
    """Each method is one transaction, as those of `TraceStore` are, and raises TraceError as they do."""

    def __init__(self, store: Transactions, under_way: RunsUnderWay) -> None:
        self._store = store
        self._under_way = under_way

    def of(self, run: int) -> tuple[CallRecord, ...]:
        """Return the calls of a run in order; for a branch, those before it first."""
        return self._store.ask(lambda database: calls_of(database, run))

    def save(self, run: int, call: CallRecord, *, blobs: NewBlobs = ()) -> None:
        """Store a call, or store it again under the same number once it has ended."""

        def save(database: TraceDatabase) -> list[tuple[BlobHash, bytes]]:
            named = [(database.blobs.put(data, media_type)[1], data) for data, media_type in blobs]
            values = {
                **call.model_dump(exclude={"usage", "retries", "messages", "reply"}),
                **call.usage.model_dump(),
                "run": run,
                "messages": database.blobs.id_of(call.messages),
                "reply": database.blobs.id_of(call.reply),
                "retries": json.dumps([retry.model_dump() for retry in call.retries]),
            }
            database.insert("calls", values, replace=True)
            database.execute(
                "UPDATE runs SET (llm_calls, prompt_tokens, completion_tokens, cost) ="
                " (SELECT count(*), sum(prompt_tokens), sum(completion_tokens), sum(cost)"
                " FROM calls WHERE calls.run = runs.run) WHERE run = ?",
                (run,),
            )
            return named

        named = self._store.change(save, run)
        self._under_way.of(run).save_call(call)
        self._under_way.keep(named)


def calls_of(database: TraceDatabase, run: int, step: int | None = None) -> tuple[CallRecord, ...]:
    """Return the calls of a run, or of one step of it, inside the open transaction."""
    rows = rows_of_step(database, f"SELECT {_COLUMNS} FROM calls", run, step, "number")
    return tuple(_call(database, row) for row in rows)


def _call(database: TraceDatabase, row: dict[str, Any]) -> CallRecord:
    usage = {name: row.pop(name) for name in Usage.model_fields}
    try:
        row["retries"] = encoding.parsed(row["retries"])
    except (ValueError, TypeError) as error:
        raise database.damaged() from error
    return valid(database, CallRecord, {**row, "reply": row["reply"] or "", "usage": usage})


class BlobSource(Protocol):
    """The file of a trace, or what is in memory of it."""

    @property
    def path(self) -> Path: ...

    def blob(self, name: BlobHash) -> bytes: ...


def stored_prompt(source: BlobSource, call: CallRecord) -> Prompt:
    """Return what was sent in a call; raises TraceError."""
    data = source.blob(call.messages)
    return _read(source, call, "prompt", lambda: encoding.decode_prompt(data, source.blob))


def stored_reply(source: BlobSource, call: CallRecord) -> LLMReply | None:
    """Return what came back in a call, or None if nothing came; raises TraceError."""
    if not call.reply:
        return None
    data = source.blob(call.reply)
    return _read(source, call, "reply", lambda: encoding.decode_reply(data))


def exemplars_sent(source: BlobSource, calls: Sequence[CallRecord]) -> tuple[PromptPart, ...] | None:
    """Return the exemplars in the prompt that asked for a step's action; None if that is not known. Raises TraceError.

    `calls` are those of the step.
    """
    asked = [call for call in calls if call.purpose in ("decide", "rationale", "function")]
    prompt = stored_prompt(source, asked[-1]) if asked else None
    if prompt is None or prompt.view is None:
        return None
    found = tuple(part for part in prompt.parts if part.kind == "exemplar")
    # Beside tools they are one text, in which a template can have them so that their places are not known.
    return found if found or not prompt.tools else None


def _read(source: BlobSource, call: CallRecord, part: str, decode: Callable[[], T]) -> T:
    try:
        return decode()
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise TraceError(
            f"The {part} of LLM call {call.number} cannot be read: the trace database {source.path} is damaged."
        ) from error
