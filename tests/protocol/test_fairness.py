"""The fairness recipe: its published vector, and the properties that make it fair."""

from collections import Counter
from hashlib import sha256
from itertools import chain, permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from towerhall_protocol.fairness import (
    NO_NONCE,
    Act,
    bot_entropy,
    commitment,
    game_seed,
    nonce_hash,
)

SECRET = bytes(range(32))
UID = bytes(16)
NONCES = (b"\x01" * 32, b"\x02" * 32, NO_NONCE)
SEED = bytes.fromhex("07d1ad04432c4e73ae0b5fa1428d0462f8a60ea53d85c5b1c5aeb26ce1174025")
WORDS = 1 << 32


class FixedWords(Act):
    """An act that reads the given words and then no more."""

    def __init__(self, *words: int) -> None:
        super().__init__(SEED, 0)
        self.left = list(words)

    def _next_word(self) -> int:
        return self.left.pop(0)


def words_of(seed: bytes, number: int, count: int) -> list[int]:
    """The first words of an act, spelled out as the recipe says."""
    blocks = (
        sha256(seed + number.to_bytes(4, "big") + block.to_bytes(4, "big")).digest()
        for block in range((count + 7) // 8)
    )
    stream = b"".join(blocks)
    return [int.from_bytes(stream[at : at + 4], "big") for at in range(0, 4 * count, 4)]


def test_the_published_vector_holds() -> None:
    committed = "704ca2b2bd4acaa1fa556e94e4222ad26b99749575b634641c827eb4aafddede"
    assert commitment(UID, SECRET).hex() == committed
    assert game_seed(SECRET, UID, 1, NONCES) == SEED
    assert Act(SEED, 0).shuffle(range(10)) == [1, 3, 9, 2, 0, 7, 8, 5, 6, 4]
    assert Act(SEED, 1).shuffle(range(10)) == [1, 7, 6, 0, 4, 9, 3, 2, 8, 5]
    assert Act(SEED, 2).below(6) == 3


def test_a_bot_draws_from_the_seed_and_the_seq_of_its_decision() -> None:
    label = b"towerhall/1/bot\0"
    assert bot_entropy(SEED, 258) == sha256(label + SEED + bytes([0] * 6 + [1, 2])).digest()
    with pytest.raises(ValueError, match="32"):
        bot_entropy(b"", 1)


def test_a_nonce_is_hashed_with_its_own_label_and_the_room() -> None:
    nonce = b"\x07" * 32
    assert nonce_hash(UID, nonce) == sha256(b"towerhall/1/nonce\0" + UID + nonce).digest()
    assert nonce_hash(b"\x01" * 16, nonce) != nonce_hash(UID, nonce)
    assert nonce_hash(UID, nonce) != commitment(UID, nonce)


def test_every_input_of_the_seed_matters() -> None:
    seeds = [
        game_seed(SECRET, UID, 1, NONCES),
        game_seed(SECRET[::-1], UID, 1, NONCES),
        game_seed(SECRET, b"\x01" * 16, 1, NONCES),
        game_seed(SECRET, UID, 2, NONCES),
        game_seed(SECRET, UID, 1, NONCES[:2]),
        game_seed(SECRET, UID, 1, NONCES[::-1]),
        game_seed(SECRET, UID, 1, ()),
    ]
    assert len(set(seeds)) == len(seeds)


@pytest.mark.parametrize("size", [0, 15, 17, 31, 33, 64])
def test_a_field_of_another_size_is_refused(size: int) -> None:
    wrong = bytes(size)
    with pytest.raises(ValueError, match="expected 16 bytes"):
        commitment(wrong, SECRET)
    with pytest.raises(ValueError, match="expected 32 bytes"):
        commitment(UID, wrong)
    with pytest.raises(ValueError, match="expected 16 bytes"):
        nonce_hash(wrong, NO_NONCE)
    with pytest.raises(ValueError, match="expected 32 bytes"):
        nonce_hash(UID, wrong)
    with pytest.raises(ValueError, match="expected 32 bytes"):
        game_seed(wrong, UID, 1, NONCES)
    with pytest.raises(ValueError, match="expected 16 bytes"):
        game_seed(SECRET, wrong, 1, NONCES)
    with pytest.raises(ValueError, match="expected 32 bytes"):
        game_seed(SECRET, UID, 1, (NO_NONCE, wrong))


@pytest.mark.parametrize("bound", [-1, 0, WORDS + 1])
def test_a_bound_outside_the_words_is_refused(bound: int) -> None:
    with pytest.raises(ValueError, match="bound"):
        Act(SEED, 0).below(bound)


@given(st.binary(min_size=32, max_size=32), st.integers(0, WORDS - 1))
def test_an_act_reads_the_words_of_its_own_blocks(seed: bytes, number: int) -> None:
    act = Act(seed, number)
    assert [act.below(WORDS) for _ in range(20)] == words_of(seed, number, 20)


@given(st.integers(1, WORDS), st.data())
def test_words_at_or_above_the_last_multiple_are_skipped(bound: int, data: st.DataObject) -> None:
    limit = WORDS // bound * bound
    good = data.draw(st.integers(0, limit - 1) | st.just(limit - 1))
    if limit == WORDS:
        bad = []
    else:
        too_high = st.integers(limit, WORDS - 1) | st.sampled_from([limit, WORDS - 1])
        bad = data.draw(st.lists(too_high, max_size=5))
    act = FixedWords(*bad, good, 12345)
    assert act.below(bound) == good % bound
    assert act.left == [12345]


def test_a_skipped_word_is_skipped_in_the_real_stream_too() -> None:
    bound = (1 << 31) + 1
    number = next(n for n in range(1000) if words_of(SEED, n, 1)[0] >= bound)
    first_good = next(word for word in words_of(SEED, number, 80) if word < bound)
    assert Act(SEED, number).below(bound) == first_good


def test_each_result_stands_for_equally_many_words() -> None:
    # For 3 * 2^30 a quarter of the words is skipped; plain remainders would favour low results.
    bound = 3 << 30
    for word in (0, bound - 1):
        assert FixedWords(word).below(bound) == word
    assert FixedWords(bound, WORDS - 1, 7).below(bound) == 7


@given(st.lists(st.text("abc:+0189", max_size=5), unique=True), st.data())
def test_a_shuffle_depends_on_the_set_of_cards_alone(one: list[str], data: st.DataObject) -> None:
    other = data.draw(st.permutations(one))
    before = list(one)
    shuffled = Act(SEED, 5).shuffle(one)
    assert shuffled == Act(SEED, 5).shuffle(other)
    assert sorted(shuffled) == sorted(one)
    assert one == before


def test_a_shuffle_swaps_from_the_last_place_down() -> None:
    # Sorted first: a b c d. Place 3 takes 0 (d b c a), 2 takes 2, 1 takes 0 (b d c a).
    act = FixedWords(0, 2, 0)
    assert act.shuffle("dcba") == ["b", "d", "c", "a"]
    assert act.left == []


@pytest.mark.parametrize("cards", [[], ["only"]])
def test_a_shuffle_without_choice_reads_no_word(cards: list[str]) -> None:
    assert FixedWords().shuffle(cards) == cards


def test_dice_and_orders_come_up_about_equally_often() -> None:
    # Chi-square: 5 degrees of freedom stay below 25 and 23 below 58, except once in 10^4.
    dice = Counter(chain.from_iterable(_dice(number) for number in range(100)))
    assert _chi_square(dice, 6) < 25
    orders = Counter(tuple(Act(SEED, number).shuffle("abcd")) for number in range(4800))
    assert set(orders) == set(permutations("abcd"))
    assert _chi_square(orders, 24) < 58


def _dice(number: int) -> list[int]:
    act = Act(SEED, number)
    return [act.below(6) for _ in range(60)]


def _chi_square(counts: Counter[int] | Counter[tuple[str, ...]], cells: int) -> float:
    expected = sum(counts.values()) / cells
    return sum((count - expected) ** 2 for count in counts.values()) / expected
