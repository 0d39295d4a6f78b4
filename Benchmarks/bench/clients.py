"""Clients of a server, and an origin that hangs."""

import asyncio
import concurrent.futures
import contextlib
import gc
import http.client
import multiprocessing
import os
import re
import select
import socket
import subprocess
import threading
import time


def percentile(values, percent):
    ordered = sorted(values)
    return ordered[min(len(ordered) * percent // 100, len(ordered) - 1)] if ordered else 0


def get(port, path, connection=None):
    """The status and the body of an answer."""
    own = connection or http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    own.request("GET", path)
    answer = own.getresponse()
    body = answer.read()
    if not connection:
        own.close()
    return answer.status, body


def fetch(port, targets, at_once):
    """Requests each target once, on so many kept connections."""
    queue, lock = iter(targets), threading.Lock()

    def work():
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        while True:
            with lock:
                path = next(queue, None)
            if path is None:
                return connection.close()
            status, body = get(port, path, connection)
            assert status == 200, f"{path}: {status} {body[:200]}"

    with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
        for task in [pool.submit(work) for _ in range(at_once)]:
            task.result()


# wrk


def start_wrk(port, path, seconds, connections):
    return subprocess.Popen(["wrk", "--threads", "1", "--connections", str(connections), "--duration", str(seconds), "--timeout", "10s",
                             f"http://127.0.0.1:{port}{path}"], stdout=subprocess.PIPE, text=True)


def end_wrk(process):
    text = process.communicate()[0]
    errors = sum(map(int, re.findall(r"(?:connect|read|write|timeout) (\d+)", text)))
    errors += sum(map(int, re.findall(r"Non-2xx or 3xx responses: (\d+)", text)))
    return {"count": float(re.search(r"(\d+) requests in", text).group(1)), "errors": errors,
            "rate": float(re.search(r"Requests/sec: +([0-9.]+)", text).group(1))}


def wrk(port, path, seconds, connections):
    report = end_wrk(start_wrk(port, path, seconds, connections))
    assert report["errors"] == 0, f"{path}: {report['errors']} requests failed"
    return report


# Many at once


async def exchange(port, path):
    """The status of an answer and the seconds it took, on a connection for it alone; 0 if there was none."""
    start = time.monotonic()
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n".encode())
        head = await reader.readline()
        elapsed = time.monotonic() - start
        await reader.read()
        writer.close()
        return int(head.split()[1]), elapsed
    except (OSError, IndexError, ValueError):
        return 0, time.monotonic() - start


def storm(port, path, count):
    """Equal requests at the same time, all answered with the image."""

    async def run():
        return await asyncio.gather(*(exchange(port, path) for _ in range(count)))

    statuses = {status for status, _ in asyncio.run(run())}
    assert statuses == {200}, f"answers: {statuses}"


class Timed:
    """A client whose clock shows the server's time and not its own: a process for itself, before all others if the system allows that (as root),
    because it shares the processors with the server. It runs a function, which returns what was measured; the last argument is a pipe, in which
    something arrives when it is to end."""

    def __init__(self, function, *arguments):
        self.ours, theirs = multiprocessing.Pipe()
        self.process = multiprocessing.get_context("fork").Process(target=timed, args=(function, arguments, theirs), daemon=True)
        self.result = None

    def __enter__(self):
        self.process.start()
        return self

    def __exit__(self, *_):
        self.ours.send(None)
        self.wait()

    def wait(self):
        self.result = self.ours.recv()
        self.process.join()
        return self.result


def timed(function, arguments, pipe):
    go_first(True)
    gc.disable()
    pipe.send(function(*arguments, pipe))


def go_first(first):
    """Whether this process goes before others now; only root's can."""
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO if first else os.SCHED_OTHER, os.sched_param(int(first)))
    except OSError:
        return False
    return first


def can_go_first():
    return go_first(True) and not go_first(False)


def open_loop(port, targets, rate, seconds):
    """Requests at a fixed rate, whatever becomes of those before: the status of each, 0 for none, and the seconds until its answer began."""
    client = Timed(arrive, port, targets, rate, seconds)
    client.process.start()
    return client.wait()


def arrive(port, targets, rate, seconds, _):
    poll, running, outcome = select.epoll(), {}, []
    start, count, sent = time.monotonic(), int(rate * seconds), 0
    while sent < count or running:
        until_next = max(start + sent / rate - time.monotonic(), 0) if sent < count else 10
        for number, _ in poll.poll(until_next):
            client, began, status = running[number]
            data = received(client)
            if status is None:
                words = data[:16].split()
                running[number][2] = status = int(words[1]) if len(words) > 1 else 0
                outcome.append((status, time.monotonic() - began))
            if not data:
                poll.unregister(number)
                running.pop(number)[0].close()
        while sent < count and time.monotonic() >= start + sent / rate:
            sent += 1
            began, client = time.monotonic(), socket.socket()
            try:
                client.connect(("127.0.0.1", port))
                client.sendall(f"GET {next(targets)} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n".encode())
            except OSError:
                outcome.append((0, time.monotonic() - began))
                continue
            poll.register(client, select.EPOLLIN)
            running[client.fileno()] = [client, began, None]
    return outcome


def received(client):
    try:
        return client.recv(1 << 18)
    except OSError:
        return b""


def probe(port, path):
    """A client that wants a hit every 10 ms; the milliseconds of each are its result."""
    return Timed(repeat, port, path)


def repeat(port, path, pipe):
    connection, times = http.client.HTTPConnection("127.0.0.1", port, timeout=120), []
    while not pipe.poll(0.01):
        start = time.monotonic()
        status, _ = get(port, path, connection)
        times.append((time.monotonic() - start) * 1000)
        assert status == 200, f"a hit was answered with {status}"
    return times


class Hanging:
    """An origin that accepts connections and says nothing. It has another address than other origins: hosts are told apart by it."""

    def __enter__(self):
        self.listener = socket.create_server(("127.0.0.2", 0), backlog=4096)
        self.address = f"127.0.0.2:{self.listener.getsockname()[1]}"
        self.connections = []
        threading.Thread(target=self.accept, daemon=True).start()
        return self

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                self.connections.append(self.listener.accept()[0])

    def __exit__(self, *_):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        for connection in self.connections:
            connection.close()


class Parked:
    """Clients that wait for answers."""

    def __init__(self, port, targets):
        self.port, self.targets, self.sockets = port, targets, []

    def __enter__(self):
        for path in self.targets:
            client = socket.create_connection(("127.0.0.1", self.port))
            client.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
            self.sockets.append(client)
        return self

    def __exit__(self, *_):
        for client in self.sockets:
            client.close()
