"""Every format's decode, frames of animations, and resizing, beside the C libraries and libvips."""

import os

from .model import Contract, Row
from .workshop import PROJECT, SYSTEM_PYTHON, awake, call, column

# What decodes it in the C program, how long ours may take beside it, and the megapixels of the picture.
FORMATS = {
    "png": ("libpng", 1.0, 4), "webp": ("libwebp", 1.1, 4), "gif": ("giflib", 1.1, 1), "avif": ("libavif, one thread", 1.1, 4),
    "heic": ("libheif", 1.1, 4), "jxl": ("libjxl", 1.1, 4), "tiff": ("libtiff", 1.1, 4), "svg": ("librsvg", 1.2, 1),
}
ANIMATIONS = {"gif": "giflib", "webp": "libwebpdemux", "avif": "libavif", "jxl": "libjxl"}
# Formats of which one image is decoded with several threads, and how long that may take beside one core.
THREADED = {
    "avif": ("AVIF", 0.6), "heic": ("HEIC of tiles", 0.7), "jxl": ("JPEG XL", 0.6), "jpg": ("JPEG with restart markers", 0.7),
}
ONE_CORE = "on one core"
VIPS = "C: libvips, one thread"


def rows(shop):
    iterations = 2 if shop.quick else 4
    folder = materials(shop)
    for name, (library, limit, megapixels) in FORMATS.items():
        peer, path = f"C: {library}", folder / f"picture.{name}"
        results = shop.in_turns({
            "ours": lambda path=path: shop.ours("format-bench", "decode", iterations, path, one_core=True),
            "C": lambda path=path: shop.c("format-decode", "decode", iterations, path),
        })
        yield Row(f"decode-{name}", f"{name.upper()} of {megapixels} megapixels to pixels, CPU", "ms", column(results["ours"], "cpu"),
                  peers={peer: column(results["C"], "cpu")}, contracts=[Contract("<=", limit, peer)], in_chart=False)
    yield from alone(shop, folder, iterations)
    for name, library in ANIMATIONS.items():
        peer, path = f"C: {library}, in a loop", folder / f"animation.{name}"
        with awake():
            results = shop.in_turns({
                "ours": lambda path=path: shop.ours("format-bench", "frames", iterations, path),
                "C": lambda path=path: shop.c("format-decode", "frames", iterations, path),
            })
        yield Row(f"frames-{name}", f"frames of an animated {name.upper()}, 640 × 480, on one core", "frames/s",
                  column(results["ours"], "frames"), peers={peer: column(results["C"], "frames")},
                  contracts=[Contract(">=", 0.85, peer)], more_is_better=True, in_chart=False)
    yield from resizing(shop)


def alone(shop, folder, iterations):
    """One large picture, while nothing else is decoded."""
    if os.cpu_count() < 2:
        return
    runs = {name: (f"one {words} of 12 megapixels to pixels", limit, ("decode", iterations, folder / f"large.{name}"))
            for name, (words, limit) in THREADED.items()}
    runs["resize"] = ("one decoded 12-megapixel picture to 1200 × 900", 0.7, ("resize", "1200x900", iterations, shop.single_picture(12)))
    for name, (title, limit, arguments) in runs.items():
        results = shop.in_turns({
            "ours": lambda arguments=arguments: shop.ours("format-bench", *arguments),
            "one": lambda arguments=arguments: shop.ours("format-bench", *arguments, one_core=True),
        })
        yield Row(f"alone-{name}", f"{title}, on {os.cpu_count()} cores", "ms", column(results["ours"], "wall"),
                  peers={ONE_CORE: column(results["one"], "wall")}, contracts=[Contract("<=", limit, ONE_CORE)], in_chart=False)


def resizing(shop):
    """A decoded 12-megapixel picture to a window's size; in both from memory to memory."""
    picture = shop.single_picture(12)
    results = shop.in_turns({
        "ours": lambda: shop.ours("format-bench", "resize", "1200x900", 4, picture),
        "vips": lambda: shop.c("resize-vips", "1200x900", 4, picture),
    })
    yield Row("resize", "a decoded 12-megapixel picture to 1200 × 900, Lanczos-3, CPU", "ms", column(results["ours"], "cpu"),
              peers={VIPS: column(results["vips"], "cpu")}, contracts=[Contract("<=", 1.0, VIPS)], in_chart=False)


def materials(shop):
    place = shop.materials / "formats"
    if place.exists():
        return place
    part = place.with_suffix(".part")
    part.mkdir(parents=True, exist_ok=True)
    source = shop.single_picture(4)
    call([SYSTEM_PYTHON, "-c", MAKE, source, part])
    lossless = part / "picture.png"
    call(["avifenc", "--jobs", "1", "--speed", "8", "--min", "20", "--max", "30", lossless, part / "picture.avif"])
    call(["heif-enc", "--quality", "60", lossless, "--output", part / "picture.heic"])
    call(["cjxl", lossless, part / "picture.jxl", "--quality", "85", "--effort", "4"])
    frames = sorted(part.glob("frame-*.png"))
    call(["avifenc", "--jobs", "1", "--speed", "6", "--timescale", "25", "--min", "20", "--max", "30", *frames, part / "animation.avif"])
    call(["cjxl", part / "animation.png", part / "animation.jxl", "--quality", "85", "--effort", "4"])
    large = part / "large.png"
    call([SYSTEM_PYTHON, "-c", "import sys; from PIL import Image; Image.open(sys.argv[1]).convert('RGB').save(sys.argv[2])",
          shop.single_picture(12), large])
    call(["jpegtran", "-restart", "1", "-outfile", part / "large.jpg", shop.single_picture(12)])
    # Drawn pictures are smooth: at the quality of the small one, this would have a fifth of the bytes of a photo, and decoding it would be
    # page faults for the most part.
    call(["avifenc", "--speed", "8", "--min", "10", "--max", "20", large, part / "large.avif"])
    call(["cjxl", large, part / "large.jxl", "--quality", "85", "--effort", "4"])
    call([SYSTEM_PYTHON, "-B", "-c", TILES, PROJECT / "Scripts" / "make-fixtures", large, part / "large.heic"])
    part.rename(place)
    return place


# A grid of tiles as cameras write it, which heif-enc 1.15 does not.
TILES = """
import sys
sys.path.insert(0, sys.argv[1])
import numpy, pathlib
from PIL import Image
from large_sizes import find, grid, heic
side, columns, rows = 512, 8, 6
pixels = numpy.asarray(Image.open(sys.argv[2]).convert("RGB").resize((side * columns, side * rows)))
tiles = [heic(side, pixels=numpy.ascontiguousarray(pixels[top:top + side, left:left + side]))
         for top in range(0, side * rows, side) for left in range(0, side * columns, side)]
data = grid(b"heic", b"hvc1", find(tiles[0], b"hvcC"), [find(tile, b"mdat")[8:] for tile in tiles], side, columns, rows)
pathlib.Path(sys.argv[3]).write_bytes(data)
"""

MAKE = """
import random, sys
from PIL import Image
source, place = Image.open(sys.argv[1]).convert("RGB"), sys.argv[2]
source.save(f"{place}/picture.png")
source.save(f"{place}/picture.webp", quality=85)
source.save(f"{place}/picture.tiff", compression="tiff_lzw")
small = source.resize((1152, 864))
small.quantize(256).save(f"{place}/picture.gif")
frames = [small.rotate(3 * turn).resize((640, 480)) for turn in range(40)]
frames[0].save(f"{place}/animation.webp", save_all=True, append_images=frames[1:], duration=40, loop=0, quality=80)
frames[0].save(f"{place}/animation.png", save_all=True, append_images=frames[1:], duration=40, loop=0)
for number, frame in enumerate(frames):
    frame.save(f"{place}/frame-{number:02}.png")
flat = [frame.quantize(128) for frame in frames]
flat[0].save(f"{place}/animation.gif", save_all=True, append_images=flat[1:], duration=40, loop=0)
random.seed(1)
shapes = "".join(f'<circle cx="{random.random() * 1152:.1f}" cy="{random.random() * 864:.1f}" r="{random.random() * 60:.1f}" '
                 f'fill="rgb({random.randrange(256)},{random.randrange(256)},{random.randrange(256)})" opacity="0.7"/>'
                 for _ in range(500))
open(f"{place}/picture.svg", "w").write(
    f'<svg xmlns="http://www.w3.org/2000/svg" width="1152" height="864"><rect width="100%" height="100%" fill="#eee"/>{shapes}</svg>')
"""
