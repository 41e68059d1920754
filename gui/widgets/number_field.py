"""A field for a number that may have many decimal places."""

from PySide6.QtCore import QLocale
from PySide6.QtWidgets import QDoubleSpinBox, QWidget


class NumberField(QDoubleSpinBox):
    """A number from 0, without trailing zeros."""

    def __init__(
        self, parent: QWidget | None = None, *, decimals: int = 4, maximum: float = 1e9, step: float = 1.0
    ) -> None:
        super().__init__(parent)
        self.setLocale(QLocale.c())
        self.setDecimals(decimals)
        self.setRange(0, maximum)
        self.setSingleStep(step)

    def textFromValue(self, value: float) -> str:
        return f"{value:.{self.decimals()}f}".rstrip("0").rstrip(".")
