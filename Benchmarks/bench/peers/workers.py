"""What the Python peers share: a process per core, each with a connection of its own that stays open. The clock starts
when all of them are ready, so that the start of the interpreters is not counted."""

import http.client
import multiprocessing
import os
import time
import urllib.parse


def work(urls, make, barrier):
    address = urllib.parse.urlsplit(urls[0])
    connection = http.client.HTTPConnection(address.hostname, address.port)
    connection.connect()
    barrier.wait()
    for url in urls:
        path = urllib.parse.urlsplit(url).path
        connection.request("GET", path)
        make(connection.getresponse().read(), path.rsplit("/", 1)[1])


def run(list_path, make):
    with open(list_path, encoding="utf-8") as file:
        urls = file.read().split()
    count = os.cpu_count()
    context = multiprocessing.get_context("fork")
    barrier = context.Barrier(count + 1)
    processes = [context.Process(target=work, args=(urls[index::count], make, barrier)) for index in range(count)]
    for process in processes:
        process.start()
    barrier.wait()
    start = time.perf_counter()
    for process in processes:
        process.join()
    elapsed = time.perf_counter() - start
    if any(process.exitcode for process in processes):
        raise SystemExit("a worker failed")
    print("pictures", len(urls) / elapsed, "1/s", sep="\t")
