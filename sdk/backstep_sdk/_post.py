"""Sends reports to Backstep, one after another."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Iterable
from typing import Any

log = logging.getLogger("backstep_sdk")
_SECONDS = 30.0
"""So long an answer is waited for. Backstep answers at once, also while it holds the agent."""
_gone: set[str] = set()
"""Addresses that nobody answers at any more."""


def attached() -> bool:
    """Return whether Backstep is attached."""
    url = os.environ.get("BACKSTEP_SDK_URL", "")
    return bool(url) and url not in _gone


def post(kind: str, **said: Any) -> None:
    """Say something, and wait until Backstep has it; raises nothing."""
    if not attached():
        return
    url = os.environ["BACKSTEP_SDK_URL"]
    try:
        body = json.dumps({"kind": kind, **{name: _plain(value) for name, value in said.items()}}).encode()
    except Exception as error:
        log.warning("The %s was not sent to Backstep: %s", kind, error)
        return
    _send(url, kind, body)


def _plain(value: Any) -> Any:
    """Return what JSON has for a value: a text for whatever it has nothing for."""
    if value is None or isinstance(value, (int, float)):
        return value
    if isinstance(value, str):
        return value.encode(errors="replace").decode()  # Half a surrogate is not text.
    if isinstance(value, Iterable):
        return [_plain(one) for one in value]
    return str(value)


def _send(url: str, kind: str, body: bytes) -> None:
    from urllib.error import HTTPError  # Only who is attached waits for the import.
    from urllib.request import ProxyHandler, Request, build_opener

    request = Request(url, data=body, headers={"Content-Type": "application/json"})
    try:
        with build_opener(ProxyHandler({})).open(request, timeout=_SECONDS) as answer:
            answer.read()
    except HTTPError as error:
        with error:
            why = error.read().decode(errors="replace")
        if error.code == 404:
            _gone.add(url)  # The port is somebody else's by now.
        else:
            log.warning("Backstep did not accept the %s: %s", kind, why)
    except Exception as error:
        _gone.add(url)
        log.info("Backstep cannot be reached any more: %s", error)
