"""Views: a grid of remote pictures that is scrolled, and animations, in windows on a display of their own."""

import contextlib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

from .model import Contract, Row
from .workshop import SYSTEM_PYTHON, awake, call, column, nginx, parse

COUNT = 1000
SPEEDS = (120, 400)
ANIMATIONS, FRAMES = 9, 60

# Pictures of 640 × 480 with soft light and grain; the colour in the middle is the picture's number, a digit in each of red, green and blue.
NUMBERED = """
import pathlib, sys
import numpy
from PIL import Image
place, count = pathlib.Path(sys.argv[1]), int(sys.argv[2])
place.mkdir()
random = numpy.random.default_rng(3)
for number in range(count):
    rough = Image.fromarray(random.integers(0, 256, (6, 8, 3), numpy.uint8)).resize((640, 480), Image.BICUBIC)
    picture = numpy.clip(numpy.asarray(rough).astype(int) + random.normal(0, 6, (480, 640, 1)), 0, 255).astype(numpy.uint8)
    picture[160:320, 200:440] = [12 + 25 * (number // scale % 10) for scale in (1, 10, 100)]
    Image.fromarray(picture).save(place / f"{number}.jpg", quality=85)
"""

# Animations of a second, 60 frames of 320 × 240 with light that wanders; the colour in the middle is the frame's number.
MOVING = """
import pathlib, sys
import numpy
from PIL import Image
place, count, length = pathlib.Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
place.mkdir()
random = numpy.random.default_rng(5)
for number in range(count):
    rough = random.integers(0, 256, (6, 8, 3), numpy.uint8)
    still = numpy.asarray(Image.fromarray(rough).resize((320, 240), Image.BICUBIC))
    frames = []
    for frame in range(length):
        picture = numpy.roll(still, frame * 4, axis=1).copy()
        picture[80:160, 100:220] = [16 + 32 * (frame % 8), 16 + 32 * (frame // 8), 128]
        frames.append(Image.fromarray(picture))
    ends = [(1000 * frame + length // 2) // length for frame in range(length + 1)]
    durations = [end - start for start, end in zip(ends, ends[1:])]
    frames[0].save(place / f"{number}.webp", save_all=True, append_images=frames[1:], duration=durations, loop=0, quality=75, method=2)
"""


# 5 000 photos, links to a few, and what a desktop keeps of them: thumbnails of 256 pixels, written by Pillow as freedesktop.org specifies.
DESKTOP = """
import hashlib, os, pathlib, sys, urllib.parse
from PIL import Image, PngImagePlugin
photos, thumbnails, count, sources = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), int(sys.argv[3]), sys.argv[4:]
photos.mkdir(parents=True)
thumbnails.mkdir(parents=True, mode=0o700)
small = []
for source in sources:
    picture = Image.open(source).convert("RGB")
    size = picture.size
    picture.thumbnail((256, 256))
    small.append((picture, size))
for number in range(count):
    picture, size = small[number % len(small)]
    photo = photos / f"IMG_{number}.jpg"
    os.link(sources[number % len(small)], photo)
    uri = "file://" + urllib.parse.quote(str(photo), safe="/!$&'()*+,:=@~")
    texts = PngImagePlugin.PngInfo()
    texts.add_text("Thumb::URI", uri)
    texts.add_text("Thumb::MTime", str(int(photo.stat().st_mtime)))
    texts.add_text("Thumb::Image::Width", str(size[0]))
    texts.add_text("Thumb::Image::Height", str(size[1]))
    picture.save(thumbnails / (hashlib.md5(uri.encode()).hexdigest() + ".png"), pnginfo=texts, compress_level=1)
"""
PHOTOS = 5000


# Large pictures whose colours are places: a PNG, row by row, and a baseline JPEG by libvips.
LARGE = """
import pathlib, struct, subprocess, sys, zlib
import numpy
place, png_side, jpeg_side = pathlib.Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
place.mkdir()

def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

def rows(side):
    x = numpy.arange(side)
    row = numpy.zeros((side, 3), numpy.uint8)
    row[:, 0] = x * 256 // side
    for y in range(side):
        row[:, 1] = y * 256 // side
        row[:, 2] = (x // 64 + y // 64) % 2 * 128 + (x + y) % 64
        yield row

with open(place / "large.png", "wb") as file:
    file.write(b"\\x89PNG\\r\\n\\x1a\\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", png_side, png_side, 8, 2, 0, 0, 0)))
    deflate = zlib.compressobj(1)
    above = numpy.zeros((png_side, 3), numpy.uint8)
    for row in rows(png_side):
        # The difference from the row above, which makes a file that loaders accept.
        if data := deflate.compress(b"\\2" + (row - above).tobytes()):
            file.write(chunk(b"IDAT", data))
        above[:] = row
    file.write(chunk(b"IDAT", deflate.flush()) + chunk(b"IEND", b""))
with open(place / "large.ppm", "wb") as file:
    file.write(b"P6 %d %d 255\\n" % (jpeg_side, jpeg_side))
    for row in rows(jpeg_side):
        file.write(row.tobytes())
subprocess.run(["vips", "jpegsave", place / "large.ppm", place / "large.jpg", "--Q", "85"], check=True)
(place / "large.ppm").unlink()
"""


def rows(shop):
    if not (shop.swift / "gtk-grid-bench").exists():
        print("  GTK's headers are not here: left out.")
        return
    with awake():
        yield from grid(shop)
        yield from animations(shop)
        yield from zoom(shop)
        yield from desktop(shop)


def desktop(shop):
    """How soon the gallery shows a folder whose thumbnails the desktop has."""
    count = 500 if shop.quick else PHOTOS
    place = shop.scratch / "desktop"
    call([SYSTEM_PYTHON, "-c", DESKTOP, place / "photos", place / "cache/thumbnails/large", count, *shop.pictures(40)])
    gallery = shop.gallery()
    with display() as environment:
        def run(cache):
            return first_screen(gallery, place / "photos", {**environment, "XDG_CACHE_HOME": str(place / cache)})

        results = shop.in_turns({"with": lambda: run("cache"), "without": lambda: run("empty")})
    images = {result["images"] for result in results["with"] + results["without"]}
    yield Row("gallery-first-screen", f"The gallery's first screen of {count} local photos with thumbnails of the desktop, after its start",
              "ms", column(results["with"], "time"), peers={"the same photos, without thumbnails": column(results["without"], "time")},
              contracts=[Contract("<=", 300)], in_chart=False, note=f"warm, {min(images):.0f} images on the screen")


def first_screen(gallery, folder, environment):
    """Milliseconds from the start of the program until its first screen is complete, and the number of images there."""
    start = time.monotonic()
    program = subprocess.Popen([gallery, "--first-screen", folder], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               env={**environment, "G_MESSAGES_DEBUG": ""})
    line = program.stdout.readline().split()
    elapsed = time.monotonic() - start
    _, errors = program.communicate(timeout=60)
    if line[:1] != ["first-screen"] or int(line[1]) == 0:
        sys.exit(f"the gallery did not show its first screen: {line} {errors[-2000:]}")
    return {"time": elapsed * 1000, "images": int(line[1])}


def grid(shop):
    seconds = 4 if shop.quick else 40
    place = material(shop, f"numbered-{COUNT}", NUMBERED, COUNT)
    with nginx(place, shop.scratch / "nginx-grid", is_remote=True) as address, display() as environment:
        report = parse(call([shop.swift / "gtk-grid-bench", address, COUNT, seconds], env=environment))
    title = f"Grid of {COUNT} remote pictures"
    for speed in SPEEDS:
        yield Row(f"grid-{speed}-fps", f"{title}, {speed} pixels per frame", "frames/s", [report[f"fps-{speed}"]],
                  contracts=[Contract(">=", 59)], more_is_better=True, in_chart=False,
                  note=f"{report[f'processor-{speed}']:.0f} % of a core")
        yield Row(f"grid-{speed}-work", f"{title}, {speed} pixels per frame, 99th percentile of the work for a frame", "ms",
                  [report[f"work-p99-{speed}"]], contracts=[Contract("<=", 16)], in_chart=False,
                  note=f"median {report[f'work-median-{speed}']:.1f} ms")
    yield Row("grid-wrong", f"{title}, wrong ones in {report['deliveries']:.0f} deliveries", "pictures", [report["wrong"]],
              contracts=[Contract("<=", 0)], in_chart=False,
              note=f"{report['remote']:.0f} remote, {report['disk']:.0f} from disk, {report['memory']:.0f} from memory; "
                   f"{report['checked']:.0f} looked at in their cells")
    yield Row("grid-deliveries", f"{title}, deliveries", "pictures", [report["deliveries"]],
              contracts=[] if shop.quick else [Contract(">=", 10000)], more_is_better=True, in_chart=False)
    for kind, where in (("remote", "the network"), ("memory", "memory")):
        yield Row(f"delivery-{kind}", f"A picture from {where} to a view, time of the main thread", "ms",
                  [report[f"delivery-{kind}"]], contracts=[Contract("<=", 0.17)], in_chart=False)
    yield Row("grid-rss", f"{title}, growth of resident memory after the first {seconds * 2} seconds of scrolling", "MB",
              [max(report["rss-last"] - report["rss-first"], 0)], contracts=[Contract("<=", 8)], in_chart=False,
              note=f"{report['rss-first']:.0f} MB then, {report['rss-last']:.0f} MB after as long again")


def animations(shop):
    seconds = 2 if shop.quick else 10
    place = material(shop, f"moving-{ANIMATIONS}", MOVING, ANIMATIONS, FRAMES)
    with display() as environment:
        report = parse(call([shop.swift / "gtk-animation-bench", seconds, *sorted(place.iterdir())], env=environment))
    title = f"{ANIMATIONS} animated WebPs of {FRAMES} frames/s, 320 × 240"
    yield Row("animations-lost", f"{title}, frames lost in {seconds} s", "frames", [report["lost"]],
              contracts=[Contract("<=", 0)], in_chart=False, note=f"{report['shown']:.0f} shown")
    # Were nothing played, nothing would be lost.
    yield Row("animations-shown", f"{title}, frames shown by each", "frames/s", [report["shown"] / ANIMATIONS / seconds],
              contracts=[Contract(">=", 59)], more_is_better=True, in_chart=False)
    yield Row("animations-cpu", f"{title}, processor", "% of a core", [report["processor"]], contracts=[Contract("<=", 40)],
              in_chart=False, note=f"{report['rss']:.0f} MB resident")


def zoom(shop):
    """Pictures that are too big for memory, panned pixel by pixel."""
    sides = (4000, 6000) if shop.quick else (20000, 32768)
    place = material(shop, f"large-{sides[0]}-{sides[1]}", LARGE, *sides)
    with display() as environment:
        environment["XDG_CACHE_HOME"] = str(shop.scratch / "zoom-cache")
        for name, side in (("png", sides[0]), ("jpg", sides[1])):
            picture = place / f"large.{name}"
            report = parse(call([shop.swift / "gtk-grid-bench", "zoom", picture, 2 if shop.quick else 60, 2 if shop.quick else 10],
                                env=environment))
            title = f"{name.upper()} of {side} × {side} pixels in a window of 1200 × 800"
            yield Row(f"zoom-{name}-fps", f"{title}, panned at its actual size", "frames/s", [report["fps-pan"]],
                      contracts=[Contract(">=", 59)], more_is_better=True, in_chart=False,
                      note=f"work for a frame with GTK's software renderer: median {report['work-median-pan']:.1f} ms; "
                           f"{report['rss']:.0f} MB resident")
            yield Row(f"zoom-{name}-drawing", f"{title}, 99th percentile of the library's part of a frame", "ms",
                      [report["drawing-p99"]], contracts=[Contract("<=", 2)], in_chart=False,
                      note=f"median {report['drawing-median']:.2f} ms")


def material(shop, name, script, *arguments):
    """A folder of pictures that a script makes once."""
    place = shop.materials / name
    if not place.exists():
        part = pathlib.Path(f"{place}.part")
        shop.materials.mkdir(exist_ok=True)
        shutil.rmtree(part, ignore_errors=True)
        call([SYSTEM_PYTHON, "-c", script, part, *arguments])
        part.rename(place)
    return place


@contextlib.contextmanager
def display():
    """A display without a screen, for a program; the program's environment."""
    read, write = os.pipe()
    server = subprocess.Popen(["Xvfb", "-displayfd", str(write), "-screen", "0", "1280x1024x24", "-nolisten", "tcp"],
                              pass_fds=[write], stderr=subprocess.DEVNULL)
    os.close(write)
    folder = tempfile.mkdtemp()
    try:
        with os.fdopen(read) as numbers:
            number = numbers.readline().strip()
        if not number:
            sys.exit("Xvfb did not start")
        yield {**os.environ, "DISPLAY": f":{number}", "GDK_BACKEND": "x11", "GSK_RENDERER": "cairo", "GTK_A11Y": "none",
               "XDG_RUNTIME_DIR": folder, "NO_AT_BRIDGE": "1", "TMPDIR": folder}
    finally:
        server.terminate()
        server.wait()
        shutil.rmtree(folder, ignore_errors=True)
