"""Large things, compressed and stored once under the hash of their content.

Much of it is almost what was stored a moment ago: a page with one field
filled in, a prompt with one more step. Such a blob is compressed with the
earlier one as its dictionary, which leaves only the difference; a dictionary
never has one itself, so two rows are all it takes to read any blob.
"""

import hashlib
import json
from collections import deque
from collections.abc import Mapping
from typing import Any, NamedTuple

import zstandard

from core.schema.errors import TraceError
from core.schema.step import BlobHash
from core.storage.compression import LEVEL, as_dictionary, compress, decompress
from core.storage.database import DatabaseFile

_COMPRESSED_ALREADY = (
    "image/webp",
    "image/jpeg",
    "image/png",
    "image/gif",
    "application/zip",
    "application/gzip",
)
SMALL = 128 * 1024
"""Bytes up to which trying dictionaries costs less than a millisecond."""
_TINY = 64
"""Bytes below which nothing is gained."""
_DICTIONARIES = 4
"""How many earlier blobs of a media type are tried as the dictionary of the next."""
_WORTH = 0.7
"""What part of its size a blob may have left for its dictionary to be used."""


def hash_of(data: bytes) -> BlobHash:
    return hashlib.sha256(data).hexdigest()


class _Earlier(NamedTuple):
    id: int
    hash: BlobHash
    compressor: zstandard.ZstdCompressor


class Blobs:
    """The blobs of one database; every method works inside the transaction that is open."""

    def __init__(self, database: DatabaseFile) -> None:
        self._database = database
        self._earlier: dict[str, deque[_Earlier]] = {}
        self._renamed: dict[BlobHash, BlobHash] = {}
        """What has become of blobs that were changed since they were named."""

    def put(self, data: bytes, media_type: str, *, whole: bool = False) -> tuple[int, BlobHash]:
        """Store `data` unless it is there already; returns the row's id and the hash. Secrets stay only if `whole`."""
        if media_type not in _COMPRESSED_ALREADY and not whole:
            data = self._database.secrets.data(data)
        name = hash_of(data)
        if (known := self.id_if_known(name)) is not None:
            return known, name
        encoding, stored, dictionary = "identity", data, None
        if media_type not in _COMPRESSED_ALREADY and len(data) >= _TINY:
            compressed = compress(data)
            if len(compressed) < len(data):
                encoding, stored = "zstd", compressed
            if len(data) <= SMALL:
                stored, dictionary = self._against_earlier(data, media_type, stored)
                encoding = "zstd" if dictionary else encoding
        row = self._database.insert(
            "blobs",
            {
                "hash": name,
                "media_type": media_type,
                "encoding": encoding,
                "dictionary": dictionary,
                "size": len(data),
                "data": stored,
            },
        )
        if encoding == "zstd" and dictionary is None and len(data) <= SMALL:
            earlier = self._earlier.setdefault(media_type, deque(maxlen=_DICTIONARIES))
            shared = as_dictionary(data)
            shared.precompute_compress(level=LEVEL)
            earlier.append(_Earlier(row, name, zstandard.ZstdCompressor(level=LEVEL, dict_data=shared)))
        return row, name

    def put_damaged(self, name: BlobHash) -> tuple[int, BlobHash]:
        """Store nothing under a hash, which reads as damage; returns the row's id and the hash."""
        values = {"hash": name, "media_type": "", "encoding": "zstd", "size": 0, "data": b""}
        return self._database.insert("blobs", values), name

    def name_of(self, id: int) -> BlobHash:
        """Return the hash of a row."""
        row = self._database.row("SELECT hash FROM blobs WHERE id = ?", (id,))
        return "" if row is None else str(row["hash"])

    def id_of(self, name: BlobHash) -> int | None:
        """Return the row of a blob that is stored, None for no name; raises TraceError for an unknown one."""
        if not name:
            return None
        known = self.id_if_known(name)
        if known is None:
            raise TraceError(
                f"The trace database {self._database.path} has no blob {name}; store the blob before you refer to it."
            )
        return known

    def get(self, name: BlobHash) -> tuple[bytes, str]:
        """Return content and media type.

        Raises TraceError if the blob is missing, or is not what its name says.
        """
        row = self._database.row(f"{_SELECT} WHERE blobs.hash = ?", (self._renamed.get(name, name),))
        if row is None:
            raise TraceError(
                f"The trace database {self._database.path} has no blob {name or 'without a name'}."
            )
        return self._content(row), row["media_type"]

    def content(self, id: int) -> bytes:
        """Return the content of a row; raises TraceError as `get` does."""
        return self.content_and_type(id)[0]

    def content_and_type(self, id: int) -> tuple[bytes, str]:
        """Return content and media type of a row; raises TraceError as `get` does."""
        row = self._database.row(f"{_SELECT} WHERE blobs.id = ?", (id,))
        if row is None:
            raise TraceError(f"The trace database {self._database.path} has lost blob number {id}.")
        return self._content(row), row["media_type"]

    def id_if_known(self, name: BlobHash) -> int | None:
        """Return the row of a blob, None if there is none of that name."""
        row = self._database.row("SELECT id FROM blobs WHERE hash = ?", (self._renamed.get(name, name),))
        return None if row is None else int(row["id"])

    def rename(self, names: Mapping[int, BlobHash]) -> None:
        """Delete blobs, each of which goes by the name of another one from now on."""
        ids = (json.dumps(list(names)),)
        chosen = "IN (SELECT value FROM json_each(?))"
        for row in self._database.rows(f"{_SELECT_WITH_ID} WHERE blobs.dictionary {chosen}", ids):
            values = {"data": compress(self._content(row)), "dictionary": None}
            self._database.update("blobs", {"id": row["id"]}, values)
        became = {self.name_of(id): name for id, name in names.items()}
        self._renamed = {old: became.get(new, new) for old, new in self._renamed.items()} | became
        self._database.execute(f"DELETE FROM blobs WHERE id {chosen}", ids)
        self.forget()

    def forget(self) -> None:
        """Use no earlier blob as a dictionary any more: what was put last may not have been committed."""
        self._earlier.clear()

    def _against_earlier(self, data: bytes, media_type: str, plain: bytes) -> tuple[bytes, int | None]:
        tried = [
            (earlier.compressor.compress(data), earlier) for earlier in self._earlier.get(media_type, ())
        ]
        best, dictionary = min(tried, key=lambda one: len(one[0]), default=(plain, None))
        if dictionary is None or len(best) >= len(plain) * _WORTH:
            return plain, None
        if self.id_if_known(dictionary.hash) != dictionary.id:
            self.forget()  # Another process has deleted what nothing referred to.
            return plain, None
        return best, dictionary.id

    def _content(self, row: dict[str, Any]) -> bytes:
        data = row["data"]
        try:
            if row["encoding"] == "zstd":
                data = decompress(data, self._dictionary(row))
        except (zstandard.ZstdError, TypeError) as error:
            raise TraceError(self._damaged(row)) from error
        if not isinstance(data, bytes) or hash_of(data) != row["hash"]:
            raise TraceError(self._damaged(row))
        return data

    def _dictionary(self, row: dict[str, Any]) -> bytes | None:
        if row["dictionary"] is None:
            return None
        shared = self._database.row(f"{_SELECT} WHERE blobs.id = ?", (row["dictionary"],))
        if shared is None or shared["dictionary"] is not None:
            raise TraceError(self._damaged(row))
        return self._content(shared)

    def _damaged(self, row: dict[str, Any]) -> str:
        return (
            f"The blob {str(row['hash'])[:12]}… in the trace database {self._database.path} is damaged; "
            "other blobs can still be read."
        )


_SELECT_WITH_ID = "SELECT id, hash, media_type, encoding, dictionary, data FROM blobs"
_SELECT = "SELECT hash, media_type, encoding, dictionary, data FROM blobs"
