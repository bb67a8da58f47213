"""The codes by which people call rooms (P-13)."""

from typing import Final

CODE_LETTERS: Final = "ABCDEFGHJKLMNPQRSTUVWXYZ"
"""Without I and O, which look like digits."""
CODE_LENGTH: Final = 6


def is_code(text: str) -> bool:
    return len(text) == CODE_LENGTH and all(letter in CODE_LETTERS for letter in text)
