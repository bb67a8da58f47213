"""Hints in plain words: whatever a stranger sends, no library is named."""

import json
from typing import Literal

import msgpack
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from towerhall_protocol.codec import CodecError, decode, decode_json
from towerhall_protocol.plain_faults import said
from towerhall_protocol.wire import read_client, without_nulls

JARGON = (
    "codec",
    "utf-8'",
    "unpack",
    "`",
    "max_",
    "$",
    "Object",
    "Expected",
    "line 1",
    "0x",
    "int64",
)


class Inner(msgspec.Struct, forbid_unknown_fields=True):
    number: int
    texts: tuple[str, str] = ("", "")
    choice: Literal["a", "b"] = "a"


class Outer(msgspec.Struct):
    inner: Inner
    flag: bool = False


@pytest.mark.parametrize(
    ("document", "plain"),
    [
        ({}, "inner is missing"),
        ({"inner": 1}, "inner: a map is expected, not a whole number"),
        ({"inner": {"number": "1"}}, "inner.number: a whole number is expected, not a text"),
        ({"inner": {"number": 1, "x": 1}}, "inner: there is no key x"),
        (
            {"inner": {"number": 1, "texts": ["a"]}},
            "inner.texts: a list has to have exactly 2 items",
        ),
        (
            {"inner": {"number": 1, "choice": "c"}},
            "inner.choice: 'c' is not one of the possible values",
        ),
        (
            {"inner": {"number": 1}, "flag": 1},
            "flag: true or false is expected, not a whole number",
        ),
    ],
)
def test_another_shape_is_told_with_its_place(document: object, plain: str) -> None:
    with pytest.raises(msgspec.ValidationError) as error:
        msgspec.convert(document, Outer)
    assert said(error.value) == plain


@pytest.mark.parametrize(
    ("data", "plain"),
    [
        (b"", "it is cut off"),
        (b"\xa1\xff", "a text is not UTF-8"),
        (b"\x01\x01", "there is something after the end"),
        (msgpack.packb("x" * 1201), "1201 bytes of text are more than 1200"),
        (msgpack.packb([0] * 65), "65 items are more than 64"),
        (msgpack.packb({1: 2}), "a key is not a text"),
        (msgpack.packb(b"x"), "bytes and extensions are not used here"),
        (msgpack.packb(1.5), "a fraction is not used here"),
    ],
)
def test_data_that_is_no_document_is_told_in_plain_words(data: bytes, plain: str) -> None:
    with pytest.raises(CodecError) as error:
        decode(data)
    assert error.value.params["detail"] == plain


def detail_of(data: bytes | str) -> str:
    try:
        read_client(decode_json(data) if isinstance(data, str) else decode(data))
    except CodecError as error:
        return str(error.params.get("detail", ""))
    return ""


JSONS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)
NAMES = st.sampled_from(["hello", "command", "history", "chat"])


@given(st.binary() | st.text() | JSONS.map(json.dumps) | st.tuples(NAMES, JSONS).map(json.dumps))
def test_no_hint_names_a_library(data: bytes | str) -> None:
    detail = detail_of(data)
    assert not any(word in detail for word in JARGON), detail


@pytest.mark.parametrize(
    ("given", "read"),
    [
        (
            ["command", 1, "", {"command": "sit", "seat": None}, None],
            ["command", 1, "", {"command": "sit"}],
        ),
        (["hello", {"token": "t", "cursor": None, "key": None}], ["hello", {"token": "t"}]),
        (["x", {"a": {"b": None, "c": [None, {"d": None}]}}], ["x", {"a": {"c": [None, {}]}}]),
        ({"name": None}, {}),
        (["history", None, 3], ["history", None, 3]),
    ],
)
def test_p10_a_key_that_is_null_was_left_out(given: object, read: object) -> None:
    assert without_nulls(given) == read
