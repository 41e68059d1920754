"""Two versions of an exemplar as texts to be compared."""

from typing import TYPE_CHECKING

from core.memory.editing.toml_text import text_of
from core.memory.library.records import VersionDifference, differences
from core.schema.exemplar import Draft
from core.schema.record import Record

if TYPE_CHECKING:
    from core.memory.library.store import Library


class ComparedVersions(Record):
    """Two versions of an exemplar."""

    id: str
    left: int
    right: int | None = None
    """None for the draft in the editor."""
    left_text: str = ""
    right_text: str = ""
    differences: tuple[VersionDifference, ...] = ()


def compare_versions(
    library: "Library", id: str, left: int, right: int | None, draft: Draft | None = None
) -> ComparedVersions:
    """Compare a version with another one, or with a draft; raises LibraryError."""
    before, after = library.at(id, left), draft if right is None else library.at(id, right)
    assert after is not None
    return ComparedVersions(
        id=id,
        left=left,
        right=right,
        left_text=text_of(before),
        right_text=text_of(after),
        differences=differences(before, after),
    )
