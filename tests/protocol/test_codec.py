"""The codec: whatever the server makes comes through; whatever else arrives is refused by code."""

import math
from collections.abc import Iterator

import msgpack
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.protocol.documents import documents, values
from towerhall_protocol.codec import (
    FROM_CLIENT,
    FROM_SERVER,
    MAX_INTEGER,
    CodecError,
    CodecLimits,
    canonical,
    decode,
    encode,
)

WIDE = CodecLimits(
    message_bytes=1 << 16, string_bytes=1 << 12, array_items=1 << 8, map_items=1 << 8, depth=64
)
CODES = {"malformed_message", "number_out_of_range", "nested_too_deep"}


def refusal(data: bytes, limits: CodecLimits = FROM_CLIENT) -> str:
    """The code by which these bytes are refused."""
    with pytest.raises(CodecError) as caught:
        decode(data, limits)
    assert str(caught.value) == f"{caught.value.code}: {caught.value.detail}"
    return caught.value.code


def verdict(data: bytes, limits: CodecLimits) -> str:
    """`ok` for a document that comes through again, or else the code of the refusal."""
    try:
        document = decode(data, limits)
    except CodecError as error:
        return error.code
    return "ok" if canonical(decode(encode(document), limits)) == canonical(document) else "changed"


def nested(levels: int) -> bytes:
    """Arrays in arrays, the innermost empty."""
    return b"\x91" * (levels - 1) + b"\x90"


@given(values)
def test_a_document_comes_through_the_wire(document: object) -> None:
    assert canonical(decode(encode(document), WIDE)) == canonical(document)


def test_nothing_true_and_false_come_through_as_themselves() -> None:
    document: dict[str, object] = {"a": None, "b": [True, False, 0, 1, -1], "c": {}, "d": "é☃𝄞"}
    decoded = decode(encode(document))
    assert decoded == document
    assert repr(decoded) == repr(document)


@given(documents)
def test_canonical_bytes_do_not_depend_on_the_order_of_keys(document: dict[str, object]) -> None:
    assert canonical(_turned(document)) == canonical(document)


def _turned(value: object) -> object:
    if isinstance(value, dict):
        return {key: _turned(value[key]) for key in reversed(value)}
    if isinstance(value, list | tuple):
        return tuple(map(_turned, value))
    return value


@given(values, values)
def test_canonical_bytes_tell_documents_apart(one: object, other: object) -> None:
    if canonical(one) == canonical(other):
        assert decode(canonical(one), WIDE) == decode(canonical(other), WIDE)
    assert canonical([one, False]) != canonical([one, 0])


@given(st.binary(max_size=200))
@example(b"")
@example(b"\xc1")
@example(b"\x81\xa1a")
@example(b"\xdf\xff\xff\xff\xff")
@example(b"\xdd\xff\xff\xff\xff" * 100)
@example(b"\xc7\x0c\xff\xff\xff\xff\xff\x00\x00\x00\x00\x00\x00\x00\x00")
def test_any_bytes_are_a_document_or_a_codec_error(data: bytes) -> None:
    code = verdict(data, FROM_CLIENT)
    assert code in {"ok", *CODES}


@given(documents, st.data())
def test_damaged_bytes_are_a_document_or_a_codec_error(
    document: dict[str, object], data: st.DataObject
) -> None:
    packed = bytearray(encode(document))
    for _ in range(data.draw(st.integers(1, 4))):
        packed[data.draw(st.integers(0, len(packed) - 1))] = data.draw(st.integers(0, 255))
    code = verdict(bytes(packed), WIDE)
    assert code in {"ok", *CODES}


def test_a_message_cut_at_any_byte_is_refused() -> None:
    document = {"a": [1, -300, 70000, MAX_INTEGER], "long": "x" * 300, "m": {"b": [True] * 20}}
    packed = encode(document)
    for size in range(len(packed)):
        assert refusal(packed[:size]) == "malformed_message"
    assert decode(packed) == document


@pytest.mark.parametrize("tail", [b"\x00", b"\xc0", b"\xc1", b"\x80"])
def test_bytes_after_the_document_are_refused(tail: bytes) -> None:
    assert refusal(encode({"a": 1}) + tail) == "malformed_message"


def at_limit_and_beyond(limits: CodecLimits) -> Iterator[tuple[str, object, object]]:
    """Code, the largest document allowed, and one that is larger by one."""
    text, items, keys = limits.string_bytes, limits.array_items, limits.map_items
    yield "malformed_message", "x" * text, "x" * (text + 1)
    yield "malformed_message", {"y" * text: 1}, {"y" * (text + 1): 1}
    yield "malformed_message", "é" * (text // 2), "é" * (text // 2 + 1)
    yield "malformed_message", [0] * items, [0] * (items + 1)
    yield "malformed_message", [[0] * items], [[0] * (items + 1)]
    yield "malformed_message", dict.fromkeys(_names(keys), 0), dict.fromkeys(_names(keys + 1), 0)


def _names(count: int) -> list[str]:
    return [f"k{number}" for number in range(count)]


@pytest.mark.parametrize("limits", [FROM_CLIENT, FROM_SERVER, WIDE])
def test_each_limit_allows_its_value_and_refuses_one_more(limits: CodecLimits) -> None:
    for code, largest, larger in at_limit_and_beyond(limits):
        assert decode(encode(largest), limits) == largest
        assert refusal(encode(larger), limits) == code


@pytest.mark.parametrize("limits", [FROM_CLIENT, FROM_SERVER])
def test_a_message_may_have_as_many_bytes_as_the_limit_says(limits: CodecLimits) -> None:
    whole = ["x" * 200] * (limits.message_bytes // 202 - 1)
    candidates = (encode([*whole, "y" * size, *tail]) for size in range(400) for tail in ([], [0]))
    packed = next(data for data in candidates if len(data) == limits.message_bytes)
    assert encode(decode(packed, limits)) == packed
    assert refusal(packed + b"\x00", limits) == "message_too_large"


def test_too_many_bytes_are_refused_before_anything_else() -> None:
    assert refusal(b"\xc1" * (FROM_CLIENT.message_bytes + 1)) == "message_too_large"


@pytest.mark.parametrize("limits", [FROM_CLIENT, FROM_SERVER])
@pytest.mark.parametrize("levels", [1, 2, 7, 8, 9, 15, 16, 17, 500, 1000, 1023, 1024, 1025, 2000])
def test_nesting_is_allowed_to_the_limit(limits: CodecLimits, levels: int) -> None:
    if levels <= limits.depth:
        assert encode(decode(nested(levels), limits)) == nested(levels)
    else:
        code = refusal(nested(levels), limits)
        assert code in {"nested_too_deep", "malformed_message"}
        assert levels > 1000 or code == "nested_too_deep"


@pytest.mark.parametrize("levels", [1, 8, 9, 300, 1000, 1300])
def test_nested_maps_count_like_arrays(levels: int) -> None:
    packed = b"\x81\xa1a" * (levels - 1) + b"\x80"
    if levels <= FROM_CLIENT.depth:
        assert encode(decode(packed)) == packed
    else:
        assert refusal(packed) in {"nested_too_deep", "malformed_message"}


def test_values_count_as_a_level_of_their_own() -> None:
    limits = CodecLimits(message_bytes=99, string_bytes=9, array_items=9, map_items=9, depth=2)
    assert decode(encode([1]), limits) == [1]
    assert refusal(encode([[1]]), limits) == "nested_too_deep"


@pytest.mark.parametrize("number", [MAX_INTEGER, -MAX_INTEGER])
def test_the_largest_integers_come_through(number: int) -> None:
    assert decode(encode({"n": [number]})) == {"n": [number]}


@pytest.mark.parametrize("number", [1 << 53, -(1 << 53), (1 << 64) - 1, -(1 << 63)])
def test_larger_integers_are_out_of_range(number: int) -> None:
    assert refusal(encode(number)) == "number_out_of_range"
    assert refusal(encode({"n": [number]})) == "number_out_of_range"


TIMESTAMP = msgpack.packb(msgpack.Timestamp(1, 2))
FOREIGN = {
    "float": msgpack.packb(1.5),
    "whole float": msgpack.packb(1.0),
    "short float": msgpack.packb(1.5, use_single_float=True),
    "nan": msgpack.packb(math.nan),
    "infinity": msgpack.packb(-math.inf),
    "binary": msgpack.packb(b"x"),
    "empty binary": msgpack.packb(b""),
    "extension": msgpack.packb(msgpack.ExtType(5, b"x")),
    "empty extension": msgpack.packb(msgpack.ExtType(5, b"")),
    "timestamp of 4 bytes": msgpack.packb(msgpack.Timestamp(1)),
    "timestamp of 8 bytes": TIMESTAMP,
    "timestamp of 12 bytes": msgpack.packb(msgpack.Timestamp(1 << 40, 2)),
    "broken text": b"\xa2\xc3\x28",
    "half a surrogate pair": b"\xa3\xed\xa0\x80",
    "reserved byte": b"\xc1",
}


@pytest.mark.parametrize("data", FOREIGN.values(), ids=FOREIGN)
def test_what_other_languages_do_not_share_is_refused(data: bytes) -> None:
    assert refusal(data) == "malformed_message"
    assert refusal(b"\x91" + data) == "malformed_message"
    assert refusal(b"\x81\xa1a" + data) == "malformed_message"
    assert refusal(b"\x81" + data + b"\x00") == "malformed_message"


@pytest.mark.parametrize("key", [0, -1, 1 << 63, True, None, 1.5, b"", b"a", [], ["a"], {}])
def test_a_key_that_is_not_text_is_refused(key: object) -> None:
    packed = b"\x81" + msgpack.packb(key) + b"\x00"
    assert refusal(packed) == "malformed_message"
    assert refusal(b"\x91" + packed) == "malformed_message"


def test_a_key_given_twice_is_refused() -> None:
    assert refusal(b"\x82\xa1a\x01\xa1a\x02") == "malformed_message"
    assert refusal(b"\x91\x82\xa1a\x01\xa1a\x01") == "malformed_message"
    # The same key, once in its short and once in a longer form.
    assert refusal(b"\x82\xa1a\x01\xd9\x01a\x01") == "malformed_message"


def test_a_header_that_promises_more_than_the_limits_is_refused_at_once() -> None:
    for header in (b"\xdb", b"\xdd", b"\xdf", b"\xc6", b"\xc9"):
        assert refusal(header + b"\xff" * 8, FROM_SERVER) == "malformed_message"
