"""HEIC and AVIF whose boxes say 16 by 16 where the codec's own header says 320 by 240 (libheif 1.15.1 with x265 3.5; avifenc 0.11.1 with
libaom), and HEIC whose parameter sets stand among the picture's data. The names tell what the picture is."""
import struct
import tempfile
from pathlib import Path

import numpy as np
from PIL import Image

import libheif
from reference import run

OUT = Path(__file__).resolve().parents[2] / "Tests/WebImageFormatsTests/Fixtures/CodedSizes"


def box(kind, *parts):
    body = b"".join(parts)
    return struct.pack(">I", 8 + len(body)) + kind + body


def full(kind, *parts, version=0, flags=0):
    return box(kind, struct.pack(">I", version << 24 | flags), *parts)


def file(brand, item, configuration, data, width, height):
    """One picture, whose data lies at the end."""
    def meta(offset):
        properties = box(b"ipco", configuration, full(b"ispe", struct.pack(">II", width, height)))
        association = full(b"ipma", struct.pack(">IHBBB", 1, 1, 2, 0x81, 2))
        return full(
            b"meta", full(b"hdlr", struct.pack(">I4s12xB", 0, b"pict", 0)), full(b"pitm", struct.pack(">H", 1)),
            full(b"iloc", struct.pack(">BBHHHHII", 0x44, 0, 1, 1, 0, 1, offset, len(data))),
            full(b"iinf", struct.pack(">H", 1), full(b"infe", struct.pack(">HH4sB", 1, 0, item, 0), version=2)),
            box(b"iprp", properties, association))

    head = box(b"ftyp", brand, struct.pack(">I", 0), b"mif1", brand)
    return head + meta(len(head) + len(meta(0)) + 8) + box(b"mdat", data)


def find(data, kind):
    place = data.index(kind) - 4
    return data[place : place + struct.unpack(">I", data[place : place + 4])[0]]


def with_parameters(configuration, data):
    """The record without its parameter sets, and the picture with them in front of it."""
    body = configuration[8:]
    units, offset = b"", 23
    for _ in range(body[22]):
        count = struct.unpack(">H", body[offset + 1 : offset + 3])[0]
        offset += 3
        for _ in range(count):
            length = struct.unpack(">H", body[offset : offset + 2])[0]
            units += struct.pack(">I", length) + body[offset + 2 : offset + 2 + length]
            offset += 2 + length
    return box(b"hvcC", body[:22] + b"\0"), units + data


def main():
    width, height = 320, 240
    flat = np.full((height, width, 3), 90, np.uint8)
    with tempfile.TemporaryDirectory() as directory:
        libheif.write(f"{directory}/a.heic", flat, quality=50, chroma="420")
        heic = Path(f"{directory}/a.heic").read_bytes()
        Image.fromarray(flat).save(f"{directory}/a.png")
        run("avifenc", "-s", "6", "-j", "1", "-y", "420", f"{directory}/a.png", f"{directory}/a.avif")
        avif = Path(f"{directory}/a.avif").read_bytes()
    hevc, av1 = find(heic, b"hvcC"), find(avif, b"av1C")
    bare, inside = with_parameters(hevc, find(heic, b"mdat")[8:])
    obus = find(avif, b"mdat")[8:]
    (OUT / "inside-320x240.heic").write_bytes(file(b"heic", b"hvc1", bare, inside, width, height))
    (OUT / "inside-16x16.heic").write_bytes(file(b"heic", b"hvc1", bare, inside, 16, 16))
    (OUT / "av1-320x240.heic").write_bytes(file(b"heic", b"av01", av1, obus, width, height))
    (OUT / "av1-16x16.heic").write_bytes(file(b"heic", b"av01", av1, obus, 16, 16))
    (OUT / "av1-16x16.avif").write_bytes(file(b"avif", b"av01", av1, obus, 16, 16))


OUT.mkdir(parents=True, exist_ok=True)
main()
