"""Text of people for other people: names and chat, without invisible characters.

Invisible characters (controls, direction marks, zero-width characters, fillers, private and
unassigned code points) are removed. Each kind of white space becomes one space. Text that is then
empty or too long is refused. Nothing is escaped: clients show plain text, so `<b>` is three
characters on both sides. Right-to-left letters stay; a page isolates them (`<bdi>`).

Deliberate choices, for names and chat alike:

- Zero-width joiners are removed as well: a family emoji becomes its members, and the joiners of
  some Indic and Persian words are lost. In return no two names differ invisibly.
- U+FE0F, which makes a symbol colourful, stays directly after a symbol and nowhere else.
- A letter carries at most four marks: more would be drawn across other lines.

No input or output lives here, and no rates.
"""

import unicodedata
from typing import Final, Literal

NAME_GRAPHEMES_MAX: Final = 24
NAME_BYTES_MAX: Final = 96
CHAT_CHARACTERS_MAX: Final = 300
# Longer text is refused unread: one character can stand for 18.
NAME_RAW_MAX: Final = 256
CHAT_RAW_MAX: Final = 1024
MARKS_MAX: Final = 4

EMOJI_STYLE: Final = "\ufe0f"
# Invisible, but not in the categories below: joiners, fillers, selectors, blank symbols, and
# U+FFFC, the placeholder of an object. Joiners of living scripts stay: Burmese, Khmer, Tai Tham and
# Chakma cannot be written without theirs.
BLANKS: Final = frozenset(
    "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u2d7f\u3164\uffa0\ufffc"
    "\U00010a3f\U0001107f\U00013441\U00013442\U00016fe4\U0001d159"
) | frozenset(map(chr, (*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))))
SKIN_TONES: Final = frozenset(map(chr, range(0x1F3FB, 0x1F400)))
REGIONAL_INDICATORS: Final = frozenset(map(chr, range(0x1F1E6, 0x1F200)))


def clean_name(text: str) -> str | None:
    """Return the name as others will see it, or None if it is invalid."""
    # Compatibility forms too: full-width and similar letters become the ordinary ones.
    name = _clean(text, "NFKC") if len(text) <= NAME_RAW_MAX else None
    if name is None or graphemes(name) > NAME_GRAPHEMES_MAX:
        return None
    return name if len(name.encode()) <= NAME_BYTES_MAX else None


def clean_chat(text: str) -> str | None:
    """Return the line of chat as others will see it, or None if it is empty or too long."""
    # Only canonical forms: ½ and x² keep their meaning in a sentence.
    line = _clean(text, "NFC") if len(text) <= CHAT_RAW_MAX else None
    return line if line is not None and len(line) <= CHAT_CHARACTERS_MAX else None


def graphemes(text: str) -> int:
    """Count the characters of clean text as people do.

    A mark, a selector or a skin tone belongs to the character before it, and two regional
    indicators are one flag. That is the standard's rule without its rare cases: joined Indic
    letters, archaic Hangul and prefixed signs count one by one, a few Burmese vowels not at all.
    """
    count = 0
    half_flag = False
    for char in text:
        second_half = half_flag and char in REGIONAL_INDICATORS
        half_flag = char in REGIONAL_INDICATORS and not second_half
        extends = char in SKIN_TONES or unicodedata.category(char)[0] == "M"
        if not (second_half or (extends and count)):
            count += 1
    return count


def _clean(text: str, form: Literal["NFC", "NFKC"]) -> str | None:
    """Return the normal form of the visible characters, or None if nothing is left.

    Removing a character can join two others that compose, and composing can create a character to
    remove. This repeats until nothing changes. Every round but the first and the last removes a
    character.
    """
    while (cleaned := _visible(unicodedata.normalize(form, text))) != text:
        text = cleaned
    return text or None


def _visible(text: str) -> str:
    kept: list[str] = []
    before = "Z"
    marks = 0
    for char in " ".join(text.split()):
        category = unicodedata.category(char)
        if char == EMOJI_STYLE:
            if before != "So":
                continue
        elif category[0] == "C" or char in BLANKS:
            continue
        elif category[0] == "M":
            marks += 1
            if before[0] == "Z" or marks > MARKS_MAX:
                continue
        else:
            marks = 0
        kept.append(char)
        before = category
    return "".join(kept)
