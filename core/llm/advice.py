"""What a person can do about a call that failed: how the sentence of its error ends."""

from core.llm.errors import LLMFailure, nearest_model
from core.schema.record import Record

_AFTER_ATTEMPTS = {
    "refused": "start the server, or correct base_url.",
    "host": "correct base_url, or check the network.",
    "unconnected": "check that the server runs, and the port and http or https in base_url.",
    "timeout": "raise timeout_seconds, or choose a faster LLM.",
}
_FOR_GOOD = {
    "slow": "raise total_timeout_seconds, lower max_tokens, or choose a faster LLM.",
    "large": "check the server's log, or choose another LLM.",
    "certificate": "check base_url.",
    "host": "check base_url.",
    "ended": "try again, which starts it again; if memory ran out, lower context in [local] of the settings.",
    "page": "check base_url (most end in /v1), and whether it needs a login or a proxy answers.",
}
"""By the kind of failure, if nothing that comes before says more."""
_ADDRESS = "check base_url (most end in /v1)"


class FailedRequest(Record):
    """What was asked of a server, as far as it tells what is to be mended."""

    server: str
    """As messages name it."""
    model: str
    key: str = ""
    """The name of the key that was sent, or would be."""
    sought_key: str = ""
    """The name under which it was sought first."""
    has_key: bool = False
    why_key: str = ""
    """Where the key was found or sought, in a sentence."""
    api_version: str = ""
    served: tuple[str, ...] | None = None
    """The models that the server has; None if it was not asked, or did not tell."""
    listing: bool = False
    """Whether it was asked for its models, and not for an answer."""
    tokens: int = 0
    """About how many the prompt has."""


def after_attempts(server: str, failure: LLMFailure, attempts: int) -> str:
    """Return the sentence of a call that was tried as often as it is."""
    later = "check the server's log, or try again later."
    advice = "wait a while, or choose another LLM." if failure.status == 429 else later
    advice = _AFTER_ATTEMPTS.get(failure.kind, advice)
    return f"{server} {failure.reason} in the last of {attempts} attempts; {advice}"


def refused_for_good(failure: LLMFailure, request: FailedRequest) -> str:
    """Return the sentence of a call that comes to the same however often it is tried."""
    if request.served is not None and request.model not in request.served:
        hint = nearest_model(request.model, request.served)
        return f"{request.server} does not have the model {request.model}; {hint}."
    if failure.kind == "redirect":
        return f"{request.server} {failure.reason}."  # It says what to correct.
    return f"{request.server} {failure.reason}; {_advice(failure, request)}"


def _advice(failure: LLMFailure, request: FailedRequest) -> str:
    kind, key = failure.kind, request.key or "its key"
    if failure.status == 401:
        return f"{_about_key(request)} {request.why_key}".strip()
    if failure.status == 403:
        return f"check that the key {key} may use {request.model}."
    if failure.status == 404 and request.api_version:
        return f"check the address, the deployment and the api_version, {request.api_version}."
    if failure.status == 404:
        known = request.listing or request.served is not None
        return f"{_ADDRESS}." if known else f"{_ADDRESS} and the model's name, {request.model}."
    if kind == "context":
        return (
            f"the prompt of about {request.tokens} tokens is too long for {request.model}: choose an LLM with a "
            "longer context, start the server with one (a local LLM: context in [local] of the settings), or shorten "
            "the prompt (history and [abstraction] of the preset)."
        )
    if kind == "unreadable":
        return f"the server cannot read what {request.model} writes: choose another LLM or chat template."
    if kind == "slow" and request.listing:
        return "check the server's log, or try again later."
    if kind == "quota" or failure.status == 402:
        return "the account has no credit left: top it up, or choose another LLM."
    if kind in _FOR_GOOD:
        return _FOR_GOOD[kind]
    if request.listing and failure.passing:
        return "start the server, or correct base_url."
    if "tool" in failure.reason.lower():
        return "choose a preset that replies in JSON or lines, or an LLM that can call tools."
    if "image" in failure.reason.lower():
        return "set takes_images = false for this LLM, or choose one that accepts these pictures."
    return f"check the model's name, {request.model}, and its settings."


def _about_key(request: FailedRequest) -> str:
    if request.has_key:
        return f"check the key {request.key or 'its key'}, and that it belongs to this server."
    if request.key and request.key != request.sought_key:
        return (
            f"it needs a key: set {request.key} in the environment, or {request.sought_key} in the keyring."
        )
    return f"it needs a key: set {request.key or 'its key'} in the environment or the keyring."
