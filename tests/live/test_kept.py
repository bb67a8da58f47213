"""Records take less room in the store than they do on the wire, and come back byte by byte."""

import gzip
import zlib
from pathlib import Path

import msgspec
import pytest

from tests.versions.golden import FOLDER
from towerhall_server.eventlog.entry import START
from towerhall_server.live.kept import KeptRecord, decode, encode, zipped

RECORDS = sorted(FOLDER.glob("*/*.record.json"))
MOST_BYTES = 25_000


@pytest.mark.parametrize("path", RECORDS, ids=lambda path: path.name)
def test_a_record_of_a_whole_game_is_small_and_comes_back_as_it_was(path: Path) -> None:
    file = path.read_bytes()
    kept = KeptRecord(START, b"key", zipped(file), b"owed", archived=True)
    data = encode(kept)
    assert len(data) < min(MOST_BYTES, 0.95 * len(kept.packed))
    assert decode(data) == kept
    assert decode(data).file == file


def test_there_are_records_of_both_games() -> None:
    assert len(RECORDS) >= 2
    assert max(path.stat().st_size for path in RECORDS) > 90_000


def test_a_record_that_an_older_version_has_kept_is_read() -> None:
    packed = gzip.compress(b'{"format": 2}' * 50, mtime=0)
    older = msgspec.msgpack.encode([START, b"key", packed, b"owed"])
    assert decode(older) == KeptRecord(START, b"key", packed, b"owed")


def test_an_older_version_takes_the_new_form_for_none_and_not_for_gzip() -> None:
    class Older(msgspec.Struct, frozen=True, array_like=True):
        place: object
        key_hash: bytes
        packed: bytes

    data = encode(KeptRecord(START, b"", zipped(b"x" * 999)))
    with pytest.raises(msgspec.ValidationError):
        msgspec.msgpack.decode(data, type=Older)


def test_gzip_of_another_library_is_kept_as_it_is() -> None:
    other = zlib.compressobj(1, zlib.DEFLATED, 31)
    kept = KeptRecord(START, b"", other.compress(b"abc" * 500) + other.flush())
    assert decode(encode(kept)) == kept
