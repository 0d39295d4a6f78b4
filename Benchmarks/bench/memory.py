"""The memory cache: what a hit takes, and how often there is one."""

from .model import Contract, Row
from .workshop import column

PEER = "C++: hash table and list under a mutex"


def rows(shop):
    results = shop.in_turns({
        "ours": lambda: shop.ours("memory-cache-bench", 10_000),
        "C++": lambda: shop.c("lru-cache", 10_000, 100_000),
    })

    def values(name):
        return column(results["ours"], name)

    yield Row("memory-hit", "Memory hit, 10 000 pictures in the cache", "ns", values("memory-hit-string-10k"),
              peers={PEER: column(results["C++"], "hit")}, contracts=[Contract("<=", 100)], in_chart=False,
              note="looked up by a fresh copy of the key string, in random order, the cache full; each run is the best of 60 "
                   "short ones; the peer has no limits, one lock, and no second level")
    yield Row("memory-hit-allocations", "Memory hit, allocations", "per hit", values("memory-hit-allocations-10k"),
              contracts=[Contract("<=", 0)], in_chart=False)
    yield Row("memory-hit-scaling", "Memory hits of 2 threads together", "× one thread",
              values("memory-hit-2-threads-scaling-10k"), contracts=[Contract(">=", 1.2)], more_is_better=True,
              in_chart=False, note="'2 threads scale', taken as at least 1.2 times the hits of one")
    without, with_reuse = values("load-memory-hit"), values("load-memory-hit-size-reuse")
    yield Row("load-memory-hit", "Load of an image in memory", "ns", without, in_chart=False)
    yield Row("load-memory-hit-size-reuse", "Load of an image in memory, added by sizeReuse", "ns",
              [found - base for found, base in zip(with_reuse, without)], contracts=[Contract("<=", 10)], in_chart=False)
    if shop.quick:
        return
    ratios = shop.ours("hit-ratio-bench", 0.2)
    yield Row("hit-ratio-worst", "Hit ratio on the worst of the traces, against the better of LRU and ARC", "×",
              [ratios["hit-ratio/worst-against-best-of-lru-and-arc"]], contracts=[Contract(">=", 0.95)],
              more_is_better=True, in_chart=False,
              note="Zipf, drift, feed, grid back and forth, scans; caches of 1, 5 and 10 % of the footprint")
    yield Row("hit-ratio-mean", "Hit ratio, mean over the traces", "%", [ratios["hit-ratio/mean/webimage"]],
              peers={"LRU": [ratios["hit-ratio/mean/lru"]], "ARC": [ratios["hit-ratio/mean/arc"]],
                     "size-aware W-TinyLFU": [ratios["hit-ratio/mean/w-tinylfu"]]},
              contracts=[Contract(">=", 1, "size-aware W-TinyLFU")], more_is_better=True)
