"""AVIF fixtures by avifenc 0.11.1 (aom 3.6.0) and heif-enc 1.15.1; the expected pixels are avifdec's, or those that went in where nothing
is lost. What avifdec leaves to its caller (crop, turn, mirror, colour profile) is done here by numpy and lcms."""
import io
import struct
import tempfile
from pathlib import Path

import numpy as np
from PIL import Image

from hdr import cicp_to_srgb
from picture import alpha, picture, write_anymap
from profiles import wide_rgb
from reference import oriented, run, to_srgb, write_png16

OUT = Path(__file__).resolve().parents[2] / "Tests/WebImageFormatsTests/Fixtures/AVIF"
W, H = 36, 28
LOSSLESS = ["-y", "444", "--cicp", "1/13/0", "--min", "0", "--max", "0", "--minalpha", "0", "--maxalpha", "0", "-r", "full"]


def encode(target, *sources, options):
    run("avifenc", "-s", "6", "-j", "1", *options, *sources, target)


def decode(path, index=None):
    with tempfile.TemporaryDirectory() as directory:
        png = f"{directory}/out.png"
        choice = ["--index", index] if index is not None else []
        run("avifdec", "-j", "1", "-d", "8", "--upsampling", "best", *choice, path, png)
        pixels = np.asarray(Image.open(png))
    return pixels if pixels.ndim == 3 else np.dstack([pixels] * 3)


def save(name, source, *options, change=None, expected=None, depth16=None):
    """`change` is done to what avifdec gives."""
    target = OUT / f"{name}.avif"
    with tempfile.TemporaryDirectory() as directory:
        png = f"{directory}/in.png"
        if depth16 is not None:
            write_png16(png, depth16)
        else:
            Image.fromarray(source).save(png)
        encode(target, png, options=options)
    pixels = decode(target) if expected is None else expected
    write_anymap(OUT / f"{name}.pam", change(pixels) if change else pixels)


def main():
    photo = picture(W, H)
    clear = np.dstack([photo, alpha(W, H)])
    deep = (photo.astype(np.uint16) * 257).clip(0, 65535)
    q = ["--min", "10", "--max", "20"]
    save("420", photo, "-y", "420", *q)
    save("420-limited", photo, "-y", "420", "-r", "limited", *q)
    save("422", photo, "-y", "422", *q)
    save("444", photo, "-y", "444", *q)
    save("400", picture(W, H)[:, :, 1], "-y", "400", *q)
    save("odd-420", picture(33, 27), "-y", "420", *q)
    save("bt709-matrix", photo, "-y", "444", "--cicp", "1/13/1", *q)
    save("bt2020-matrix", photo, "-y", "444", "--cicp", "1/13/9", *q)
    save("10bit-420", None, "-y", "420", "-d", "10", *q, depth16=deep)
    save("12bit-422-limited", None, "-y", "422", "-d", "12", "-r", "limited", *q, depth16=deep)
    save("alpha", clear, "-y", "420", *q)
    save("alpha-10bit", None, "-y", "444", "-d", "10", *q, depth16=np.dstack([deep, alpha(W, H).astype(np.uint16) * 257]))
    save("alpha-premultiplied", clear, "-y", "444", "-p", "--min", "0", "--max", "0", "--minalpha", "0", "--maxalpha", "0")
    save("lossless", photo, *LOSSLESS, expected=photo)
    save("lossless-alpha", clear, *LOSSLESS, expected=clear)
    save("grid", picture(64, 128), "-g", "1x2", "-y", "420", "--min", "40", "--max", "50")
    save("one-pixel", photo[:1, :1], *LOSSLESS, expected=photo[:1, :1])
    crop = lambda p: p[4:24, 6:32]
    save("crop", photo, *LOSSLESS, "--crop", "6,4,26,20", expected=crop(photo))
    save("crop-420", photo, "-y", "420", *q, "--crop", "6,4,26,20", change=crop)
    # Turned anticlockwise, then mirrored.
    for angle in range(4):
        for mode in (None, 0, 1):
            turned = np.rot90(photo, angle)
            turned = turned if mode is None else turned[::-1] if mode == 0 else turned[:, ::-1]
            options = ["--irot", angle] + ([] if mode is None else ["--imir", mode])
            if angle == 3 or mode is not None or angle == 1:
                small = picture(13, 9)
                turned = np.rot90(small, angle)
                turned = turned if mode is None else turned[::-1] if mode == 0 else turned[:, ::-1]
                save(f"turn-{angle}-{'none' if mode is None else mode}", small, *LOSSLESS, *options,
                     expected=np.ascontiguousarray(turned))
    # A crop is of the stored picture, before it is turned.
    save("crop-turned", photo, *LOSSLESS, "--crop", "6,4,26,20", "--irot", "1", expected=np.ascontiguousarray(np.rot90(crop(photo))))
    with tempfile.TemporaryDirectory() as directory:
        exif, icc = Path(directory) / "exif", Path(directory) / "icc"
        block = Image.Exif()
        block[0x0112] = 6
        exif.write_bytes(block.tobytes()[6:])
        # An orientation of the EXIF block makes avifenc write irot, so both are there and say the same; the other file's do not.
        save("exif-6", photo, *LOSSLESS, "--exif", exif, expected=oriented(photo, 6))
        icc.write_bytes(wide_rgb())
        save("icc-wide", photo, *LOSSLESS, "--icc", icc, expected=to_srgb(photo, wide_rgb()))
        save("icc-wide-alpha", clear, *LOSSLESS, "--icc", icc, expected=to_srgb(clear, wide_rgb()))
    save("display-p3", photo, *[p if p != "1/13/0" else "12/13/0" for p in LOSSLESS], expected=cicp_to_srgb(photo, 12, 13))
    save("bt2020-sdr", photo, *[p if p != "1/13/0" else "9/14/0" for p in LOSSLESS], expected=cicp_to_srgb(photo, 9, 13))
    save("gamma-2.2", photo, *[p if p != "1/13/0" else "1/4/0" for p in LOSSLESS], expected=cicp_to_srgb(photo, 1, 4))
    grid_of_alphas()
    with tempfile.TemporaryDirectory() as directory:
        tall = f"{directory}/in.png"
        Image.fromarray(picture(30, 150)).save(tall)
        encode(OUT / "tall-420.avif", tall, options=["-y", "420", "--min", "30", "--max", "40"])
        Image.fromarray(np.dstack([picture(30, 150), alpha(30, 150)])).save(tall)
        encode(OUT / "tall-alpha.avif", tall, options=["-y", "420", "--min", "30", "--max", "40"])
        sequences(directory)
        # Grain is no part of the coded picture: a decoder lays it over, in planes of its own. Big enough to see what they take.
        Path(f"{directory}/grain.y4m").write_bytes(
            b"YUV4MPEG2 W1600 H1200 F1:1 Ip C420mpeg2\nFRAME\n" + bytes([120]) * (1600 * 1200) + bytes([128]) * (1600 * 600)
        )
        run("avifenc", "-s", "8", "-j", "1", "-c", "aom", "-a", "film-grain-test=1", f"{directory}/grain.y4m", OUT / "grain.avif")


def boxes(data):
    """Pairs of kind and content."""
    at = 0
    while at < len(data):
        size = int.from_bytes(data[at : at + 4], "big")
        yield data[at + 4 : at + 8], data[at + 8 : at + size]
        at += size


def box(kind, *parts):
    content = b"".join(parts)
    return struct.pack(">I", len(content) + 8) + kind + content


def coded(file):
    """The configuration and the bytes of each item of a file by Pillow: colours, then alpha."""
    meta = dict(boxes(dict(boxes(file))[b"meta"][4:]))
    configurations = [content for kind, content in boxes(dict(boxes(meta[b"iprp"]))[b"ipco"]) if kind == b"av1C"]
    places, found = meta[b"iloc"], []
    for index in range(2):
        entry = places[8 + 14 * index : 22 + 14 * index]
        offset, length = struct.unpack(">II", entry[6:])
        found.append((configurations[index], file[offset : offset + length]))
    return found


def grid_of_alphas():
    """Two tiles with an alpha each, and no alpha of the whole: libavif 1.0 reads it, and Pillow by that."""
    pixels = np.dstack([picture(128, 64), alpha(128, 64)])
    items = []
    for left in (0, 64):
        buffer = io.BytesIO()
        Image.fromarray(pixels[:, left : left + 64]).save(buffer, "AVIF", quality=60, subsampling="4:4:4", speed=6)
        items += coded(buffer.getvalue())
    # Item 1 is the grid; 2 and 4 are its tiles, 3 and 5 their alphas.
    data = b"".join(content for _, content in items)
    kinds = [b"grid", b"av01", b"av01", b"av01", b"av01"]
    entries = b"".join(box(b"infe", b"\2\0\0" + bytes([item > 0]), struct.pack(">HH", item + 1, 0), kind, b"\0") for item, kind in enumerate(kinds))
    references = box(b"dimg", struct.pack(">4H", 1, 2, 2, 4)) + box(b"auxl", struct.pack(">3H", 3, 1, 2)) + box(b"auxl", struct.pack(">3H", 5, 1, 4))
    properties = [
        box(b"ispe", bytes(4), struct.pack(">II", 128, 64)), box(b"ispe", bytes(4), struct.pack(">II", 64, 64)),
        box(b"pixi", bytes(4), b"\3\x08\x08\x08"), box(b"pixi", bytes(4), b"\1\x08"),
        box(b"auxC", bytes(4), b"urn:mpeg:mpegB:cicp:systems:auxiliary:alpha\0"),
        box(b"colr", b"nclx", struct.pack(">3HB", 1, 13, 6, 0x80)), box(b"av1C", items[0][0]), box(b"av1C", items[1][0]),
    ]
    chosen = {1: [1, 3, 6], 2: [2, 3, 6, 0x87], 3: [2, 4, 5, 0x88], 4: [2, 3, 6, 0x87], 5: [2, 4, 5, 0x88]}
    links = b"".join(struct.pack(">HB", item, len(numbers)) + bytes(numbers) for item, numbers in chosen.items())

    def meta(start):
        places = struct.pack(">HHHHII", 1, 1, 0, 1, 0, 8)
        for number, (_, content) in enumerate(items):
            places += struct.pack(">HHHHII", number + 2, 0, 0, 1, start, len(content))
            start += len(content)
        return box(
            b"meta", bytes(4), box(b"hdlr", bytes(8), b"pict", bytes(13)), box(b"pitm", bytes(4), b"\0\1"),
            box(b"iloc", b"\1\0\0\0\x44\0", struct.pack(">H", 5), places), box(b"iinf", bytes(4), struct.pack(">H", 5), entries),
            box(b"iref", bytes(4), references), box(b"iprp", box(b"ipco", *properties), box(b"ipma", bytes(4), struct.pack(">I", 5), links)),
            box(b"idat", b"\0\0\0\1", struct.pack(">HH", 128, 64)))

    head = box(b"ftyp", b"avif\0\0\0\0avifmif1miafMA1A")
    file = head + meta(len(head) + len(meta(0)) + 8) + box(b"mdat", data)
    (OUT / "grid-of-alphas.avif").write_bytes(file)
    shown = Image.open(io.BytesIO(file))
    assert shown.mode == "RGBA"
    write_anymap(OUT / "grid-of-alphas.pam", np.asarray(shown))


def sequences(directory):
    """Frames with durations of their own; a key frame every three; one with alpha."""
    for name, count, durations, options in [
        ("sequence", 7, [70, 5, 900, 100, 40, 120, 1000], ["-k", "3"]),
        ("sequence-alpha", 3, [100, 200, 300], []),
    ]:
        arguments = ["-y", "420", "--min", "20", "--max", "30", "--timescale", "1000", *options]
        for index, duration in zip(range(count), durations):
            pixels = np.roll(picture(24, 18), 3 * index, axis=1)
            if name.endswith("alpha"):
                pixels = np.dstack([pixels, np.roll(alpha(24, 18), 3 * index, axis=1)])
            png = f"{directory}/{name}-{index}.png"
            Image.fromarray(pixels).save(png)
            arguments += ["--duration", duration, png]
        run("avifenc", "-s", "6", "-j", "1", *arguments, OUT / f"{name}.avif")
        for index in range(count):
            write_anymap(OUT / f"{name}.{index}.pam", decode(OUT / f"{name}.avif", index))


OUT.mkdir(parents=True, exist_ok=True)
for old in OUT.iterdir():
    old.unlink()
main()
