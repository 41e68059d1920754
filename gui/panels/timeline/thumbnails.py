"""Small pictures of the steps in view, in a cache of a fixed size."""

from collections import OrderedDict
from collections.abc import Iterable

from PySide6.QtCore import QObject, QSize, Signal
from PySide6.QtGui import QImage

from core.debugger.timeline.views import FilmPictures
from core.schema.step import BlobHash
from gui.widgets.decoding import PictureDecoder

MOST_BYTES = 16 * 1024 * 1024
"""What all thumbnails together may take; the ones used longest ago go first."""
_AT_ONCE = 6
"""Pictures that are asked for together: what is scrolled away meanwhile is not asked for."""


class Thumbnails(QObject):
    """Asks for the pictures that are wanted now and makes them small in a thread of its own."""

    wanted = Signal(object)
    """A tuple of names of blobs; `show_pictures` answers it."""
    changed = Signal()
    """One more is there."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._made: OrderedDict[BlobHash, QImage] = OrderedDict()
        self._bytes = 0
        self._size = QSize()
        self._in_view: tuple[BlobHash, ...] = ()
        self._asked: frozenset[BlobHash] = frozenset()
        self._decoding: set[BlobHash] = set()
        self._decoder = PictureDecoder(self)
        self._decoder.decoded.connect(self._keep)

    @property
    def bytes(self) -> int:
        """What the thumbnails take."""
        return self._bytes

    def set_size(self, size: QSize) -> None:
        """Make them this large at most; those of another size are made again."""
        if size != self._size:
            self._size = size
            self._made.clear()
            self._bytes = 0

    def of(self, name: BlobHash) -> QImage | None:
        """Return a thumbnail, a null one where the picture cannot be read, and None where it is not there yet."""
        found = self._made.get(name)
        if found is not None:
            self._made.move_to_end(name)
        return found

    def want(self, names: Iterable[BlobHash]) -> None:
        """Ask for those that are missing; those that were wanted before are not wanted any more."""
        self._in_view = tuple(names)
        self._ask()

    def show_pictures(self, view: FilmPictures) -> None:
        """Take what was asked for."""
        self._asked = frozenset()
        for name, data in view.pictures:
            if name in self._in_view and name not in self._made:
                self._decoding.add(name)
                self._decoder.decode((name, self._size), data, self._size)
        self._ask()

    def _ask(self) -> None:
        if self._asked or self._size.isEmpty() or len(self._decoding) > _AT_ONCE:
            return
        missing = (name for name in self._in_view if name not in self._made and name not in self._decoding)
        names = tuple(dict.fromkeys(missing))[:_AT_ONCE]
        if names:
            self._asked = frozenset(names)
            self.wanted.emit(names)

    def _keep(self, key: tuple[BlobHash, QSize], image: QImage) -> None:
        name, size = key
        self._decoding.discard(name)
        if size == self._size:
            self._made[name] = image
            self._bytes += image.sizeInBytes()
            while self._bytes > MOST_BYTES and len(self._made) > 1:
                self._bytes -= self._made.popitem(last=False)[1].sizeInBytes()
            self.changed.emit()
        self._ask()
