"""The JSON twin of the codec: what msgpack lets through and refuses, it does too, by one code."""

import json
import sys

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.protocol.documents import documents, values
from tests.protocol.test_codec import CODES, WIDE, at_limit_and_beyond
from tests.protocol.test_codec import verdict as judged
from towerhall_protocol.codec import (
    FROM_CLIENT,
    FROM_SERVER,
    MAX_INTEGER,
    CodecError,
    CodecLimits,
    canonical,
    decode,
    decode_json,
    encode,
    encode_json,
)


def refusal(text: str | bytes, limits: CodecLimits = FROM_CLIENT) -> str:
    """The code by which this text is refused."""
    with pytest.raises(CodecError) as caught:
        decode_json(text, limits)
    return caught.value.code


def verdict(text: str | bytes, limits: CodecLimits) -> str:
    """`ok` for a document that comes through again, or else the code of the refusal."""
    try:
        document = decode_json(text, limits)
    except CodecError as error:
        return error.code
    again = decode_json(encode_json(document), limits)
    return "ok" if canonical(again) == canonical(document) else "changed"


@given(values)
def test_a_document_comes_through_as_text(document: object) -> None:
    assert canonical(decode_json(encode_json(document), WIDE)) == canonical(document)
    assert canonical(decode_json(encode_json(document).encode(), WIDE)) == canonical(document)


@given(values)
def test_the_twins_judge_alike(document: object) -> None:
    narrow = CodecLimits(message_bytes=1 << 16, string_bytes=7, array_items=2, map_items=2, depth=3)
    packed, text = encode(document), encode_json(document)
    outcome, twin = judged(packed, narrow), verdict(text, narrow)
    # One that breaks two limits may be refused for either.
    assert (outcome == "ok") == (twin == "ok")
    assert {outcome, twin} <= {"ok", *CODES}
    if outcome == "ok":
        assert canonical(decode(packed, narrow)) == canonical(decode_json(text, narrow))


def test_nothing_true_and_false_come_through_as_themselves() -> None:
    document: dict[str, object] = {"a": None, "b": [True, False, 0, 1, -1], "c": {}, "d": "é☃𝄞"}
    assert repr(decode_json(encode_json(document))) == repr(document)


def test_text_is_written_as_it_is_and_without_spaces() -> None:
    assert encode_json(["chat", {"name": "é☃𝄞"}, (1, True)]) == '["chat",{"name":"é☃𝄞"},[1,true]]'


@given(st.text(max_size=200))
@example("")
@example("\ufeff1")
@example("[1,]")
@example('{"a":1,}')
@example("// 1\n1")
@example("'a'")
@example("01")
@example("+1")
@example("\x00")
@example('"\n"')
@example("tru")
@example("[" * 100_000)
def test_any_text_is_a_document_or_a_codec_error(text: str) -> None:
    assert verdict(text, FROM_CLIENT) in {"ok", "message_too_large", *CODES}


@given(st.text('[]{}",:\\u0123dDcC89 -+eE.truefalsn', max_size=60))
def test_what_looks_like_json_is_a_document_or_a_codec_error(text: str) -> None:
    assert verdict(text, WIDE) in {"ok", *CODES}


@given(st.binary(max_size=60))
def test_any_bytes_as_text_are_a_document_or_a_codec_error(data: bytes) -> None:
    assert verdict(data, FROM_CLIENT) in {"ok", *CODES}


def test_a_text_cut_at_any_byte_is_refused() -> None:
    document = {"a": [1, -300, MAX_INTEGER], "lőng": "☃" * 30, "m": {"b": [True, None]}}
    data = encode_json(document).encode()
    for size in range(len(data)):
        assert refusal(data[:size]) == "malformed_message"
    assert decode_json(data) == document


@pytest.mark.parametrize("tail", ["0", "null", "]", ",", "{}", "\x00"])
def test_text_after_the_document_is_refused(tail: str) -> None:
    assert refusal('{"a":1}' + tail) == "malformed_message"


def test_space_around_the_document_is_allowed() -> None:
    assert decode_json(' \n[ 1 , { "a" : 2 } ]\t\r\n') == [1, {"a": 2}]


@pytest.mark.parametrize("limits", [FROM_CLIENT, FROM_SERVER, WIDE])
def test_each_limit_allows_its_value_and_refuses_one_more(limits: CodecLimits) -> None:
    for code, largest, larger in at_limit_and_beyond(limits):
        assert decode_json(encode_json(largest), limits) == largest
        assert refusal(encode_json(larger), limits) == code


def test_escapes_count_as_what_they_stand_for() -> None:
    limits = CodecLimits(message_bytes=999, string_bytes=10, array_items=9, map_items=9, depth=9)
    assert decode_json('"' + "\\u0041" * 10 + '"', limits) == "A" * 10
    assert decode_json('"' + "\\u00e9" * 5 + '"', limits) == "é" * 5
    assert refusal('"' + "\\u00e9" * 6 + '"', limits) == "malformed_message"


def test_bytes_of_the_text_are_counted_not_its_characters() -> None:
    limits = CodecLimits(message_bytes=12, string_bytes=99, array_items=9, map_items=9, depth=9)
    assert decode_json('"ééééé"', limits) == "ééééé"
    assert refusal('"éééééx"', limits) == "message_too_large"
    assert refusal('"éééééx"'.encode(), limits) == "message_too_large"
    assert refusal("x" * 13, limits) == "message_too_large"


@pytest.mark.parametrize("opening", ["[", '{"a":'])
@pytest.mark.parametrize("levels", [9, 17, 500, 2000, 200_000])
def test_deep_nesting_is_refused_and_nothing_else_happens(opening: str, levels: int) -> None:
    closing = "]" if opening == "[" else "}"
    inside = "" if opening == "[" else "1"
    limits = CodecLimits(1 << 22, 9, 9, 9, 8)
    assert refusal(opening * levels + inside + closing * levels, limits) == "nested_too_deep"
    # Cut off, and so never a document at all.
    assert refusal(opening * levels, limits) in {"nested_too_deep", "malformed_message"}


def test_a_caller_deep_in_its_own_calls_gets_a_codec_error_too() -> None:
    def descend(levels: int) -> str:
        return descend(levels - 1) if levels else verdict("[" * 3000, FROM_CLIENT)

    assert descend(sys.getrecursionlimit() - 200) == "nested_too_deep"


def test_values_count_as_a_level_of_their_own() -> None:
    limits = CodecLimits(message_bytes=99, string_bytes=9, array_items=9, map_items=9, depth=2)
    assert decode_json("[1]", limits) == [1]
    assert decode_json("[[]]", limits) == [[]]
    assert refusal("[[1]]", limits) == "nested_too_deep"


@pytest.mark.parametrize("number", [MAX_INTEGER, -MAX_INTEGER])
def test_the_largest_integers_come_through(number: int) -> None:
    assert decode_json(f"[{number}]") == [number]


@pytest.mark.parametrize(
    "digits",
    [str(1 << 53), str(-(1 << 53)), str((1 << 64) - 1), "9" * 18, "9" * 4000, "-" + "9" * 4000],
)
def test_larger_integers_are_out_of_range(digits: str) -> None:
    assert refusal(digits) == "number_out_of_range"
    assert refusal(f'{{"n":[{digits}]}}') == "number_out_of_range"


def test_an_integer_of_a_million_digits_is_out_of_range_at_once() -> None:
    assert refusal("9" * (FROM_SERVER.message_bytes - 1), FROM_SERVER) == "number_out_of_range"


FOREIGN = {
    "float": "1.5",
    "whole float": "1.0",
    "exponent": "1e3",
    "huge exponent": "1e999999",
    "minus zero float": "-0.0",
    "nan": "NaN",
    "infinity": "Infinity",
    "minus infinity": "-Infinity",
    "first half of a pair": '"\\ud800"',
    "second half of a pair": '"x\\udfffy"',
    "halves in the wrong order": '"\\udc00\\ud800"',
    "control character": '"\x01"',
    "half a pair as it is": '"\ud800"',
}


@pytest.mark.parametrize("text", FOREIGN.values(), ids=FOREIGN)
def test_what_other_languages_do_not_share_is_refused(text: str) -> None:
    assert refusal(text) == "malformed_message"
    assert refusal(f"[{text}]") == "malformed_message"
    assert refusal(f'{{"a":{text}}}') == "malformed_message"
    assert refusal(f"{{{text}:0}}") == "malformed_message"


def test_a_whole_pair_of_surrogates_is_one_character() -> None:
    assert decode_json('"\\ud83c\\udff0"') == "🏰"


def test_text_that_is_not_utf8_is_refused() -> None:
    assert refusal(b'"\xff"') == "malformed_message"
    assert refusal(b'"\xed\xa0\x80"') == "malformed_message"


def test_a_key_given_twice_is_refused() -> None:
    assert refusal('{"a":1,"a":1}') == "malformed_message"
    assert refusal('[{"a":1,"b":2,"\\u0061":2}]') == "malformed_message"


@given(documents)
def test_any_json_writer_will_do(document: dict[str, object]) -> None:
    for ascii_only in (True, False):
        text = json.dumps(document, ensure_ascii=ascii_only, indent=1)
        assert canonical(decode_json(text, WIDE)) == canonical(document)
