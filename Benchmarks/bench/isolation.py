"""Decoding in a process of its own, beside decoding in this one."""

from .model import Contract, Row
from .workshop import column


def rows(shop):
    picture = shop.single_picture(2)
    results = shop.in_turns({
        "still": lambda: shop.ours("isolation-bench", "still", 20 if shop.quick else 60, picture),
        "start": lambda: shop.ours("isolation-bench", "start", 2 if shop.quick else 8, picture),
    })
    yield Row("isolation-still", "JPEG of 2 megapixels in a worker, what it takes longer than in the process", "ms",
              column(results["still"], "difference"), contracts=[Contract("<=", 1.0)], in_chart=False,
              note="wall clock, without a copy of the pixels; in the process it takes as long as the row after this says")
    yield Row("isolation-inside", "the same JPEG in the process", "ms", column(results["still"], "inside"), in_chart=False)
    yield Row("isolation-start", "the first picture of a new worker, which prepare() hides", "ms", column(results["start"], "start"),
              in_chart=False)
