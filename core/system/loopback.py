"""Who may ask a server on a loopback address: programs of this machine, and no web page of another origin.

A page can send requests to any port of the machine. Under a host name that its owner lets point to 127.0.0.1, it
can also read the answers.
"""

from collections.abc import Sequence

_HOSTS = ("127.0.0.1", "localhost", "[::1]")


def foreign_request(hosts: Sequence[str], origins: Sequence[str], port: int) -> str:
    """Return why a request is refused, in a sentence, or nothing.

    `hosts` and `origins` are the values of its headers ``Host`` and ``Origin``; programs send no origin.
    """
    own = [f"{host}:{port}" for host in _HOSTS]
    if len(hosts) != 1 or hosts[0].lower() not in own:
        return f"This server answers requests to 127.0.0.1:{port}, not to {', '.join(hosts) or 'no host'}."
    origin = next((one for one in origins if one.lower().removeprefix("http://") not in own), None)
    if origin is not None:
        return f"This server answers no requests of web pages of another origin ({origin})."
    return ""
