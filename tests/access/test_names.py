"""Names and chat: what is left of them, and that all of it can be seen."""

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from towerhall_server.access.names import clean_chat, clean_name, graphemes

SCRIPTS = "<script>alert(1)</script>"
XSS = [
    SCRIPTS,
    "<img src=x onerror=alert(1)>",
    '"><svg onload=alert(1)>',
    "javascript:alert(document.cookie)",
    "'-alert(1)-'",
    "</title><script>alert(1)</script>",
    "{{constructor.constructor('alert(1)')()}}",
    "${alert(1)}",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "<a href='data:text/html;base64,PHNjcmlwdD4='>x</a>",
    "<iframe srcdoc='<b>'>",
    "`onmouseover=alert(1)//",
    "%3Cscript%3Ealert(1)%3C/script%3E",
    "'; DROP TABLE rooms; --",
    "\\u003cscript\\u003e",
]
TRICKY = st.text(
    st.characters()
    | st.sampled_from(
        " \t\n\u00a0\u2028\u200b\u200d\u202e\ufe0f\u0301\u0345\u1100\u1160\u1161\u11a8\u3164\u00a8"
        "\u0cc6\u0cc2\u0338=e\U0001f469\U0001f3fd\U0001f1e9\U0001f1ea\u2764\ud800\ue000\ufdfa"
    )
)
SPACES = [*" \t\n\v\f\x1c\x85\u00a0\u2003\u2028\u2029\u202f\u3000", "\r\n", " \u200b ", " \u0301 "]
NAMES = """
    Ann Zoë Ólafur Łukasz Ирина Ελένη محمد דוד 李小龙 さくら 김민준 สมชาย प्रिया Nguyễn
    O'Brien x_X A-1 7 <3 ❤️ 👍🏽 🇩🇪 🎲🏰
"""
INVISIBLE = {
    "control": "\x00",
    "escape": "\x1b",
    "delete": "\x7f",
    "C1 control": "\x9b",
    "right-to-left override": "\u202e",
    "left-to-right embedding": "\u202a",
    "pop direction": "\u202c",
    "isolate": "\u2066",
    "pop isolate": "\u2069",
    "right-to-left mark": "\u200f",
    "Arabic letter mark": "\u061c",
    "zero-width space": "\u200b",
    "zero-width non-joiner": "\u200c",
    "zero-width joiner": "\u200d",
    "word joiner": "\u2060",
    "byte order mark": "\ufeff",
    "soft hyphen": "\u00ad",
    "grapheme joiner": "\u034f",
    "Hangul filler": "\u3164",
    "half-width Hangul filler": "\uffa0",
    "Hangul vowel filler": "\u1160",
    "braille blank": "\u2800",
    "object replacement": "\ufffc",
    "annotation anchor": "\ufff9",
    "musical null note": "\U0001d159",
    "Khitan filler": "\U00016fe4",
    "hieroglyph full blank": "\U00013441",
    "hieroglyph half blank": "\U00013442",
    "Tifinagh joiner": "\u2d7f",
    "Brahmi number joiner": "\U0001107f",
    "Kharoshthi joiner": "\U00010a3f",
    "shorthand overlap": "\U0001bca0",
    "Mongolian separator": "\u180e",
    "emoji style after a letter": "\ufe0f",
    "text style": "\ufe0e",
    "ideographic selector": "\U000e0100",
    "tag": "\U000e0061",
    "private use": "\ue000",
    "private use above": "\U0010fffd",
    "unassigned": "\u0378",
    "no character": "\uffff",
    "high surrogate": "\ud800",
    "low surrogate": "\udfff",
}


def is_seen(text: str) -> bool:
    """Said another way than the code says it."""
    return (
        text.isprintable()
        and text == " ".join(text.split(" "))
        and not any(unicodedata.category(char) in {"Zl", "Zp", "Co", "Cn", "Cs"} for char in text)
        and not set(text) & set(INVISIBLE.values()) - {"\ufe0f"}
        and text.strip() == text != ""
        and "  " not in text
    )


@given(TRICKY)
def test_cleaning_a_clean_name_changes_nothing(text: str) -> None:
    name = clean_name(text)
    assert name is None or clean_name(name) == name


@given(TRICKY)
def test_cleaning_clean_chat_changes_nothing(text: str) -> None:
    line = clean_chat(text)
    assert line is None or clean_chat(line) == line


@given(TRICKY)
@example("¨")
@example("🏽")
@example("\u0301")
def test_all_of_a_name_can_be_seen_and_is_short(text: str) -> None:
    name = clean_name(text)
    if name is not None:
        assert is_seen(name)
        assert unicodedata.is_normalized("NFKC", name)
        assert 1 <= graphemes(name) <= 24
        assert len(name.encode()) <= 96


@given(TRICKY)
def test_all_of_a_line_of_chat_can_be_seen_and_is_short(text: str) -> None:
    line = clean_chat(text)
    if line is not None:
        assert is_seen(line)
        assert unicodedata.is_normalized("NFC", line)
        assert 1 <= len(line) <= 300
        line.encode()


@pytest.mark.parametrize("char", INVISIBLE.values(), ids=INVISIBLE)
def test_what_cannot_be_seen_is_removed(char: str) -> None:
    assert clean_name(f"{char}An{char}n{char}") == "Ann"
    assert clean_chat(f"{char}An{char}n{char}") == "Ann"
    assert clean_name(char * 3) is None
    assert clean_chat(char * 3) is None


@pytest.mark.parametrize("space", SPACES)
def test_all_white_space_is_one_space_between_words(space: str) -> None:
    assert clean_name(f"{space}Ann{space}{space}Lee{space}") == "Ann Lee"
    assert clean_chat(f"{space}Ann{space}{space}Lee{space}") == "Ann Lee"
    assert clean_name(space) is None
    assert clean_chat(space) is None


@pytest.mark.parametrize("name", NAMES.split())
def test_names_from_all_over_the_world_stay_as_they_are(name: str) -> None:
    assert clean_name(unicodedata.normalize("NFKC", name)) == unicodedata.normalize("NFKC", name)


@pytest.mark.parametrize(
    ("written", "name"),
    [("Ａｎｎ", "Ann"), ("ﬁn", "fin"), ("e\u0301", "é"), ("Ⅳ", "IV"), ("𝓐nn", "Ann"), ("①", "1")],
)
def test_look_alikes_become_ordinary_letters(written: str, name: str) -> None:
    assert clean_name(written) == name


def test_chat_keeps_what_means_something_else_in_ordinary_letters() -> None:
    line = "½ of x² is … ™ “fine” :-) 1 < 2 & 3 > 2"
    assert clean_chat(line) == line


def test_a_joined_emoji_becomes_its_members() -> None:
    assert clean_name("👨\u200d👩\u200d👧") == "👨👩👧"
    assert clean_chat("👩🏽\u200d🚀!") == "👩🏽🚀!"


def test_the_colour_of_a_symbol_stays_once_and_only_there() -> None:
    assert clean_name("❤\ufe0f\ufe0f") == "❤\ufe0f"
    assert clean_name("1\ufe0f\u20e3") == "1\u20e3"


def test_marks_need_something_to_sit_on_and_do_not_pile_up() -> None:
    assert clean_name("\u0301\u0301") is None
    assert clean_name("\u0301a b") == "a b"
    assert clean_name("q" + "\u0301\u0316" * 20 + "r") == "q" + "\u0316" * 4 + "r"


def test_removing_one_character_may_let_others_compose() -> None:
    assert clean_name("e\u200d\u0301") == "é"
    assert clean_name("e\u3164\u0301") == "é"


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("Ann", 3),
        ("a b", 3),
        ("e\u0323\u0301", 1),
        ("🎲", 1),
        ("👍🏽👍🏿", 2),
        ("🏽", 1),
        ("🏽🏽", 1),
        ("❤\ufe0f", 1),
        ("1\u20e3", 1),
        ("🇩🇪", 1),
        ("🇩🇪🇫🇷", 2),
        ("🇩🇪🇫", 2),
        ("🇩a🇪", 3),
        ("नमस्ते", 4),
        ("สวัสดี", 4),
        ("한국", 2),
    ],
)
def test_people_and_the_server_count_alike(text: str, count: int) -> None:
    assert graphemes(text) == count


@pytest.mark.parametrize("one", ["a", "é", "字", "q\u0323"])
def test_a_name_has_at_most_24_characters(one: str) -> None:
    assert clean_name(one * 24) == one * 24
    assert clean_name(one * 25) is None


def test_a_name_has_at_most_96_bytes() -> None:
    assert clean_name("🎲" * 24) == "🎲" * 24
    assert clean_name("👍🏽" * 12) == "👍🏽" * 12
    assert clean_name("👍🏽" * 13) is None


def test_a_line_of_chat_has_at_most_300_characters() -> None:
    assert clean_chat("x" * 300) == "x" * 300
    assert clean_chat("x" * 301) is None
    assert clean_chat(" \u200b" * 200 + "x" * 300) == "x" * 300


def test_much_longer_text_is_refused_unread() -> None:
    assert clean_name("\u200b" * 253 + "Ann") == "Ann"
    assert clean_name("\u200b" * 254 + "Ann") is None
    assert clean_chat("\u200b" * 1021 + "Ann") == "Ann"
    assert clean_chat("\u200b" * 1022 + "Ann") is None


@pytest.mark.parametrize("attack", XSS)
def test_code_for_browsers_passes_as_the_text_that_it_is(attack: str) -> None:
    assert clean_chat(attack) == attack
    assert clean_name(attack) == (attack if len(attack) <= 24 else None)


@pytest.mark.parametrize("attack", ["＜b＞", "﹤b﹥", "<\u200bb>", "<b\u202e>"])
def test_what_only_becomes_code_by_cleaning_is_still_plain_text(attack: str) -> None:
    # Shown so that nobody relies on names without angle brackets: clients write text nodes.
    assert clean_name(attack) == "<b>"
