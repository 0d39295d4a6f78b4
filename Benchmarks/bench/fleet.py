"""A cache that machines share: a hit in Redis, alone and 64 at once, beside Redis' own benchmark."""

import contextlib
import os
import socket
import subprocess
import sys

from .disk import folder_in_memory
from .model import Contract, Row
from .workshop import answers, call, column

BYTES = 19_000
PEER = "redis-benchmark: GET"
# Of a load of an image in memory, before there were caches that machines share.
ALLOCATIONS = 3


def rows(shop):
    count = 2000 if shop.quick else 20_000
    with redis(shop) as port:
        url = f"redis://127.0.0.1:{port}"
        shop.ours("fleet-bench", "fill", url, count, BYTES)
        results = shop.in_turns({
            "alone": lambda: read(shop, url, min(count, 5000), 1),
            "together": lambda: read(shop, url, count, 64),
            "without-disk": lambda: shop.ours("fleet-bench", "read", url, count, "/nonexistent", 64),
            PEER: lambda: peer(port, count),
        })
    note = "verified, and stored on the local disk, which is in memory; connection and threads are those of a program that begins"
    yield Row("fleet-hit", "Hit of 19 kB in Redis, one at a time: half of them", "µs", column(results["alone"], "median"),
              contracts=[Contract("<=", 250)], in_chart=False, note=note)
    yield Row("fleet-hit-p99", "Hit of 19 kB in Redis, one at a time: 99 %", "µs", column(results["alone"], "p99"),
              contracts=[Contract("<=", 2000)], in_chart=False)
    peers = {PEER: column(results[PEER], "rate")}
    yield Row("fleet-hits", "Hits of 19 kB in Redis, 64 at once, no local disk", "per s", column(results["without-disk"], "rate"), peers=peers,
              contracts=[Contract(">=", 0.7, PEER)], more_is_better=True, note="verified; the peer drops what it reads")
    yield Row("fleet-hits-disk", "the same, stored on the local disk", "per s", column(results["together"], "rate"), peers=peers,
              more_is_better=True, in_chart=False)
    memory = shop.in_turns({"ours": lambda: shop.ours("fleet-bench", "memory", 10_000, 60, env=shop.counting())})["ours"]
    yield Row("fleet-memory-hit", "Load of an image in memory, without a store", "ns", column(memory, "without"),
              peers={"with a store": column(memory, "with")}, contracts=[Contract("<=", 1.05, "with a store")], in_chart=False)
    yield Row("fleet-memory-hit-allocations", "Load of an image in memory, without a store, allocations", "per load",
              column(memory, "without-allocations"), contracts=[Contract("<=", ALLOCATIONS)], in_chart=False)


def read(shop, url, count, width):
    with folder_in_memory(shop, "fleet", count * 2 * BYTES) as place:
        return shop.ours("fleet-bench", "read", url, count, place, width)


def peer(port, count):
    """What Redis' own program gets, of values of the same size."""
    command = ["redis-benchmark", "-p", port, "-d", BYTES, "-P", 1, "-c", 64, "--csv", "-n"]
    call([*command, 100, "-t", "set"])
    lines = call([*command, 5 * count, "-t", "get"]).splitlines()
    values = [line.split(",")[1].strip('"') for line in lines if line.startswith('"GET"')]
    return {"rate": float(values[0])}


@contextlib.contextmanager
def redis(shop):
    """Starts a server without persistence on a free port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    place = shop.folder("redis")
    server = subprocess.Popen(["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--dir", place, "--save", "", "--appendonly", "no"],
                              stdout=subprocess.DEVNULL)
    try:
        if not answers(port, server):
            sys.exit("redis-server did not start")
        yield port
    finally:
        server.terminate()
        server.wait()
