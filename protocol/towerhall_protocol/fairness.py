"""Shuffles and dice that anyone can check afterwards.

The server commits to a secret before anyone sits; clients add nonces, sealed before they are
opened; every random act of the game is a fixed function of both. This file is the whole recipe,
free of I/O and of any library beyond SHA-256 and HMAC, so that it is easy to write again in
another language. The tests pin its results.
"""

import hmac
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from hashlib import sha256
from struct import iter_unpack, pack
from typing import Any, NamedTuple, Protocol, TypeVar

SECRET_BYTES = 32
NONCE_BYTES = 32
UID_BYTES = 16
NO_NONCE = bytes(NONCE_BYTES)
"""Stands in for the nonce of a bot, or of a client that gave none."""

_WORDS = 1 << 32
_NUMBER_BYTES = 4
_WORDS_PER_BLOCK = 8


class Sortable(Protocol):
    """Anything that can be put in order: card ids, in practice."""

    def __lt__(self, other: Any, /) -> bool: ...


Item = TypeVar("Item", bound=Sortable)


def commitment(uid: bytes, secret: bytes) -> bytes:
    """The hash that the server publishes with a new room: it can no longer change the secret."""
    return sha256(b"towerhall/1/commit\0" + _sized(uid, UID_BYTES) + _secret(secret)).digest()


def nonce_hash(uid: bytes, nonce: bytes) -> bytes:
    """The hash that a client gives when it sits down: it can no longer change its nonce."""
    return sha256(
        b"towerhall/1/nonce\0" + _sized(uid, UID_BYTES) + _sized(nonce, NONCE_BYTES)
    ).digest()


def game_seed(secret: bytes, uid: bytes, deal: int, nonces: Sequence[bytes]) -> bytes:
    """The seed of one deal, from the server's secret and one nonce per seat, in seat order."""
    message = b"".join(
        (
            b"towerhall/1/seed\0",
            _sized(uid, UID_BYTES),
            pack(">IB", deal, len(nonces)),
            *(_sized(nonce, NONCE_BYTES) for nonce in nonces),
        )
    )
    return hmac.digest(_secret(secret), message, "sha256")


def bot_entropy(seed: bytes, seq: int) -> bytes:
    """The bot's entropy for the decision that the commit of that seq led to."""
    return sha256(b"towerhall/1/bot\0" + _sized(seed, SECRET_BYTES) + pack(">Q", seq)).digest()


class Act:
    """One random act of a game (a shuffle, a die): numbers read from its own stream of words."""

    def __init__(self, seed: bytes, number: int) -> None:
        self._prefix = seed + pack(">I", number)
        self._block = 0
        self._words: list[int] = []

    def below(self, bound: int) -> int:
        """A number 0..bound-1, each equally likely: words that would favour some are skipped."""
        if not 1 <= bound <= _WORDS:
            raise ValueError(f"bound must be 1..2^32, not {bound}")
        number = self._number(bound)
        draws = _WITNESS.get()
        if draws is not None:
            draws.append(self._draw(bound, number))
        return number

    def shuffle(self, items: Iterable[Item]) -> list[Item]:
        """The items in random order. They are sorted first, so only the set of them matters."""
        cards = sorted(items)
        for last in range(len(cards) - 1, 0, -1):
            pick = self._number(last + 1)
            cards[last], cards[pick] = cards[pick], cards[last]
        draws = _WITNESS.get()
        if draws is not None:
            draws.append(self._draw(tuple(sorted(cards)), tuple(cards)))
        return cards

    def _number(self, bound: int) -> int:
        limit = _WORDS - _WORDS % bound
        while True:
            word = self._next_word()
            if word < limit:
                return word % bound

    def _next_word(self) -> int:
        if not self._words:
            digest = sha256(self._prefix + pack(">I", self._block)).digest()
            self._words = [word for (word,) in iter_unpack(">I", digest)][::-1]
            self._block += 1
        return self._words.pop()

    def _draw(self, given: Any, result: Any) -> "Draw":
        seed, number = self._prefix[:-_NUMBER_BYTES], self._prefix[-_NUMBER_BYTES:]
        words = _WORDS_PER_BLOCK * self._block - len(self._words)
        return Draw(seed, int.from_bytes(number, "big"), words, given, result)


class Draw(NamedTuple):
    """The result of one draw of an act: a number below a bound, or shuffled items."""

    seed: bytes
    act: int
    words: int
    """Words of its stream that the act had read before: tells draws of one act apart."""
    given: Any
    """The bound; or the items in sorted order."""
    result: Any
    """The number; or the items in the order that was drawn."""


_WITNESS: ContextVar[list[Draw] | None] = ContextVar("witness", default=None)


@contextmanager
def witnessed() -> Iterator[list[Draw]]:
    """Collect all that is drawn while the block runs: games need not know who keeps records."""
    draws: list[Draw] = []
    token = _WITNESS.set(draws)
    try:
        yield draws
    finally:
        _WITNESS.reset(token)


def _secret(secret: bytes) -> bytes:
    return _sized(secret, SECRET_BYTES)


def _sized(value: bytes, size: int) -> bytes:
    # A field of another length would let two different inputs run together into the same bytes.
    if len(value) != size:
        raise ValueError(f"expected {size} bytes, got {len(value)}")
    return value
