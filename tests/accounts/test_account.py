"""Changes of an account, codes, names of devices: the parts without a store."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from towerhall_server.accounts import account as changes
from towerhall_server.accounts import codes
from towerhall_server.accounts.account import Account, AccountProblem, Device, Passkey
from towerhall_server.accounts.codes import RecoveryCode, read_recovery_code, successor
from towerhall_server.accounts.devices import device_name
from towerhall_server.room.seats import Person

NOW = 1_800_000_000_000
CODE = codes.recovery_code("ADA00ADA00ADA00", bytes(range(16)))
PASSKEY = Passkey(b"credential", b"key", "towers.example", "Laptop", NOW)


def device(name: str, signed_ms: int = NOW) -> Device:
    return Device(name, "Firefox", signed_ms, signed_ms, 1, 2, 3)


def ada(*passkeys: Passkey) -> Account:
    person = Person("AAECAwQFBgc", "Ada")
    return Account(CODE.account, person, NOW, passkeys or (PASSKEY,), CODE.digest, NOW)


def done(found: Account | AccountProblem) -> Account:
    assert isinstance(found, Account), found
    return found


def code_of(found: Account | AccountProblem) -> str:
    assert isinstance(found, AccountProblem)
    return found.code


# The counter of a passkey


@pytest.mark.parametrize(("kept", "came"), [(0, 0), (0, 1), (1, 2), (7, 4_294_967_295)])
def test_p213_a_counter_that_grows_or_never_counts_is_taken(kept: int, came: int) -> None:
    account = done(changes.used(ada(replace(PASSKEY, count=kept)), b"credential", came, NOW + 5))
    assert (account.passkeys[0].count, account.passkeys[0].used_ms) == (came, NOW + 5)


@pytest.mark.parametrize(("kept", "came"), [(1, 1), (2, 1), (1, 0), (4_294_967_295, 1)])
def test_p213_a_counter_that_does_not_grow_is_that_of_a_copy(kept: int, came: int) -> None:
    account = ada(replace(PASSKEY, count=kept))
    assert changes.used(account, b"credential", came, NOW) == changes.CLONED


def test_a_passkey_of_another_account_is_unknown() -> None:
    assert changes.used(ada(), b"another", 1, NOW) == changes.UNKNOWN


# Recovery codes


def test_p214_a_recovery_code_has_a_hundred_secret_bits() -> None:
    assert codes.SECRET_CHARACTERS * codes.BITS >= 100
    assert len(set(codes.ALPHABET)) == 2**codes.BITS
    ones = codes.recovery_code("A" * 15, b"\xff" * 16)
    assert ones.secret == codes.ALPHABET[-1] * 20
    changed = {
        codes.recovery_code("A" * 15, (1 << bit).to_bytes(16, "big")).secret for bit in range(100)
    }
    assert len(changed) == 100, "each bit counts"


@given(st.binary(min_size=16, max_size=16), st.binary(min_size=16, max_size=16))
def test_p214_a_code_is_read_however_people_write_it(name: bytes, secret: bytes) -> None:
    code = codes.recovery_code(codes.account_name(name), secret)
    text = str(code)
    assert [len(part) for part in text.split("-")] == [5] * 7
    for written in (text, text.lower(), text.replace("-", ""), text.replace("-", " ") + "\n"):
        assert read_recovery_code(written) == code
    alike = text.replace("0", "o").replace("1", "l")
    assert read_recovery_code(alike) == code


@given(st.text(max_size=90))
def test_p214_other_texts_are_no_code(text: str) -> None:
    found = read_recovery_code(text)
    assert found is None or read_recovery_code(str(found)) == found


def test_p214_a_shown_code_tells_no_secret() -> None:
    assert CODE.secret not in repr(CODE)


def test_p214_a_used_code_is_dead_and_the_next_one_lives() -> None:
    first = done(changes.recovered(ada(), CODE, "nonce", NOW))
    after = successor(CODE, "nonce").code
    assert after.opens(first.recovery)
    assert not CODE.opens(first.recovery)
    assert changes.recovered(first, CODE, "other", NOW) == changes.WRONG_CODE
    assert changes.recovered(first, CODE, "nonce", NOW) == first, "its answer was lost"
    second = done(changes.recovered(first, after, "nonce", NOW))
    assert changes.recovered(second, CODE, "nonce", NOW) == changes.WRONG_CODE
    assert changes.recovered(second, after, "other", NOW) == changes.WRONG_CODE


def test_p214_the_next_code_needs_the_secret_and_the_nonce() -> None:
    other = RecoveryCode(CODE.account, CODE.secret[::-1])
    found = {str(successor(code, nonce).code) for code in (CODE, other) for nonce in ("one", "two")}
    assert len(found) == 4
    assert successor(CODE, "one") == successor(CODE, "one")


@pytest.mark.parametrize("place", range(20))
def test_p214_a_code_with_one_wrong_character_opens_nothing(place: int) -> None:
    wrong = "Z" if CODE.secret[place] != "Z" else "Y"
    secret = CODE.secret[:place] + wrong + CODE.secret[place + 1 :]
    typed = RecoveryCode(CODE.account, secret)
    assert changes.recovered(ada(), typed, "nonce", NOW) == changes.WRONG_CODE


# Passkeys and devices


def test_p212_passkeys_are_added_removed_and_the_last_one_stays() -> None:
    other = replace(PASSKEY, credential=b"other")
    both = done(changes.with_passkey(ada(), other))
    assert both.passkeys == (PASSKEY, other)
    assert code_of(changes.with_passkey(both, other)) == "bad_passkey"
    assert done(changes.without_passkey(both, PASSKEY.id)).passkeys == (other,)
    assert code_of(changes.without_passkey(both, "unknown")) == "not_found"
    assert code_of(changes.without_passkey(ada(), PASSKEY.id)) == "last_passkey"


def test_p215_a_device_that_signs_in_again_stays_one_device() -> None:
    once = changes.signed_in(ada(), device("phone", NOW))
    again = changes.signed_in(once, replace(device("phone", NOW + 9), name=""))
    (found,) = again.devices
    assert (found.since_ms, found.signed_ms, found.name) == (NOW, NOW + 9, "Firefox")


def test_p215_beyond_twenty_devices_the_one_that_signed_in_longest_ago_goes() -> None:
    account = ada()
    for number in range(20):
        account = changes.signed_in(account, device(f"{number}", NOW + number))
    account = changes.signed_in(account, device("0", NOW + 100))
    account = changes.signed_in(account, device("new", NOW + 101))
    kept = {each.id for each in account.devices}
    assert kept == {"new", "0", *(str(number) for number in range(2, 20))}


def test_p212_a_sign_in_is_fresh_for_fifteen_minutes() -> None:
    assert device("phone").is_fresh(NOW)
    assert device("phone").is_fresh(NOW + 15 * 60_000 - 1)
    assert not device("phone").is_fresh(NOW + 15 * 60_000)


@pytest.mark.parametrize(
    ("header", "name"),
    [
        ("Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Firefox/140.0", "Firefox, Linux"),
        ("Mozilla/5.0 (Windows NT 10.0) Chrome/139.0 Safari/537.36 Edg/139.0", "Edge, Windows"),
        ("Mozilla/5.0 (Linux; Android 15) Chrome/139.0 Mobile Safari/537.36", "Chrome, Android"),
        ("Mozilla/5.0 (iPhone; CPU iPhone OS 18_0) Version/18 Safari/604.1", "Safari, iPhone"),
        ("Mozilla/5.0 (Macintosh; Intel Mac OS X 15_0) Version/18 Safari/605", "Safari, Mac"),
        ("(Linux; Android 14) SamsungBrowser/27 Chrome/125", "Samsung Internet, Android"),
        ("curl/8.0", ""),
        ("", ""),
        ("Firefox/" * 10_000, "Firefox"),
    ],
)
def test_p215_a_device_is_named_by_browser_and_system(header: str, name: str) -> None:
    assert device_name(header) == name
