"""Documents as msgpack bytes or JSON text, with limits on everything a stranger may send.

`encode` and `encode_json` write what this side made itself. `decode` and `decode_json` read what
came from the other side: they either return a plain document within the limits or raise
`CodecError` with a stable code; no input makes them raise anything else or use memory beyond a
small multiple of the message. The two are twins: a document passes both or neither. What a
document means is no matter of this file; `wire` makes messages of documents.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any, NoReturn

import msgpack
import msgspec

from towerhall_protocol.plain_faults import NOT_UTF8, said

MAX_INTEGER = (1 << 53) - 1
"""Integers beyond this change silently in JavaScript."""


class CodecLimits(msgspec.Struct, frozen=True):
    """How large and how deep one message may be."""

    message_bytes: int
    string_bytes: int
    array_items: int
    map_items: int
    depth: int


FROM_CLIENT = CodecLimits(
    message_bytes=4096, string_bytes=1200, array_items=64, map_items=32, depth=8
)
FROM_SERVER = CodecLimits(
    message_bytes=1 << 20, string_bytes=1 << 16, array_items=1 << 14, map_items=1 << 12, depth=16
)


class CodecError(ValueError):
    """The data is not a message; `code` is the stable reason, `params` fill in its hint."""

    def __init__(
        self, code: str, detail: str, params: Mapping[str, int | str] | None = None
    ) -> None:
        super().__init__(f"{code}: {detail}")
        self.code = code
        self.detail = detail
        self.params = {"detail": detail} if params is None else params


_encode_msgpack = msgspec.msgpack.Encoder().encode
_encode_json = msgspec.json.Encoder().encode


def encode(document: object) -> bytes:
    """The document, or the message, as msgpack."""
    return _encode_msgpack(document)


def encode_json(document: object) -> str:
    """The document, or the message, as JSON without spaces."""
    return _encode_json(document).decode()


def canonical(document: object) -> bytes:
    """The same bytes for equal documents, whatever the order of their keys: for comparing."""
    return encode(_sorted(document))


def canonical_json(document: object) -> bytes:
    """The JSON text of RFC 8785 for a document of integers whose keys are ASCII: keys are sorted,
    nothing is spaced, and as little as possible is escaped."""
    return msgspec.json.encode(document, order="sorted")


def decode(data: bytes, limits: CodecLimits = FROM_CLIENT) -> object:
    """One plain document from the bytes, all of them."""
    if len(data) > limits.message_bytes:
        raise _too_large(len(data), limits)
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
    except msgpack.StackError:
        raise _too_deep() from None
    except (ValueError, OverflowError, msgpack.UnpackException) as error:
        # A broken limit, bad UTF-8, a truncated or an overlong message all come this way.
        raise _malformed(said(error)) from None
    _check((document,), limits.depth)
    return document


def decode_json(text: str | bytes, limits: CodecLimits = FROM_CLIENT) -> object:
    """One plain document from the text, all of it."""
    try:
        data, text = (text.encode(), text) if isinstance(text, str) else (text, text.decode())
    except UnicodeError:
        raise _malformed(NOT_UTF8) from None
    if len(data) > limits.message_bytes:
        raise _too_large(len(data), limits)
    try:
        document = _read_json(text)
    except CodecError:
        raise
    except ValueError as error:
        raise _malformed(said(error)) from None
    except RecursionError:
        raise _too_deep() from None
    _check((document,), limits.depth)
    _check_sizes((document,), limits)
    return document


def _too_large(size: int, limits: CodecLimits) -> CodecError:
    most = limits.message_bytes
    return CodecError("message_too_large", f"{size} > {most} bytes", {"most": most})


def _too_deep() -> CodecError:
    return CodecError("nested_too_deep", "more levels than allowed")


def _malformed(detail: str) -> CodecError:
    return CodecError("malformed_message", detail)


def _unique_keys(pairs: list[tuple[str, object]]) -> dict[str, object]:
    document = dict(pairs)
    if len(document) != len(pairs):
        raise _malformed("a key occurs twice")
    for key in document:
        if type(key) is not str:
            raise _malformed("a key is not a string")
    return document


def _check(items: Iterable[Any], depth: int) -> None:
    """Refuse what the two codecs and the languages of clients do not share."""
    if not depth:
        raise _too_deep()
    for item in items:
        kind = type(item)
        if kind is str:
            continue
        if kind is int:
            if not -MAX_INTEGER <= item <= MAX_INTEGER:
                raise _out_of_range()
        elif kind is dict:
            if item:
                _check(item.values(), depth - 1)
        elif kind is list:
            if item:
                _check(item, depth - 1)
        elif not (item is None or kind is bool):
            raise _malformed(f"{_UNUSED.get(kind, 'such a value')} is not used here")


_UNUSED: Mapping[type[object], str] = {float: "a fraction", bytes: "a value of bytes"}


def _check_sizes(items: Iterable[object], limits: CodecLimits) -> None:
    """The limits that msgpack keeps by itself, for what a JSON reader made."""
    for item in items:
        if isinstance(item, str):
            try:
                size = len(item.encode())
            except UnicodeEncodeError:
                raise _malformed("half a surrogate pair") from None
            if size > limits.string_bytes:
                raise _malformed(f"a text has {size} > {limits.string_bytes} bytes")
        elif isinstance(item, dict):
            if len(item) > limits.map_items:
                raise _malformed(f"a map has {len(item)} > {limits.map_items} keys")
            _check_sizes(item, limits)
            _check_sizes(item.values(), limits)
        elif isinstance(item, list):
            if len(item) > limits.array_items:
                raise _malformed(f"an array has {len(item)} > {limits.array_items} items")
            _check_sizes(item, limits)


def _out_of_range() -> CodecError:
    return CodecError("number_out_of_range", "an integer is beyond 2^53 - 1")


def _integer(digits: str) -> int:
    # Before it is a number: the time to read one grows faster than its length.
    if len(digits) > len(str(-MAX_INTEGER)):
        raise _out_of_range()
    return int(digits)


def _no_float(text: str) -> NoReturn:
    raise _malformed(f"{text[:20]} is not used here")


_read_json = json.JSONDecoder(
    object_pairs_hook=_unique_keys,
    parse_int=_integer,
    parse_float=_no_float,
    parse_constant=_no_float,
).decode


def _sorted(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _sorted(value[key]) for key in sorted(value)}
    if isinstance(value, list | tuple):
        return [_sorted(item) for item in value]
    return value
