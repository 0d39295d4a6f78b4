"""HEIC and AVIF of one colour that take far more memory than their files: grids of 4 by 3 tiles, all of them the same, one of 16 by 16 small
tiles, and stills of one piece (libheif 1.15.1 with x265 3.5; Pillow 13 with libavif 1). The names tell how big they are. Two HEIC have alpha
of another depth than their colours. The colour is 90 of 255 in all channels, and so is alpha. Only tiles-1024x768.heic has colours, and tiles
that differ."""
import io
import struct
import tempfile
from pathlib import Path

import numpy as np
from PIL import Image

import libheif

OUT = Path(__file__).resolve().parents[2] / "Tests/WebImageFormatsTests/Fixtures/CodedSizes"


def box(kind, *parts):
    body = b"".join(parts)
    return struct.pack(">I", 8 + len(body)) + kind + body


def full(kind, *parts, version=0):
    return box(kind, struct.pack(">I", version << 24), *parts)


def find(data, kind):
    place = data.index(kind) - 4
    return data[place : place + struct.unpack(">I", data[place : place + 4])[0]]


def grid(brand, item, configuration, data, side, columns, rows):
    """Item 1 is the grid and has its size in `idat`; the tiles are items with the same bytes, or with those of a list."""
    width, height, tiles = side * columns, side * rows, range(2, 2 + columns * rows)
    pieces = data if isinstance(data, list) else [data]
    canvas = struct.pack(">BBBBII", 0, 1, rows - 1, columns - 1, width, height)
    entries = [full(b"infe", struct.pack(">HH4sB", 1, 0, b"grid", 0), version=2)]
    entries += [full(b"infe", struct.pack(">HH4sB", number, 0, item, 0), version=2) for number in tiles]
    properties = box(
        b"ipco", configuration, full(b"ispe", struct.pack(">II", side, side)), full(b"ispe", struct.pack(">II", width, height)),
        full(b"pixi", bytes([3, 8, 8, 8])))
    links = struct.pack(">HBBB", 1, 2, 3, 4) + b"".join(struct.pack(">HBBBB", number, 3, 0x81, 2, 4) for number in tiles)

    def meta(offset):
        places = struct.pack(">HHHHII", 1, 1, 0, 1, 0, len(canvas))
        for number in tiles:
            piece = (number - 2) % len(pieces)
            start = offset + sum(map(len, pieces[:piece]))
            places += struct.pack(">HHHHII", number, 0, 0, 1, start, len(pieces[piece]))
        return full(
            b"meta", full(b"hdlr", struct.pack(">I4s12xB", 0, b"pict", 0)), full(b"pitm", struct.pack(">H", 1)),
            full(b"iloc", struct.pack(">BBH", 0x44, 0, len(entries)), places, version=1),
            full(b"iinf", struct.pack(">H", len(entries)), *entries),
            full(b"iref", box(b"dimg", struct.pack(f">HH{len(tiles)}H", 1, len(tiles), *tiles))),
            box(b"iprp", properties, full(b"ipma", struct.pack(">I", len(entries)), links)), box(b"idat", canvas))

    head = box(b"ftyp", brand, struct.pack(">I", 0), b"mif1", brand)
    return head + meta(len(head) + len(meta(0)) + 8) + box(b"mdat", *pieces)


def heic(side, bits=8, channels=3, chroma="420", pixels=None):
    flat = np.full((side, side, channels), 90 << (bits - 8), np.uint8 if bits == 8 else np.uint16)
    with tempfile.TemporaryDirectory() as directory:
        libheif.write(f"{directory}/a.heic", flat if pixels is None else pixels, bits=bits, quality=50, chroma=chroma)
        return Path(f"{directory}/a.heic").read_bytes()


def avif(side, **options):
    buffer = io.BytesIO()
    Image.new("RGB", (side, side), (90, 90, 90)).save(buffer, "AVIF", quality=50, speed=8, **options)
    return buffer.getvalue()


def mixed(colors, alpha, side):
    """A picture of one file with that of another for its alpha."""
    data = [find(file, b"mdat")[8:] for file in (colors, alpha)]
    properties = box(
        b"ipco", find(colors, b"hvcC"), full(b"ispe", struct.pack(">II", side, side)), find(alpha, b"hvcC"),
        full(b"auxC", b"urn:mpeg:hevc:2015:auxid:1\0"))
    links = struct.pack(">HBBB", 1, 2, 0x81, 2) + struct.pack(">HBBBB", 2, 3, 0x83, 2, 0x84)

    def meta(offset):
        places = struct.pack(">HHHII", 1, 0, 1, offset, len(data[0])) + struct.pack(">HHHII", 2, 0, 1, offset + len(data[0]), len(data[1]))
        entries = [full(b"infe", struct.pack(">HH4sB", number, 0, b"hvc1", 0), version=2) for number in (1, 2)]
        return full(
            b"meta", full(b"hdlr", struct.pack(">I4s12xB", 0, b"pict", 0)), full(b"pitm", struct.pack(">H", 1)),
            full(b"iloc", struct.pack(">BBH", 0x44, 0, 2), places), full(b"iinf", struct.pack(">H", 2), *entries),
            full(b"iref", box(b"auxl", struct.pack(">HHH", 2, 1, 1))),
            box(b"iprp", properties, full(b"ipma", struct.pack(">I", 2), links)))

    head = box(b"ftyp", b"heic", struct.pack(">I", 0), b"mif1heic")
    return head + meta(len(head) + len(meta(0)) + 8) + box(b"mdat", *data)


def main():
    for side in (512, 4096):
        name = f"grid-{side * 4}x{side * 3}"
        tile = heic(side)
        (OUT / f"{name}.heic").write_bytes(grid(b"heic", b"hvc1", find(tile, b"hvcC"), find(tile, b"mdat")[8:], side, 4, 3))
        tile = avif(side)
        (OUT / f"{name}.avif").write_bytes(grid(b"avif", b"av01", find(tile, b"av1C"), find(tile, b"mdat")[8:], side, 4, 3))
    noise = np.random.default_rng(1).normal(0, 5, (768, 1024, 1))
    y, x = np.mgrid[0:768, 0:1024]
    waves = np.stack([x / 4 % 256, (x + y) / 7 % 256, y / 3 % 256], axis=2) + noise
    waves = np.ascontiguousarray(waves.clip(0, 255).astype(np.uint8))
    parts = [heic(256, pixels=np.ascontiguousarray(waves[top : top + 256, left : left + 256]))
             for top in range(0, 768, 256) for left in range(0, 1024, 256)]
    (OUT / "tiles-1024x768.heic").write_bytes(
        grid(b"heic", b"hvc1", find(parts[0], b"hvcC"), [find(part, b"mdat")[8:] for part in parts], 256, 4, 3))
    tile = avif(64)
    (OUT / "tiles-1024x1024.avif").write_bytes(grid(b"avif", b"av01", find(tile, b"av1C"), find(tile, b"mdat")[8:], 64, 16, 16))
    (OUT / "420-1536x1536.heic").write_bytes(heic(1536))
    (OUT / "alpha-1536x1536.heic").write_bytes(heic(1536, channels=4))
    (OUT / "10bit-1536x1536.heic").write_bytes(heic(1536, bits=10))
    (OUT / "10bit-alpha-1536x1536.heic").write_bytes(heic(1536, bits=10, channels=4))
    (OUT / "10bit-444-1536x1536.heic").write_bytes(heic(1536, bits=10, chroma="444"))
    (OUT / "444-1536x1536.heic").write_bytes(heic(1536, chroma="444"))
    (OUT / "10bit-alpha-8bit.heic").write_bytes(mixed(heic(64, bits=10), heic(64), 64))
    (OUT / "8bit-alpha-10bit.heic").write_bytes(mixed(heic(64), heic(64, bits=10), 64))


if __name__ == "__main__":
    OUT.mkdir(parents=True, exist_ok=True)
    main()
