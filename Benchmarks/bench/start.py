"""Programs that do little: how soon they begin and end, and what memory they take."""

import subprocess
import time

from .model import Contract, Row
from .workshop import PROJECT, column

IMAGE = PROJECT / "Tests/Fixtures/PNG/tiny-1x1.png"


def rows(shop):
    count = 20 if shop.quick else 100
    commands = {
        "version": [shop.webimage, "--version"],
        "ours": [shop.webimage, "identify", IMAGE],
        "vipsheader": ["vipsheader", IMAGE],
        "ImageMagick: identify": ["identify", IMAGE],
    }
    results = shop.in_turns({name: lambda command=command: runs(shop, command, count) for name, command in commands.items()})
    note = f"each run {count} times, one after the other"
    yield Row("start-version", "webimage --version", "ms", column(results["version"], "time"),
              contracts=[Contract("<=", 8)], in_chart=False, note=note)
    peers = {name: column(results[name], "time") for name in ("vipsheader", "ImageMagick: identify")}
    yield Row("start-identify", "Header of a small PNG, the whole program", "ms", column(results["ours"], "time"), peers=peers,
              contracts=[Contract("<=", 12)] + [Contract("<=", 0.5, name) for name in peers], note=note)
    peers = {name: column(results[name], "memory") for name in peers}
    yield Row("start-memory", "Header of a small PNG, peak memory", "MB", column(results["ours"], "memory"), peers=peers,
              contracts=[Contract("<=", 15)], in_chart=False)


def runs(shop, command, count):
    """Milliseconds of one run, and the peak of its memory."""
    words = [str(word) for word in command]
    start = time.monotonic()
    for _ in range(count):
        subprocess.run(words, stdout=subprocess.DEVNULL, check=True)
    elapsed = time.monotonic() - start
    return {"time": elapsed / count * 1000, "memory": shop.measured(words)["peak"]}
