"""A store by its URL: one engine, the primary behind sentinels, or a cluster."""

from typing import TypeAlias

from towerhall_server.store.address import read_address
from towerhall_server.store.batch import Batch
from towerhall_server.store.cluster import Cluster, node_of
from towerhall_server.store.connection import Connection
from towerhall_server.store.endpoint import Endpoint, endpoint
from towerhall_server.store.sentinels import Sentinels

Store: TypeAlias = Batch | Cluster


def open_store(url: str) -> Store:
    """Return what carries calls to the store. It connects at the first call."""
    address = read_address(url)
    if address.kind == "cluster":
        return Cluster(address)
    if address.kind == "sentinel":
        return Batch(Connection(Sentinels(address).find))
    return Batch(Connection(url))


async def listening_place(url: str) -> Endpoint:
    """Return an engine that hears all publications of the store. Raises `StoreError`."""
    address = read_address(url)
    if address.kind == "cluster":
        return await node_of(address)
    if address.kind == "sentinel":
        return await Sentinels(address).find()
    return endpoint(url)


def may_move(url: str) -> bool:
    """Whether another engine may take over: then silence means that one has to be looked for."""
    return read_address(url).kind != "single"
