"""The disk cache: a hit beside opening and reading the same file, and many entries beside few."""

import contextlib
import pathlib
import shutil
import tempfile

from .model import Contract, Row
from .workshop import column


def rows(shop):
    count, size = (500, 40 * 1024) if shop.quick else (2000, 40 * 1024)
    place, paths = shop.folder("disk-cache"), shop.scratch / "paths.txt"
    shop.ours("disk-bench", "fill", place, count, size, paths)
    results = shop.in_turns({
        "ours": lambda: shop.ours("disk-bench", "read", place, count, 5),
        "C": lambda: shop.c("read-files", 5, paths),
    })
    yield Row("disk-hit", "Disk hit of 40 KiB, warm", "µs", column(results["ours"], "read"),
              peers={"C: open + read": column(results["C"], "read")},
              contracts=[Contract("<=", 1.3, "C: open + read")],
              note="ours compares key, length and checksum on top")
    amended = shop.in_turns({"ours": lambda: shop.ours("disk-bench", "amend", place, count, 5)})["ours"]
    yield Row("disk-amend", "Validators of an entry of 40 KiB changed", "µs", column(amended, "amend"),
              peers={"entry written anew": column(amended, "anew")},
              contracts=[Contract("<=", 0.5, "entry written anew")], in_chart=False,
              note="after a 304; they are written into the file")
    yield from many(shop)


def many(shop):
    """The same work in a directory of few entries and in one of many, each made anew in each turn."""
    few, lots, stores, lookups = (200, 2000, 200, 1000) if shop.quick else (1000, 100_000, 1000, 5000)
    results = {few: [], lots: []}
    for _ in range(min(shop.rounds, 5)):
        for count, reports in results.items():
            with folder_in_memory(shop, f"disk-many-{count}", count * 10_000) as place:
                reports.append(shop.ours("disk-bench", "many", place, count, stores, lookups))
    titles = {
        "store": ("Store of 4 KiB", f"at least {stores} stores after a start, the size limit reached, until the "
                                    "directory has been walked through and is due again"),
        "lookup": ("Lookup of 4 KiB", f"{lookups} keys all over, warm"),
        "trim": ("Trim, per entry removed", "a pass from over the limit to half of it, with the walk that finds the oldest"),
    }
    small, big = (f"{count:,} entries".replace(",", " ") for count in (few, lots))
    for name, (title, note) in titles.items():
        yield Row(f"disk-many-{name}", f"{title}, {big}", "µs", column(results[lots], name),
                  peers={small: column(results[few], name)}, contracts=[Contract("<=", 2.0, small)],
                  in_chart=False, note=note)


@contextlib.contextmanager
def folder_in_memory(shop, name, byte_count):
    """A folder on a memory file system, if there is room: what a disk does behind the back would be all that is seen."""
    memory = pathlib.Path("/dev/shm")
    if not memory.is_dir() or shutil.disk_usage(memory).free < 2 * byte_count:
        yield shop.folder(name)
        return
    with tempfile.TemporaryDirectory(prefix="webimage-bench-", dir=memory) as place:
        yield place
