"""What a URL of a store says, and which ones say nothing."""

import pytest

from towerhall_server.store.address import AddressError, read_address


def test_sentinels_are_found_by_their_places_and_the_name_of_the_primary() -> None:
    address = read_address("redis+sentinel://ada:p%40w@s1.example:1,s2.example,[::1]:3/towers/2")
    assert address.kind == "sentinel"
    assert address.nodes == (("s1.example", 1), ("s2.example", 26379), ("::1", 3))
    assert address.name == "towers"
    assert address.at(("e.example", 7)) == "redis://ada:p%40w@e.example:7/2"
    assert address.at(("::1", 7)) == "redis://ada:p%40w@[::1]:7/2"
    assert address.sentinel_at(("s1.example", 1)) == "redis://s1.example:1/"


def test_sentinels_have_a_user_a_password_and_tls_of_their_own() -> None:
    query = "sentinel_user=eve&sentinel_password=s%26t&ssl_ca_certs=%2Fca.pem"
    address = read_address(f"rediss+sentinel://:pw@s1.example/towers?{query}")
    assert (address.sentinel_user, address.sentinel_password) == ("eve", "s&t")
    assert address.at(("e.example", 7)) == "rediss://:pw@e.example:7/?ssl_ca_certs=%2Fca.pem"
    assert address.sentinel_at(("s.example", 1)) == "rediss://s.example:1/?ssl_ca_certs=%2Fca.pem"
    plain = read_address("rediss+sentinel://s1.example/towers?sentinel_tls=no")
    assert plain.sentinel_at(("s.example", 1)) == "redis://s.example:1/"
    assert plain.at(("e.example", 7)) == "rediss://e.example:7/"


def test_a_cluster_is_found_by_some_of_its_nodes() -> None:
    address = read_address("redis+cluster://:pw@n1.example:7,n2.example/0")
    assert address.kind == "cluster"
    assert address.nodes == (("n1.example", 7), ("n2.example", 6379))
    assert address.at(("n3.example", 9)) == "redis://:pw@n3.example:9/"


def test_replicas_are_waited_for_behind_sentinels_and_on_a_cluster() -> None:
    for url in ("redis+cluster://n1.example?wait=1", "redis+sentinel://s1.example/towers?wait=2"):
        address = read_address(url)
        assert address.wait == int(url[-1])
        assert "wait" not in address.at(("e.example", 7))
    assert read_address("redis+cluster://n1.example").wait == 0


@pytest.mark.parametrize("url", ["redis://e.example/3", "rediss://e.example", "unix:///run/e.sock"])
def test_one_engine_is_what_redis_py_understands(url: str) -> None:
    address = read_address(url)
    assert (address.kind, address.url) == ("single", url)


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("redis+sentinel://s1.example", "lacks the name"),
        ("redis+sentinel://s1.example//1", "lacks the name"),
        ("redis+sentinel://s1.example/towers/one", "database is not a number"),
        ("redis+sentinel://s1.example/towers/1/2", "too many parts"),
        ("redis+sentinel://s1.example/towers?sentinel_tls=maybe", "yes or no"),
        ("redis+sentinel://s1.example,,/towers", "hosts is empty"),
        ("redis+cluster://n1.example/1", "no database but 0"),
        ("redis+cluster://n1.example?db=1", "no database but 0"),
        ("redis+cluster://n1.example?sentinel_user=eve", "has no sentinels"),
        ("redis://e.example?sentinel_password=x", "belongs to redis+sentinel"),
        ("redis+cluster://n1.example?wait=one", "a number of replicas"),
        ("redis+cluster://n1.example?wait=10", "a number of replicas"),
        ("redis://e.example?wait=1", "belongs to redis+sentinel:// and redis+cluster://"),
        ("redis+other://e.example", "does not name a store"),
        ("redis+sentinel://s1.example:sesame/towers", "does not name a store"),
        ("redis://", "does not name a store"),
    ],
)
def test_what_is_wrong_is_told_and_no_secret(url: str, told: str) -> None:
    with pytest.raises(AddressError) as refused:
        read_address(url)
    assert told in str(refused.value)
    assert "sesame" not in str(refused.value)
