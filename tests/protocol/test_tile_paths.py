"""P-183: the addresses of tiles."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from towerhall_protocol.tile_paths import TilePath, read_tile_path

paths = st.builds(
    TilePath,
    st.none() | st.integers(0, 63),
    st.integers(0, 10**18 - 1),
    st.integers(1, 256),
)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (TilePath(0, 0, 256), "0/000"),
        (TilePath(2, 1234067, 256), "2/x001/x234/067"),
        (TilePath(0, 273, 112), "0/273.p/112"),
        (TilePath(None, 1000, 7), "entries/x001/000.p/7"),
    ],
)
def test_the_addresses_are_those_of_the_format(path: TilePath, text: str) -> None:
    assert str(path) == text
    assert read_tile_path(text) == path


@given(paths)
def test_every_tile_has_one_address(path: TilePath) -> None:
    assert read_tile_path(str(path)) == path


@pytest.mark.parametrize(
    "text",
    [
        *("", "0", "0/0", "00/000", "64/000", "0/x000/000", "0/001/000", "-1/000", "data/000"),
        *("0/000.p/0", "0/000.p/256", "0/000.p/07", "0/000.p/", "0/000/", "0/x001/x234", "0/1000"),
    ],
)
def test_what_is_no_address_is_none(text: str) -> None:
    assert read_tile_path(text) is None
