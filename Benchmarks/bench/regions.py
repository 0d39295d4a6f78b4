"""Reading regions of large JPEG files without restart markers, beside djpeg, which decodes the Huffman codes of all rows above a region."""

import random

from .model import Contract, Row
from .workshop import call, column

DJPEG = "djpeg -crop"
SIDE = 32_768


def rows(shop):
    picture = shop.single_picture(24)
    results = shop.in_turns({
        "ours": lambda: shop.ours("region-bench", picture),
        DJPEG: lambda: cropped(shop, picture),
    })
    yield Row("region-24", "512 × 512 pixels somewhere in a JPEG of 24 megapixels, CPU", "ms", column(results["ours"], "region"),
              peers={DJPEG: [seconds * 1000 for seconds in column(results[DJPEG], "cpu")]}, contracts=[Contract("<=", 12)], in_chart=False,
              note="after one pass over the Huffman codes, which is in the next row; djpeg's includes its start")
    yield Row("region-24-first", "the first image of that JPEG, 1/8 of its size, CPU", "ms", column(results["ours"], "first-processor"),
              in_chart=False)
    if shop.quick:
        return
    large = gigapixel(shop)
    results = shop.in_turns({"ours": lambda: shop.ours("region-bench", large)})["ours"]
    yield Row("gigapixel-first", f"JPEG of {SIDE} × {SIDE} pixels: the first image, {SIDE // 32} pixels wide", "ms",
              column(results, "first"), contracts=[Contract("<=", 1500)], in_chart=False)
    yield Row("gigapixel-tile", "the same: a tile of the slowest level, 95th percentile", "ms", column(results, "tile"),
              contracts=[Contract("<=", 60)], in_chart=False)
    yield Row("gigapixel-tile-cpu", "the same tile, CPU", "ms", column(results, "tile-processor"), in_chart=False)
    yield Row("gigapixel-memory", "the same: peak memory", "MB", column(results, "peak"), contracts=[Contract("<=", 256)],
              in_chart=False)


def cropped(shop, picture):
    """A region somewhere, by djpeg."""
    place = f"512x512+{random.randrange(4000)}+{random.randrange(3000)}"
    return shop.measured(["djpeg", "-crop", place, "-outfile", "/dev/null", str(picture)])


def gigapixel(shop):
    place = shop.materials / "gigapixel.jpg"
    if not place.exists():
        part = place.with_suffix(".part")
        call([shop.place / "C" / "repeat-jpeg", shop.single_picture(24), SIDE, part])
        part.rename(place)
    return place
