"""The disk cache: a hit beside opening and reading the same file."""

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
              contracts=[Contract("<=", 1.5, "C: open + read")],
              note="ours compares key, length and checksum on top")
