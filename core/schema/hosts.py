"""Hosts: which are this machine's and its network's, and which belong to a site."""

import ipaddress
import re
from urllib.parse import urlsplit

_NEAR = (".localhost", ".local", ".internal", ".lan", ".home.arpa", ".intranet", ".corp", ".home")
"""Endings of names that only a private network knows; clouds have their metadata at one."""


def host_of(url: str) -> str:
    """Return the host of an address as it is compared: in lower case, without port; empty if it has none."""
    try:
        return (urlsplit(url).hostname or "").rstrip(".")
    except ValueError:
        return ""


def place_of(url: str) -> str:
    """Return ``host:port`` of an address, with the port that its scheme has where none is given."""
    try:
        parts = urlsplit(url)
        port = parts.port or {"https": 443, "wss": 443}.get(parts.scheme, 80)
    except ValueError:
        return ""
    return f"{host_of(url)}:{port}"


def site_of(url: str) -> str:
    """Return what names the site of an address: its host without ``www.``; near this machine, with its port."""
    host = host_of(url)
    return place_of(url) if is_near(host) else host.removeprefix("www.")


def has_scheme(text: str) -> bool:
    """Return whether what stands before the first colon is a scheme and not a host with a port."""
    match = re.match(r"([A-Za-z][A-Za-z0-9+.-]*):(.*)", text, re.DOTALL)
    return bool(match) and not re.match(r"\d{1,5}(?:[/?#]|$)", match[2] if match else "")


def is_near(host: str) -> bool:
    """Return whether a host is this machine or one of its network, by its name or IP address alone."""
    name = host.strip("[]").lower().rstrip(".").partition("%")[0]
    try:
        return is_near_address(name)
    except ValueError:
        return name == "localhost" or name.endswith(_NEAR)


def is_near_address(address: str) -> bool:
    """Return whether an IP address does not belong to the public internet; raises ValueError for another text."""
    one = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(one, ipaddress.IPv6Address):
        one = one.ipv4_mapped or one.sixtofour or one
    return not one.is_global


def in_site(host: str, site: str) -> bool:
    """Return whether a host is a site's or below it: ``shop.example.com`` is in ``example.com``."""
    site = site.lower().strip("[]").rstrip(".")
    return host == site or (host.endswith(f".{site}") and not site.replace(".", "").isdigit())
