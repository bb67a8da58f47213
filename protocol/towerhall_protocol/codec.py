"""Documents as msgpack bytes, with limits on everything a stranger may send.

`encode` writes what the server made itself. `decode` reads what came from the other side: it
either returns a plain document within the limits or raises `CodecError` with a stable code; no
input makes it raise anything else or use memory beyond a small multiple of the message.
"""

from typing import Any

import msgpack
import msgspec

MAX_INTEGER = (1 << 53) - 1
"""Integers beyond this change silently in JavaScript."""


class Limits(msgspec.Struct, frozen=True):
    """How large and how deep one message may be."""

    message_bytes: int
    string_bytes: int
    array_items: int
    map_items: int
    depth: int


FROM_CLIENT = Limits(message_bytes=4096, string_bytes=512, array_items=64, map_items=32, depth=8)
FROM_SERVER = Limits(
    message_bytes=1 << 20, string_bytes=1 << 16, array_items=1 << 14, map_items=1 << 12, depth=16
)


class CodecError(ValueError):
    """The bytes are not a message; `code` says why and is stable."""

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(f"{code}: {detail}")
        self.code = code
        self.detail = detail


def encode(document: object) -> bytes:
    """The document as msgpack."""
    packed: bytes = msgpack.packb(document)
    return packed


def canonical(document: object) -> bytes:
    """The same bytes for equal documents, whatever the order of their keys: for comparing."""
    return encode(_sorted(document))


def decode(data: bytes, limits: Limits = FROM_CLIENT) -> object:
    """One plain document from the bytes, all of them."""
    if len(data) > limits.message_bytes:
        raise CodecError("message_too_large", f"{len(data)} > {limits.message_bytes} bytes")
    try:
        document = msgpack.unpackb(
            data,
            strict_map_key=True,
            object_pairs_hook=_unique_keys,
            max_str_len=limits.string_bytes,
            max_array_len=limits.array_items,
            max_map_len=limits.map_items,
            max_bin_len=0,
            max_ext_len=0,
        )
    except CodecError:
        raise
    except (ValueError, OverflowError, msgpack.UnpackException) as error:
        # msgpack names a broken limit, bad UTF-8, a truncated or an overlong message all this way.
        raise CodecError("malformed_message", str(error) or type(error).__name__) from None
    _check(document, limits.depth)
    return document


def _unique_keys(pairs: list[tuple[str, object]]) -> dict[str, object]:
    document = dict(pairs)
    if len(document) != len(pairs):
        raise CodecError("malformed_message", "a key occurs twice")
    return document


def _check(root: object, depth: int) -> None:
    """Refuse what the two codecs and the languages of clients do not share."""
    level: list[object] = [root]
    for _ in range(depth):
        inner: list[object] = []
        for item in level:
            if isinstance(item, dict):
                inner.extend(item.values())
                if any(type(key) is not str for key in item):
                    raise CodecError("malformed_message", "a key is not a string")
            elif isinstance(item, list):
                inner.extend(item)
            elif isinstance(item, int):
                if not -MAX_INTEGER <= item <= MAX_INTEGER:
                    raise CodecError("number_out_of_range", "an integer is beyond 2^53 - 1")
            elif not (item is None or isinstance(item, str)):
                raise CodecError("malformed_message", f"{type(item).__name__} is not used here")
        if not inner:
            return
        level = inner
    raise CodecError("nested_too_deep", f"more than {depth} levels")


def _sorted(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _sorted(value[key]) for key in sorted(value)}
    if isinstance(value, list | tuple):
        return [_sorted(item) for item in value]
    return value
