"""Decodes pictures outside of the main thread, because a large one takes longer than a frame."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

from PySide6 import QtCore
from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QObject, QSize, Qt
from PySide6.QtGui import QImage, QImageReader

from core.schema.signal import Signal
from gui.widgets.relay import Relay


class _DecodingThread:
    """A plain object, so that it still exists while the decoder is deleted."""

    def __init__(self) -> None:
        self.pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="backstep pictures")

    def close(self) -> None:
        self.pool.shutdown(wait=False, cancel_futures=True)


class PictureDecoder(QObject):
    """Decodes pictures one after another in a separate thread."""

    decoded = QtCore.Signal(object, object)
    """The given key, and the `QImage`; a null image if the bytes are not a picture."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._thread = _DecodingThread()
        self._done: Signal[tuple[Any, QImage]] = Signal()
        relay = Relay(self._done, keep="every", parent=self)
        relay.received.connect(self._tell)
        self.destroyed.connect(self._thread.close)

    def decode(self, key: Any, data: bytes, most: QSize | None = None) -> None:
        """Decode `data`, and scale it down if it is larger than `most`."""
        done = self._done
        self._thread.pool.submit(lambda: done.send((key, read_picture(data, most))))

    def _tell(self, made: tuple[tuple[Any, QImage], ...]) -> None:
        for key, image in made:
            self.decoded.emit(key, image)


def read_picture(data: bytes, most: QSize | None = None) -> QImage:
    """Return a picture, scaled down if it is larger than `most`; a null picture if it cannot be read."""
    if not data:
        return QImage()
    content = QByteArray(data)
    buffer = QBuffer(content)
    buffer.open(QIODevice.OpenModeFlag.ReadOnly)
    reader = QImageReader(buffer)
    size = reader.size()
    if most is not None and (size.width() > most.width() or size.height() > most.height()):
        reader.setScaledSize(size.scaled(most, Qt.AspectRatioMode.KeepAspectRatio).expandedTo(QSize(1, 1)))
    return reader.read()
