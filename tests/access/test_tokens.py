"""Guest tokens: whom they name, and that nothing else is ever taken for one."""

import gc
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from itsdangerous import TimestampSigner
from itsdangerous.encoding import base64_decode, base64_encode

from towerhall_server.access.names import clean_name
from towerhall_server.access.tokens import (
    SALT,
    TOKEN_BYTES_MAX,
    Token,
    TokenProblem,
    Tokens,
    _Signer,
    new_person,
)
from towerhall_server.room.seats import Person

OLD, NEW, STRANGE = b"old key " * 4, b"new key " * 4, b"strange " * 4
DAYS = 30
DAY = 86_400
ANN = Person("AAECAwQFBgc", "Ann")
START = 1_800_000_000.0
START_MS = 1_800_000_000_000


class Clock:
    """Stands still unless it is moved."""

    def __init__(self, now: float = START) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


def tokens(*keys: bytes | str, at: float = START) -> Tokens:
    return Tokens(keys or (OLD,), DAYS, Clock(at))


def code(answer: Token | TokenProblem) -> str:
    return answer.code if isinstance(answer, TokenProblem) else "taken"


def whom(answer: Token | TokenProblem) -> Person:
    assert isinstance(answer, Token), answer
    return answer.person


def signed(payload: bytes, *, at: float = START, salt: str = SALT) -> str:
    signer = _Signer((OLD,))
    signer.salt = salt.encode()
    return signer.sign_at(payload, int(at))


def test_a_token_names_whom_it_was_issued_for() -> None:
    assert whom(tokens().read(tokens().issue(ANN))) == ANN


def test_a_token_of_a_bot_account_says_so() -> None:
    deep = new_person("Deep", bot_account=True)
    assert whom(tokens().read(tokens().issue(deep))) == deep
    assert whom(tokens().read(tokens().issue(deep))).bot_account is True
    assert not new_person("Ada").bot_account


def test_a_token_of_a_person_has_the_form_of_older_releases() -> None:
    payload = tokens().issue(ANN).partition(".")[0]
    assert json.loads(base64_decode(payload)) == [ANN.id, "Ann", DAYS * DAY]


def test_p112_a_token_of_an_account_names_its_device_also_in_a_later_one() -> None:
    given = tokens().new(ANN, device="AAECAwQF", after=7)
    assert tokens().read(tokens().sign(given)) == given
    assert tokens().new(ANN).device == ""
    for wrong in ("short", "A" * 9, "AAAA AAA"):
        payload = json.dumps([ANN.id, "Ann", 0, "", 0, False, wrong]).encode()
        assert code(tokens().read(signed(base64_encode(payload)))) == "malformed"


def test_a_token_may_hold_for_a_shorter_time() -> None:
    token = tokens().issue(ANN, 600)
    assert whom(tokens(at=START + 600).read(token)) == ANN
    assert code(tokens(at=START + 601).read(token)) == "expired"
    longer = tokens().issue(ANN, 1000 * DAYS * DAY)
    assert code(tokens(at=START + DAYS * DAY + 1).read(longer)) == "expired"


def test_a_token_says_when_it_was_issued_when_it_ends_and_by_whom() -> None:
    start = int(START)
    assert tokens().new(ANN) == Token(ANN, start, start + DAYS * DAY)
    assert tokens().new(ANN, 600).expires == start + 600
    assert tokens().new(ANN, 1000 * DAYS * DAY).expires == start + DAYS * DAY
    for token in (
        tokens().new(ANN),
        tokens().new(ANN, 600),
        tokens().new(ANN, 600, operator="acme", after=START_MS),
        tokens().new(ANN, operator="acme"),
        tokens().new(ANN, after=START_MS),
    ):
        assert tokens().read(tokens().sign(token)) == token


def test_to_sign_a_token_again_renews_nothing() -> None:
    first = tokens().new(ANN, 600)
    later = tokens(at=START + 500)
    again = later.sign(first)
    assert again == tokens().sign(first)
    assert not later.is_over(first)
    assert code(tokens(at=START + 601).read(again)) == "expired"
    assert tokens(at=START + 601).is_over(first)


def test_a_token_without_an_end_of_its_own_lasts_as_long_as_any() -> None:
    for payload in (b'["AAECAwQFBgc","Ann"]', b'["AAECAwQFBgc","Ann",0]'):
        token = signed(base64_encode(payload))
        assert tokens().read(token) == tokens().new(ANN)
        assert code(tokens(at=START + DAYS * DAY + 1).read(token)) == "expired"


@given(st.text().map(clean_name))
def test_every_clean_name_fits_into_a_token_and_comes_back(name: str | None) -> None:
    if name is not None:
        identity = new_person(name)
        token = tokens().issue(identity)
        assert len(token) < 300
        assert whom(tokens().read(token)) == identity


def test_new_identities_have_ids_of_eight_random_bytes() -> None:
    ids = {new_person("Ann").id for _ in range(1000)}
    assert len(ids) == 1000
    assert {len(each) for each in ids} == {11}


def test_another_process_with_the_same_key_takes_the_token_whether_text_or_bytes() -> None:
    assert whom(tokens(OLD.decode()).read(tokens(OLD).issue(ANN))) == ANN


def test_keys_are_changed_by_putting_the_new_one_in_front() -> None:
    before, between, after = tokens(OLD), tokens(NEW, OLD), tokens(NEW)
    assert whom(between.read(before.issue(ANN))) == ANN
    assert whom(after.read(between.issue(ANN))) == ANN
    assert code(before.read(between.issue(ANN))) == "wrong_signature"
    assert code(after.read(before.issue(ANN))) == "wrong_signature"


def test_a_token_lasts_as_long_as_it_was_promised_and_not_a_second_longer() -> None:
    token = tokens().issue(ANN)
    assert whom(tokens(at=START + DAYS * DAY).read(token)) == ANN
    assert code(tokens(at=START + DAYS * DAY + 1).read(token)) == "expired"


def test_an_old_key_does_not_make_a_token_younger() -> None:
    token = tokens(OLD).issue(ANN)
    assert code(tokens(NEW, OLD, at=START + DAYS * DAY + 1).read(token)) == "expired"


def test_servers_whose_clocks_differ_a_little_take_each_others_tokens() -> None:
    assert whom(tokens(at=START - 30).read(tokens().issue(ANN))) == ANN


def test_a_token_from_the_future_is_refused() -> None:
    assert code(tokens(at=START - 90).read(tokens().issue(ANN))) == "from_the_future"
    assert code(tokens().read(signed(b"W10", at=2**40))) in {"from_the_future", "malformed"}
    assert code(tokens().read(signed(b"W10", at=2**62))) == "malformed"


def test_what_the_same_key_signed_for_another_purpose_is_no_token() -> None:
    payload = base64_encode(json.dumps([ANN.id, ANN.name]).encode())
    assert whom(tokens().read(signed(payload))) == ANN
    assert code(tokens().read(signed(payload, salt="another purpose"))) == "wrong_signature"


@pytest.mark.parametrize(
    "payload",
    [
        b'["AAECAwQFBgc"]',
        b'["AAECAwQFBgc","Ann",-1]',
        b'["AAECAwQFBgc","Ann","1"]',
        b'["AAECAwQFBgc","Ann",1,1]',
        b'["AAECAwQFBgc","Ann",1,"acme",-1]',
        b'["AAECAwQFBgc","Ann",1,"acme",1,1]',
        b'["AAECAwQFBgc",""]',
        b'["AAECAwQFBgc",7]',
        b'["AAECAwQFBg","Ann"]',
        b'["AAECAwQFBgc\\n","Ann"]',
        b'["AAECAwQFBg!","Ann"]',
        b'{"id":"AAECAwQFBgc","name":"Ann"}',
        b"\xff\xfe",
        b"[" * 500,
        b"",
    ],
)
def test_signed_nonsense_is_no_identity(payload: bytes) -> None:
    assert code(tokens().read(signed(base64_encode(payload) or b"A"))) == "malformed"


@given(st.data())
def test_a_token_with_any_character_changed_is_refused(data: st.DataObject) -> None:
    token = tokens().issue(ANN)
    place = data.draw(st.integers(0, len(token) - 1))
    other = data.draw(st.characters().filter(lambda char: char != token[place]))
    assert code(tokens().read(token[:place] + other + token[place + 1 :])) in {
        "malformed",
        "wrong_signature",
    }


def test_no_other_last_character_gives_the_same_signature() -> None:
    token = tokens().issue(ANN)
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    taken = [char for char in alphabet if code(tokens().read(token[:-1] + char)) == "taken"]
    assert taken == [token[-1]]


def test_a_token_cut_or_prolonged_anywhere_is_refused() -> None:
    token = tokens().issue(ANN)
    for cut in range(len(token)):
        assert code(tokens().read(token[:cut])) != "taken"
        assert code(tokens().read(token[cut + 1 :])) != "taken"
    for more in ("A", "=", "==", ".", "\n", " ", "\0"):
        assert code(tokens().read(token + more)) != "taken"
        assert code(tokens().read(more + token)) != "taken"


@given(st.text() | st.text("abAB01-_.=", max_size=200))
def test_garbage_is_refused_without_an_exception(garbage: str) -> None:
    assert code(tokens().read(garbage)) in {"malformed", "wrong_signature"}


@pytest.mark.parametrize("garbage", ["", "..", "a.b." + "é" * 43, "\ud800", "a.b." + "٣" * 43])
def test_text_that_is_not_ascii_is_malformed(garbage: str) -> None:
    assert code(tokens().read(garbage)) == "malformed"


def test_a_long_token_is_refused_before_anything_is_computed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def never(*_: object, **__: object) -> None:
        raise AssertionError("computed something")

    reader = tokens()
    monkeypatch.setattr(TimestampSigner, "verify_signature", never)
    long = "a.b." + "A" * 43
    with pytest.raises(AssertionError):
        reader.read(long)
    for size in (TOKEN_BYTES_MAX + 1, 1_000_000):
        assert code(reader.read("A" * (size - len(long)) + long)) == "too_long"


def test_no_token_is_issued_that_would_be_too_long() -> None:
    with pytest.raises(ValueError, match="too long"):
        tokens().issue(Person(ANN.id, "n" * 1000))


@pytest.mark.parametrize("keys", [(), (b"",), (OLD, ""), OLD, "text"])
def test_without_keys_there_are_no_tokens(keys: tuple[bytes, ...]) -> None:
    with pytest.raises(ValueError, match="keys"):
        Tokens(keys, DAYS)


def test_neither_keys_nor_tokens_are_shown() -> None:
    reader = tokens(STRANGE)
    token = tokens(OLD).issue(ANN)
    assert STRANGE.decode() not in repr(reader)
    assert token.split(".")[2] not in repr(reader.read(token))


@pytest.mark.parametrize("change", ["signature", "time", "payload", "shape"])
def test_a_refused_token_leaves_no_garbage(change: str) -> None:
    payload, at, signature = tokens().issue(ANN).split(".")
    bad = {
        "signature": f"{payload}.{at}.{'A' * 43}",
        "time": f"{payload}.AAAA{at}.{signature}",
        "payload": f"AA{payload}.{at}.{signature}",
        "shape": f"{payload}.{at}",
    }[change]
    reader = tokens()
    assert code(reader.read(bad)) in {"wrong_signature", "malformed"}
    gc.collect()
    gc.disable()
    try:
        for _ in range(10):
            reader.read(bad)
        assert gc.collect() == 0
    finally:
        gc.enable()
