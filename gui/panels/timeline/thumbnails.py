"""Small pictures of the steps in view, in a cache of a fixed size."""

from collections import OrderedDict
from collections.abc import Iterable, Mapping

from PySide6.QtCore import QObject, QSize, Signal
from PySide6.QtGui import QImage

from core.schema.step import BlobHash
from gui.widgets.decoding import PictureDecoder

MOST_BYTES = 16 * 1024 * 1024
"""Maximum size of all thumbnails together; the least recently used are removed first."""
_AT_ONCE = 6
"""Number of pictures requested at once. Pictures that are scrolled out of view before their turn are not requested.
"""


class Thumbnails(QObject):
    """Requests the pictures that are needed now and scales them down in a separate thread."""

    wanted = Signal(object)
    """A tuple of names of blobs; `show_pictures` receives the answer."""
    changed = Signal()
    """Another thumbnail is available."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._made: OrderedDict[BlobHash, QImage] = OrderedDict()
        self._size = QSize()
        self._in_view: tuple[BlobHash, ...] = ()
        self._pending: set[BlobHash] = set()
        """Those that were requested and are not made yet."""
        self._decoder = PictureDecoder(self)
        self._decoder.decoded.connect(self._keep)

    @property
    def total_bytes(self) -> int:
        """The total size of the thumbnails."""
        return sum(image.sizeInBytes() for image in self._made.values())

    def set_size(self, size: QSize) -> None:
        """Set the maximum size of thumbnails; those of another size are created again."""
        if size != self._size:
            self._size = size
            self._made.clear()

    def of(self, name: BlobHash) -> QImage | None:
        """Return a thumbnail, a null one if the picture cannot be read, or None if it is not available yet."""
        found = self._made.get(name)
        if found is not None:
            self._made.move_to_end(name)
        return found

    def want(self, names: Iterable[BlobHash]) -> None:
        """Request the missing ones of these; earlier requests are dropped."""
        self._in_view = tuple(names)
        self._ask()

    def show_pictures(self, pictures: Mapping[BlobHash, bytes]) -> None:
        """Receive the requested pictures."""
        for name, data in pictures.items():
            self._decoder.decode((name, self._size), data, self._size)

    def _ask(self) -> None:
        missing = dict.fromkeys(name for name in self._in_view if name not in self._made)
        if missing and not self._pending and not self._size.isEmpty():
            names = tuple(missing)[:_AT_ONCE]
            self._pending.update(names)
            self.wanted.emit(names)

    def _keep(self, key: tuple[BlobHash, QSize], image: QImage) -> None:
        name, size = key
        self._pending.discard(name)
        if size == self._size:
            self._made[name] = image
            while self.total_bytes > MOST_BYTES and len(self._made) > 1:
                self._made.popitem(last=False)
            self.changed.emit()
        self._ask()
