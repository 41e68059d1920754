"""Compression of content in databases: zstd with the size in the frame, and a limit for decompression."""

import zstandard

LEVEL = 3
LARGEST = 256 << 20
"""Bytes that content may have, unpacked: what is larger is not unpacked."""


def compress(data: bytes) -> bytes:
    return zstandard.ZstdCompressor(level=LEVEL).compress(data)


def decompress(data: bytes, dictionary: bytes | None = None) -> bytes:
    """Raises zstandard.ZstdError where `data` is not whole, or more than `LARGEST` when it is unpacked."""
    if (size := zstandard.frame_content_size(data)) > LARGEST:
        raise zstandard.ZstdError(f"{size} bytes are more than the limit for decompression")
    if dictionary is None:
        return zstandard.ZstdDecompressor().decompress(data)
    return zstandard.ZstdDecompressor(dict_data=as_dictionary(dictionary)).decompress(data)


def as_dictionary(data: bytes) -> zstandard.ZstdCompressionDict:
    """Return content as a dictionary for content that is almost like it."""
    return zstandard.ZstdCompressionDict(data, dict_type=zstandard.DICT_TYPE_RAWCONTENT)
