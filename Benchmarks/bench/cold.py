"""Cold loads: little PNGs from loopback through the whole pipeline into memory and onto disk."""

import pathlib
import statistics

from . import disk
from .model import Contract, Row
from .workshop import SYSTEM_PYTHON, call, column, nginx

C = "C: curl multi, libpng, a file each"
AT_ONCE = 8
SIDE = 74  # so big are tiles of 4 KiB
# 0.6 times what a load took when downloader, cache and pipeline each shared work on their own: 435 blocks, and 1.43 times the C program's
# CPU on top of it.
MOST_ALLOCATIONS, MOST_CPU = 261, 0.86
# Cuts one picture into tiles.
TILES = """
import pathlib, sys
from PIL import Image
picture, place, side, count = Image.open(sys.argv[1]), pathlib.Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
columns = picture.width // side
for tile in range(count):
    x, y = tile % columns * side, tile // columns * side
    picture.crop((x, y, x + side, y + side)).save(place / f"{tile:04}.png")
"""


def rows(shop):
    tiles = little_pictures(shop, 1000)[:200 if shop.quick else 1000]
    with nginx(tiles[0].parent, shop.scratch / "nginx-tiles") as address:
        urls = shop.text_file("tiles.txt", [f"{address}/{path.name}" for path in tiles])
        results = shop.in_turns({
            "ours": lambda: mean(shop, lambda: run(shop.ours, "cold-load-bench", shop, urls, len(tiles))),
            "C": lambda: mean(shop, lambda: run(shop.c, "cold-load", shop, urls, len(tiles))),
            "ours, counted": lambda: run(shop.ours, "cold-load-bench", shop, urls, len(tiles), env=shop.counting()),
            "C, counted": lambda: run(shop.c, "cold-load", shop, urls, len(tiles), env=shop.counting()),
        })
    title = f"Cold load of a 4 KiB PNG, {len(tiles)} different ones, {AT_ONCE} at once"
    ours, theirs = column(results["ours"], "cpu"), column(results["C"], "cpu")
    yield Row("cold-load-allocations", f"{title}, allocations", "per load", column(results["ours, counted"], "blocks"),
              peers={C: column(results["C, counted"], "blocks")},
              contracts=[Contract("<=", MOST_ALLOCATIONS)], in_chart=False,
              note="calls of malloc and its kin in the whole process, libraries included")
    yield Row("cold-load-cpu", f"{title}, CPU", "µs per load", ours, peers={C: theirs}, in_chart=False)
    yield Row("cold-load-own", f"{title}, CPU of our code", "µs per load", [a - b for a, b in zip(ours, theirs)],
              peers={C: theirs}, contracts=[Contract("<=", MOST_CPU, C)], in_chart=False,
              note="the process's CPU less that of the C program in the same turn, which downloads, decodes and writes the same files")


def mean(shop, run):
    return {"cpu": statistics.mean(column(shop.in_a_row(run), "cpu"))}


def run(program, name, shop, urls, count, **options):
    with disk.folder_in_memory(shop, name, count * 10_000) as folder:
        report = program(name, AT_ONCE, urls, folder, **options)
        written = sum(1 for path in pathlib.Path(folder).rglob("*") if path.is_file() and path.stat().st_size > 1024)
    assert written >= count, f"{name} wrote {written} files of {count}"
    return report


def little_pictures(shop, count):
    """PNG files of 4 KiB, each a part of one picture."""
    place = shop.materials / f"png-tiles-{count}"
    if not place.exists():
        part = place.with_name(place.name + ".part")
        part.mkdir(parents=True, exist_ok=True)
        call([SYSTEM_PYTHON, "-c", TILES, shop.single_picture(12), part, SIDE, count])
        part.rename(place)
    return sorted(place.iterdir())
