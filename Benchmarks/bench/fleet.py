"""A cache that machines share: a hit in Redis, alone and 64 at once, beside Redis' own benchmark."""

import contextlib
import os
import socket
import shutil
import signal
import subprocess
import sys
import threading
import time

from .disk import folder_in_memory
from .model import Contract, Row
from .workshop import answers, call, column, nginx, parse

BYTES = 19_000
PEER = "redis-benchmark: GET"
# Of a load of an image in memory, before there were caches that machines share.
ALLOCATIONS = 3
# Loads per second during faults; a third are those of a manager without a store.
RATE = 600


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
    yield from faults(shop)


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
    """Starts a server; its port."""
    with Redis(shop) as server:
        yield server.port


class Redis:
    """A server without persistence on a free port."""

    def __init__(self, shop):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.place = shop.folder("redis")
        self.start()

    def start(self):
        self.process = subprocess.Popen(["redis-server", "--port", str(self.port), "--bind", "127.0.0.1", "--dir", self.place, "--save", "",
                                         "--appendonly", "no"], stdout=subprocess.DEVNULL)
        if not answers(self.port, self.process):
            sys.exit("redis-server did not start")

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        self.process.send_signal(signal.SIGSTOP)

    def resume(self):
        self.process.send_signal(signal.SIGCONT)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.resume()
        self.process.terminate()
        self.process.wait()


# Faults


def faults(shop):
    """Loads while the store fails: how much later than before they are, and when the store is used again."""
    reports = {"killed": [], "stopped": [], "a black hole": []}
    with nginx(small(shop), shop.scratch / "nginx-fleet") as origin:
        for _ in range(1 if shop.quick else 5):
            for name, results in reports.items():
                results.append(fault(shop, f"{origin}/small.jpg", name))

    def worst(value):
        return [max(value(report) for report in turn) for turn in zip(*reports.values())]

    def note(value, unit):
        return ", ".join(f"{name}: {max(value(report) for report in results):.2f} {unit}" for name, results in reports.items())

    first = lambda report: report["first-p99"] - report["before-p99"]
    later = lambda report: report["open-p99"] - report["before-p99"]
    beside = lambda report: report["open-p99"] - report["open-without-p99"]
    back = lambda report: report["return"]
    title = "Store killed, stopped or a black hole"
    yield Row("fleet-fault-first", f"{title}: 99th percentile of loads in the first second, more than before", "ms", worst(first),
              contracts=[Contract("<=", 25)], in_chart=False,
              note=f"{2 * RATE // 3} thumbnails per second, which only the origin has; the worst of the three; at most {note(first, 'ms')}")
    yield Row("fleet-fault-later", f"{title}: 99th percentile of loads after the first second, more than before", "ms", worst(later),
              contracts=[Contract("<=", 1)], in_chart=False,
              note=f"before, each load also took a lease and was stored; the worst of the three; at most {note(later, 'ms')}")
    yield Row("fleet-fault-beside", f"{title}: the same, more than loads without a store at the same time", "ms", worst(beside), in_chart=False,
              note=f"the worst of the three; at most {note(beside, 'ms')}")
    yield Row("fleet-fault-return", f"{title}: until it is used again", "s", worst(back), contracts=[Contract("<=", 2)], in_chart=False,
              note=f"the worst of the three; at most {note(back, 's')}")
    errors = [sum(report["errors"] for report in turn) for turn in zip(*reports.values())]
    yield Row("fleet-fault-errors", f"{title}: loads that failed", "in all", errors, contracts=[Contract("<=", 0)], in_chart=False)


def small(shop):
    """A folder with an image of about 19 kB."""
    place = shop.folder("small")
    shutil.copy(shop.single_picture(0.1), place / "small.jpg")
    return place


def fault(shop, source, kind):
    """The report of loads during a fault. It lasts long enough for two probes of the circuit breaker."""
    with Redis(shop) as server, Relay(server.port) as relay, folder_in_memory(shop, "fleet-fault", 500 << 20) as place:
        port = relay.port if kind == "a black hole" else server.port
        command = [shop.swift / "fleet-bench", "fault", f"redis://127.0.0.1:{port}", source, place, RATE]
        load = subprocess.Popen([str(word) for word in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

        def say(line):
            load.stdin.write(line + "\n")
            load.stdin.flush()

        time.sleep(4)
        say("fault")
        {"killed": server.kill, "stopped": server.stop, "a black hole": relay.swallow}[kind]()
        time.sleep(4)
        {"killed": server.start, "stopped": server.resume, "a black hole": relay.forward}[kind]()
        say("repaired")
        time.sleep(3)
        output = load.communicate("end\n")[0]
        if load.returncode != 0:
            sys.exit(f"fleet-bench ended with status {load.returncode}")
    return parse(output)


class Relay:
    """Forwards connections to a port, or swallows all that is sent, while connections stay open and new ones are accepted."""

    def __init__(self, target):
        self.target = target
        self.is_open = True
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def swallow(self):
        self.is_open = False

    def forward(self):
        self.is_open = True

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                client = self.listener.accept()[0]
                try:
                    server = socket.create_connection(("127.0.0.1", self.target))
                except OSError:
                    client.close()
                    continue
                for pair in ((client, server), (server, client)):
                    threading.Thread(target=self.pump, args=pair, daemon=True).start()

    def pump(self, source, sink):
        with contextlib.suppress(OSError):
            while data := source.recv(1 << 16):
                if self.is_open:
                    sink.sendall(data)
        for end in (source, sink):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
