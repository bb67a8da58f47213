"""Metrics in Prometheus' form. They are computed when they are read."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import accumulate
from typing import Final

from prometheus_client import CollectorRegistry
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    InfoMetricFamily,
    Metric,
)
from prometheus_client.gc_collector import GCCollector
from prometheus_client.process_collector import ProcessCollector
from prometheus_client.registry import Collector

from towerhall_server.telemetry.meters import Histogram, Levels, Meters

PREFIX: Final = "towerhall_"


class ServerFamilies(Collector):
    """All metric families of one server."""

    def __init__(
        self, meters: Meters, levels: Callable[[], Levels], about: Mapping[str, str]
    ) -> None:
        self._meters = meters
        self._levels = levels
        self._about = dict(about)

    def describe(self) -> Iterable[Metric]:
        """Registering reads nothing: the server may not exist yet."""
        return ()

    def collect(self) -> Iterator[Metric]:
        yield InfoMetricFamily(f"{PREFIX}build", "What runs here", self._about)
        yield from _of_levels(self._levels())
        yield from _of_moves(self._meters)
        yield from _of_people(self._meters)


def registry(
    meters: Meters, levels: Callable[[], Levels], about: Mapping[str, str]
) -> CollectorRegistry:
    """The families of this server and those of its process."""
    made = CollectorRegistry()
    made.register(ServerFamilies(meters, levels, about))
    ProcessCollector(registry=made)
    GCCollector(registry=made)
    return made


def _of_levels(now: Levels) -> Iterator[Metric]:
    yield _gauge("rooms", "Rooms in memory", now.rooms)
    yield _gauge("rooms_paused", "Rooms that wait for the store", now.paused)
    viewers = GaugeMetricFamily(f"{PREFIX}viewers", "Connections inside rooms", labels=["kind"])
    viewers.add_metric(["seated"], now.seated)
    viewers.add_metric(["watching"], now.watching)
    yield viewers
    yield _gauge("sockets", "Connections, inside rooms or not yet", now.sockets)
    yield _gauge("ready", "1 while new connections are welcome", int(now.ready))


def _of_moves(meters: Meters) -> Iterator[Metric]:
    yield _counter("appends", "Commits put into logs", meters.appends)
    yield _counter("conflicts", "Appends that lost to another node", meters.answers["conflict"])
    yield _by_name("append_refusals", "Appends that the store refused", "answer", meters.answers)
    yield _histogram(
        "append_seconds", "From a call to the store until its answer", meters.append_seconds
    )
    yield _histogram(
        "broadcast_seconds",
        "Arrival of a command until its frame is handed to all connections",
        meters.broadcast_seconds,
    )
    yield _histogram("loop_lag_seconds", "Lateness of the event loop", meters.lag_seconds)
    yield _counter("store_pauses", "Times that a room had to wait for the store", meters.pauses)
    yield _counter("lost_commits", "Commits that logs have lost", meters.lost_commits)
    yield _counter("broken_logs", "Logs that could be read only in part", meters.broken_logs)
    yield _counter("fast_path_faults", "Faults of the fast path", meters.fast_path_faults)
    yield _counter("rooms_created", "Rooms created here", meters.rooms_created)
    yield _by_name("snapshots", "Snapshots of rooms", "fate", meters.snapshots)
    yield _counter("log_leaves", "Leaves added to the public log", meters.log_leaves)
    yield _counter("log_faults", "Looks at an inconsistent public log", meters.log_faults)


def _of_people(meters: Meters) -> Iterator[Metric]:
    yield _counter("duplicates", "Commands that were in the log already", meters.duplicates)
    yield _counter("stale", "Commands that came too late", meters.rejects["stale"])
    yield _by_name("rejects", "Commands refused", "code", meters.rejects)
    yield _by_name("bad_messages", "Messages answered with an error", "code", meters.bad_messages)
    yield _by_name("closes", "Connections ended by the server", "reason", meters.closes)
    yield _counter(
        "slow_readers_closed", "Slow readers that were closed", meters.closes["too_slow"]
    )
    yield _counter("resyncs", "Slow readers that were resynchronised", meters.resyncs)
    yield _counter("quotas_unasked", "Quotas decided without the store", meters.quotas_unasked)
    yield _counter("audit_lost", "Acts missing from the audit log", meters.audit_lost)
    answers = CounterMetricFamily(
        f"{PREFIX}http_answers", "HTTP answers", labels=["method", "route", "status"]
    )
    for (method, route, status), count in sorted(meters.http.items()):
        answers.add_metric([method, route, str(status)], count)
    yield answers


def _counter(name: str, text: str, value: int) -> Metric:
    return CounterMetricFamily(PREFIX + name, text, value=value)


def _gauge(name: str, text: str, value: int) -> Metric:
    return GaugeMetricFamily(PREFIX + name, text, value=value)


def _by_name(name: str, text: str, label: str, counts: Mapping[str, int]) -> Metric:
    family = CounterMetricFamily(PREFIX + name, text, labels=[label])
    for each, count in sorted(counts.items()):
        family.add_metric([each], count)
    return family


def _histogram(name: str, text: str, found: Histogram) -> Metric:
    bounds = [*map(repr, found.bounds), "+Inf"]
    buckets = list(zip(bounds, accumulate(found.counts), strict=True))
    return HistogramMetricFamily(PREFIX + name, text, buckets=buckets, sum_value=found.seconds)
