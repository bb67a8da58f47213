"""The plan for many rooms: its program assigns every slot once, and shards in equal numbers."""

import re
from contextlib import redirect_stdout
from io import StringIO

import pytest

from tests.deploy.files import ROOT
from towerhall_server.eventlog.keys import SHARDS, shard_keys
from towerhall_server.store.slots import SLOTS, slot_of

PAGE = (ROOT / "docs/scale.md").read_text()


def shards_of(ranges: list[tuple[int, int]]) -> list[int]:
    slots = [slot_of(shard_keys(shard).clock.encode()) for shard in range(SHARDS)]
    return [sum(first <= slot <= last for slot in slots) for first, last in ranges]


@pytest.mark.parametrize("primaries", [3, 32, 64])
def test_slots_assigned_by_count_give_each_primary_as_many_shards(primaries: int) -> None:
    (program,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    program = program.replace("PRIMARIES = 32", f"PRIMARIES = {primaries}")
    with redirect_stdout(StringIO()) as told:
        exec(program, {})
    found = re.findall(r"^CLUSTER ADDSLOTSRANGE (\d+) (\d+)$", told.getvalue(), re.MULTILINE)
    ranges = [(int(first), int(last)) for first, last in found]
    assert [slot for first, last in ranges for slot in range(first, last + 1)] == [*range(SLOTS)]
    shards = shards_of(ranges)
    assert max(shards) - min(shards) <= (SHARDS % primaries > 0)


@pytest.mark.parametrize(("primaries", "most"), [(32, 12), (64, 8)])
def test_slots_in_equal_ranges_do_not(primaries: int, most: int) -> None:
    step = SLOTS // primaries
    shards = shards_of([(n * step, (n + 1) * step - 1) for n in range(primaries)])
    assert max(shards) == most
    share = f"{most * primaries / SHARDS:g} times"
    assert share in PAGE
