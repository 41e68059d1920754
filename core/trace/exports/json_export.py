"""A run as JSON for other programs; resources/trace-schema.md describes the format."""

import base64
import json
from typing import Any

from core.schema.messages import Prompt
from core.schema.step import BlobHash, CallRecord, Observed
from core.trace.calls import stored_prompt, stored_reply
from core.trace.exports.hiding import hiding
from core.trace.store import TraceStore

FORM = "backstep run"
FORM_VERSION = 1


@hiding
def export_json(store: TraceStore, run: int) -> str:
    """Return the whole run as one JSON object; raises TraceError if a part of it is damaged."""
    row = store.run(run)
    blobs: dict[BlobHash, dict[str, str]] = {}
    steps = []
    for step in store.steps(run):
        detail = store.step(run, step.number)
        for record in detail.records:
            if isinstance(record, Observed):
                for name in (record.html, record.screenshot):
                    if name and name not in blobs:
                        blobs[name] = _blob(*store.blob_and_type(name))
        logged = store.pages.log(run, step.number)
        steps.append(
            {
                **step.model_dump(),
                "records": [record.model_dump() for record in detail.records],
                "page_log": None if logged is None else [part.model_dump() for part in logged],
            }
        )
    whole = {
        "form": FORM,
        "version": FORM_VERSION,
        "left_out": store.left_out,
        "run": {**row.model_dump(), "preset_text": store.preset_text(run)},
        "steps": steps,
        "calls": [_call(store, call) for call in store.calls.of(run)],
        "interventions": [intervention.model_dump() for intervention in store.interventions(run)],
        "events": [event.model_dump() for event in store.pages.events(run)],
        "log": [line.model_dump() for line in store.log(run, limit=1_000_000)],
        "blobs": blobs,
    }
    text = json.dumps(whole, ensure_ascii=False, indent=1)
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(whole, indent=1)  # Half of a surrogate pair is in it, which no file can hold.
    return text


def _call(store: TraceStore, call: CallRecord) -> dict[str, Any]:
    reply = stored_reply(store, call)
    return {
        **call.model_dump(exclude={"messages", "reply"}),
        "prompt": _prompt(stored_prompt(store, call)),
        "reply": None if reply is None else reply.model_dump(),
    }


def _prompt(prompt: Prompt) -> dict[str, Any]:
    values = prompt.model_dump()
    for message in values["messages"]:
        message["images"] = [_blob(image["data"], image["mime"]) for image in message["images"]]
    return values


def _blob(data: bytes, media_type: str) -> dict[str, str]:
    if media_type.startswith("text/") or media_type == "application/json":
        return {"media_type": media_type, "text": data.decode(errors="replace")}
    return {"media_type": media_type, "base64": base64.b64encode(data).decode()}
