"""What other processes use, and on which core they run: read from and told to the kernel.

Linux only: elsewhere there is no `/proc`, and no way to pin a process to a core.
"""

import os
import resource
import sys
from pathlib import Path
from time import clock_gettime, monotonic

TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
CORES = os.sysconf("SC_NPROCESSORS_ONLN")
"""All of the machine, also those that this process may not use."""
KIB = 1024
PROCESS_CPU = 2
"""What a clock's number ends with that counts the time of one process, to the nanosecond."""


def refuse_other_systems() -> None:
    """Say so before anything is started."""
    if sys.platform != "linux":
        sys.exit("these measurements need Linux: they read /proc and pin processes to cores")


def cpu_seconds(pid: int) -> float:
    """User and system time of one process so far, all its threads, without its children.

    Its clock says so to the nanosecond; `/proc` rounds to ticks, a tenth of a short window.
    """
    return clock_gettime(~pid << 3 | PROCESS_CPU)


def all_cpu_seconds() -> float:
    """The time that all cores have spent on anything, other guests of the machine included.

    That is all but idle time, which the kernel measures. The times of `/proc/stat` that are not
    idle it only samples at each tick: a load at a steady rate is always met in the same phase, and
    counts for twice as much as it was, or for nothing.
    """
    idle, waiting = _first_line_of_stat()[3:5]
    return CORES * monotonic() - (idle + waiting) / TICKS_PER_SECOND


def rss_bytes(pid: int) -> int:
    """Memory of the process that is in RAM. What the kernel holds for its sockets is not in it."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * KIB
    raise ProcessLookupError(pid)


def children(pid: int) -> list[int]:
    """The processes that this one has started and that still run."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                parent = int(_stat(int(entry.name))[1])
            except (FileNotFoundError, ProcessLookupError):
                continue
            if parent == pid:
                found.append(int(entry.name))
    return found


def cores() -> tuple[int, int]:
    """One core for the server, one for everything else; the same one if there is no other."""
    usable = sorted(os.sched_getaffinity(0))
    return usable[0], usable[-1]


def pin(pid: int, core: int) -> None:
    """Keep all threads of a process on one core. Those that it starts later stay there too."""
    for thread in Path(f"/proc/{pid}/task").iterdir():
        os.sched_setaffinity(int(thread.name), {core})


def allow_many_sockets() -> None:
    """For this process and all that it starts."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def _first_line_of_stat() -> list[int]:
    with Path("/proc/stat").open() as file:
        return [int(ticks) for ticks in file.readline().split()[1:]]


def _stat(pid: int) -> list[str]:
    """The fields after the name, which may hold anything: state, parent, ..."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
