"""Decoding JPEG: full size and thumbnails, CPU time and memory, beside libjpeg-turbo from C and libvips."""

from .model import Contract, Row
from .workshop import column

LIBJPEG = "C: libjpeg-turbo"
SCALED = "C: DCT scaling + Lanczos"
SCALED_FAST = "C: DCT scaling + box"
VIPS = "libvips (vipsthumbnail)"


def rows(shop):
    files = shop.pictures(200)[:10 if shop.quick else 40]
    iterations = 3 if shop.quick else 5
    results = shop.in_turns({
        f"{who} {mode}": lambda who=who, mode=mode: (shop.ours if who == "ours" else shop.c)(
            "jpeg-bench" if who == "ours" else "jpeg-decode", mode, iterations, *files)
        for mode in ("full", "high", "fast") for who in ("ours", "C")
    } | ({} if shop.quick else {"vips": lambda: vipsthumbnail(shop, files)}))

    yield Row("jpeg-full", "JPEG of 1–3 megapixels to BGRA, CPU", "ms", column(results["ours full"], "cpu"),
              peers={LIBJPEG: column(results["C full"], "cpu")}, contracts=[Contract("<=", 1.1, LIBJPEG)])
    peers, contracts = {SCALED: column(results["C high"], "cpu")}, [Contract("<=", 1.05, SCALED)]
    if not shop.quick:
        peers[VIPS] = column(results["vips"], "cpu")
        contracts.append(Contract("<=", 0.7, VIPS))
    yield Row("jpeg-thumbnail", "JPEG to a 300 px thumbnail, CPU", "ms", column(results["ours high"], "cpu"),
              peers=peers, contracts=contracts)
    yield Row("jpeg-thumbnail-fast", "JPEG to a 300 px thumbnail, fast quality, CPU", "ms",
              column(results["ours fast"], "cpu"), peers={SCALED_FAST: column(results["C fast"], "cpu")},
              contracts=[Contract("<=", 1.05, SCALED_FAST)])
    yield from memory_rows(shop)


def vipsthumbnail(shop, files):
    """CPU per picture over all files in one process; written without encoding."""
    folder = shop.folder("vips")
    report = shop.measured(["vipsthumbnail", "--size", "300x300", "--output", f"{folder}/%s.v", *files])
    return {"cpu": report["cpu"] * 1000 / len(files), "peak": report["peak"]}


def memory_rows(shop):
    small, large = shop.single_picture(0.01), shop.single_picture(12)
    runs = {}
    # A first picture brings in code and tables; a tiny one, since ours keeps big buffers for the next.
    for mode in ("full", "high"):
        runs[f"ours {mode}"] = lambda mode=mode: shop.ours("jpeg-bench", "peak", mode, small, large)
        runs[f"C {mode}"] = lambda mode=mode: shop.c("jpeg-decode", "peak", mode, small, large)
    if not shop.quick:
        runs["vips"] = lambda: vipsthumbnail(shop, [large])
    results = shop.in_turns(runs)
    yield Row("jpeg-full-memory", "12-megapixel JPEG to BGRA, memory it takes at its peak", "MB",
              column(results["ours full"], "growth"), peers={LIBJPEG: column(results["C full"], "growth")},
              contracts=[Contract("<=", 1.1, LIBJPEG)], in_chart=False)
    yield Row("jpeg-thumbnail-growth", "12-megapixel JPEG to a 300 px thumbnail, memory it takes at its peak", "MB",
              column(results["ours high"], "heap"), peers={SCALED: column(results["C high"], "heap")},
              contracts=[Contract("<=", 1.05, SCALED)], in_chart=False, note="heap blocks in use, counted in both programs")
    if not shop.quick:
        yield Row("jpeg-thumbnail-peak", "12-megapixel JPEG to a 300 px thumbnail, peak of the whole process", "MB",
                  column(results["ours high"], "peak"), peers={VIPS: column(results["vips"], "peak")},
                  contracts=[Contract("<=", 0.7, VIPS)])
