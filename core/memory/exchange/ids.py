"""Ids for exemplars of files that have none: the same file always gives the same ones."""

import hashlib
import re

LONGEST = 120


def id_of(*parts: object) -> str:
    """Return an id made of these parts, such as ``synapse/book-flight/0``; what no id may hold becomes ``-``."""
    plain = (re.sub(r"[^a-z0-9._]+", "-", str(part).lower()).strip("-._") for part in parts)
    whole = "/".join(part for part in plain if part) or "exemplar"
    if len(whole) <= LONGEST:
        return whole
    # What is cut off still tells two long names apart.
    return f"{whole[: LONGEST - 9]}-{hashlib.sha256(whole.encode()).hexdigest()[:8]}"


def free_id(wanted: str, taken: set[str]) -> str:
    """Return the id, with a number where it is taken."""
    number, found = 2, wanted
    while found in taken:
        found = f"{wanted[: LONGEST - 8].rstrip('/')}-{number}"
        number += 1
    return found
