"""Readable sentences for errors of the protocol and the network."""

import re

from playwright.async_api import Error

_PROTOCOL = re.compile(r"Protocol error \([\w.]+\): (?P<said>.*)", re.DOTALL)
_GONE = frozenset(
    {
        "Cannot find context with specified id",
        "Execution context was destroyed.",
        "Execution was terminated",
        "Frame with the given id was not found.",
        "Inspected target navigated or closed",
        "No frame for given id found",
        "No node found for given backend id",
        "No node with given id found",
        "Node with given id does not belong to the document",
        "Not attached to an active page",
        "Promise was collected",
        "Session closed. Most likely the page has been closed.",
        "Session with given id not found.",
        "Target crashed",
    }
)
_NETWORK = {
    "ERR_NAME_NOT_RESOLVED": "its host name cannot be found",
    "ERR_CONNECTION_REFUSED": "no server answers at that address",
    "ERR_CONNECTION_RESET": "the connection was cut",
    "ERR_CONNECTION_CLOSED": "the connection was cut",
    "ERR_CONNECTION_TIMED_OUT": "no server answers at that address",
    "ERR_ADDRESS_UNREACHABLE": "that address cannot be reached",
    "ERR_CERT": "its certificate is not valid",
    "ERR_SSL": "it does not speak HTTPS",
    "ERR_INTERNET_DISCONNECTED": "there is no network",
    "ERR_EMPTY_RESPONSE": "the server closed the connection without an answer",
    "ERR_INVALID_RESPONSE": "the server's answer is not HTTP",
    "ERR_INVALID_HTTP_RESPONSE": "the server's answer is not HTTP",
    "ERR_HTTP_RESPONSE_CODE_FAILURE": "the server answered with an error and no page",
    "ERR_TOO_MANY_REDIRECTS": "it redirects endlessly",
    "ERR_UNSAFE_PORT": "the browser refuses that port",
    "ERR_FILE_NOT_FOUND": "there is no such file",
    "ERR_BLOCKED": "the browser blocked it",
    "ERR_UNKNOWN_URL_SCHEME": "the browser does not know that kind of address",
    "ERR_INVALID_URL": "that is not a web address",
    "ERR_ABORTED": "no page was loaded: it is a download or an empty answer, or another page was opened meanwhile",
}


def gone(error: Error) -> str:
    """Return why there is nobody left to answer (the document, page or renderer went away), or ''."""
    if type(error).__name__ == "TargetClosedError":
        return "the page was closed"
    match = _PROTOCOL.search(error.message)
    said = (match["said"] if match else error.message.rpartition(": ")[2]).strip()
    return said if said in _GONE else ""


def network_reason(text: str) -> str:
    """Return the reason of a network error such as ``net::ERR_NAME_NOT_RESOLVED`` in words; '' if unknown."""
    return next((words for sign, words in _NETWORK.items() if sign in text), "")


def certificate_refused(text: str) -> bool:
    """Return whether a network error is about a certificate."""
    return "ERR_CERT" in text
