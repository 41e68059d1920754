"""Where WebArena's sites are: the placeholders of its files and the addresses that replace them."""

import re
from collections.abc import Mapping
from typing import Any

from core.schema.errors import UsageError

SITES = ("SHOPPING", "SHOPPING_ADMIN", "REDDIT", "GITLAB", "WIKIPEDIA", "MAP", "HOMEPAGE")
_PLACEHOLDER = re.compile(rf"__({'|'.join(sorted(SITES, key=len, reverse=True))})__")


def with_sites(value: Any, sites: Mapping[str, str], task: str) -> Any:
    """Return `value` with every ``__SHOPPING__`` and the like replaced, in strings at any depth.

    Raises UsageError that names the address that is not set.
    """
    if isinstance(value, str):
        return _PLACEHOLDER.sub(lambda match: site_address(match[1], sites, task), value)
    if isinstance(value, dict):
        return {key: with_sites(one, sites, task) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [with_sites(one, sites, task) for one in value]
    return value


def site_address(name: str, sites: Mapping[str, str], task: str) -> str:
    """Return the address of a site without a slash at its end; raises UsageError where it is not set."""
    address = sites.get(name, "").strip().rstrip("/")
    if not address:
        raise UsageError(
            f"{task} needs the address of {name}: set it in the settings or in the environment, "
            f"such as {name}=http://localhost:7770."
        )
    return address
