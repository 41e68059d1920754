"""What the runs of an evaluation used, by how suspicious it is."""

from collections.abc import Sequence

from PySide6.QtWidgets import QWidget

from core.debugger.causes.records import Suspicion
from gui.theme.theme import Theme
from gui.widgets.plain_table import Column, PlainTable, TableLine

_COLUMNS = (
    Column(
        "Suspiciousness",
        number=True,
        tooltip="Ochiai’s coefficient: 1 for what all failed runs used and no other, 0 for what no failed run used",
    ),
    Column("Kind"),
    Column("Name", tooltip="Of an action, with the state in which it was taken"),
    Column("Failed runs", number=True, tooltip="Failed runs that used it"),
    Column("Passed runs", number=True, tooltip="Runs with success that used it"),
)
NONE = "Nothing is suspicious: no judged run of this evaluation failed."


class SuspicionsTable(PlainTable):
    """Lists what runs used, the most suspicious first; a double click or Enter opens a failed run that used it."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, "What runs used, by suspiciousness", _COLUMNS, parent)
        self.runs: dict[tuple[str, str], int | None] = {}
        """A failed run for each kind and name, which are the key of a row."""

    def show_suspicions(self, suspicions: Sequence[Suspicion]) -> None:
        self.runs = {(one.kind, one.name): one.run for one in suspicions}
        self.show_lines(
            TableLine.of(
                (f"{one.score:.2f}", one.score),
                one.kind,
                one.name,
                (str(one.failed), one.failed),
                (str(one.passed), one.passed),
                key=(one.kind, one.name),
            )
            for one in suspicions
        )
