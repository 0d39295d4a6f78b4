"""BMP fixtures: every header, depth and compression, written here from known samples, so that the expected pixels come from
the samples and not from a decoder; where Pillow 13.0 or ImageMagick 6.9 read a kind, they must agree within a level."""
import io
import struct
import subprocess
from pathlib import Path

import numpy as np
from PIL import Image, ImageCms

from picture import alpha, picture, write_anymap
from profiles import wide_rgb

OUT = Path(__file__).resolve().parents[2] / "Tests/Fixtures/BMP"
WIDTH, HEIGHT = 19, 13
RANDOM = np.random.default_rng(11)


def header(size, width, height, bits, compression=0, masks=(), used=0, space=b"\0\0\0\0", profile=(0, 0)):
    if size == 12:
        return struct.pack("<IHHHH", 12, width, height, 1, bits)
    start = struct.pack("<IiiHH", size, width, height, 1, bits)
    if size == 16:
        return start
    start += struct.pack("<IIiiII", compression, 0, 2835, 2835, used, 0)
    if size == 40:
        return start + b"".join(struct.pack("<I", m) for m in masks)
    if size == 64:
        return start + bytes(24)
    start += b"".join(struct.pack("<I", m) for m in (list(masks) + [0] * 4)[: 3 if size == 52 else 4])
    if size in (52, 56):
        return start
    start += space + bytes(36) + struct.pack("<III", 0, 0, 0)
    if size == 124:
        start += struct.pack("<IIII", 4, *profile, 0)
    return start


def file(dib, palette, pixels, width3=False, gap=b"", offset=None, after=b""):
    colors = b"" if palette is None else b"".join(bytes([b, g, r]) + (b"" if width3 else b"\0") for r, g, b in palette)
    place = 14 + len(dib) + len(colors) + len(gap)
    size = place + len(pixels) + len(after)
    return b"BM" + struct.pack("<IHHI", size, 0, 0, place if offset is None else offset) + dib + colors + gap + pixels + after


def pack(numbers, bits):
    """Rows of numbers, padded to four bytes."""
    rows = []
    for row in numbers:
        if bits in (16, 32):
            data = row.astype(f"<u{bits // 8}").tobytes()
        elif bits == 24:
            data = row[:, ::-1].astype(np.uint8).tobytes()
        else:
            per = 8 // bits
            padded = np.zeros(-(-len(row) // per) * per, np.uint8)
            padded[: len(row)] = row
            data = np.zeros(len(padded) // per, np.uint8)
            for i in range(per):
                data |= padded[i::per] << (8 - bits * (i + 1))
            data = data.tobytes()
        rows.append(data + bytes(-len(data) % 4))
    return rows


def save(name, data, expected, agree=True):
    (OUT / f"{name}.bmp").write_bytes(data)
    # Photos serve the tests of options, which compare sizes and resampled pixels.
    if not name.startswith("photo"):
        write_anymap(OUT / f"{name}.pam", expected)
    if agree:
        mode = "RGBA" if expected.shape[2] == 4 else "RGB"
        try:
            found = np.asarray(Image.open(io.BytesIO(data)).convert(mode))
        except Exception:
            magick = subprocess.run(["convert", "bmp:-", "-depth", "8", f"{mode.lower()}:-"], input=data, capture_output=True)
            if magick.returncode != 0:
                print(name, "is read by neither")
                return
            found = np.frombuffer(magick.stdout, np.uint8).reshape(expected.shape)
        worst = np.abs(found.astype(int) - expected.astype(int)).max()
        if worst > 8:
            print(name, "differs by", worst)
            assert False


def level(values, mask):
    """Rounded to nearest."""
    shift = (mask & -mask).bit_length() - 1
    top = mask >> shift
    return (((values & mask) >> shift).astype(np.int64) * 255 + top // 2) // top


def masked(size, bits, masks, compression, name, agree=True):
    numbers = RANDOM.integers(0, 1 << bits, (HEIGHT, WIDTH), dtype=np.uint64).astype(np.int64)
    expected = np.dstack([level(numbers, m) for m in masks if m]).astype(np.uint8)
    dib = header(size, WIDTH, HEIGHT, bits, compression, masks if compression else ())
    save(name, file(dib, None, b"".join(pack(numbers, bits)[::-1])), expected, agree)


def matrix():
    for size in (12, 16, 40, 64, 108, 124):
        for bits in (1, 4, 8) if size != 40 else (1, 2, 4, 8):
            palette = RANDOM.integers(0, 256, (1 << bits, 3))
            numbers = RANDOM.integers(0, 1 << bits, (HEIGHT, WIDTH))
            data = file(header(size, WIDTH, HEIGHT, bits), palette, b"".join(pack(numbers, bits)[::-1]), size == 12)
            save(f"header{size}-{bits}bit", data, palette[numbers].astype(np.uint8), agree=size != 16 and bits != 2)
    photo = picture(WIDTH, HEIGHT)
    for size in (12, 16, 40, 64, 108, 124):
        data = file(header(size, WIDTH, HEIGHT, 24), None, b"".join(pack(photo, 24)[::-1]))
        save(f"header{size}-24bit", data, photo, agree=size != 16)
    masked(40, 16, [0x7C00, 0x3E0, 0x1F], 0, "header40-16bit")
    masked(40, 32, [0xFF0000, 0xFF00, 0xFF], 0, "header40-32bit")
    for size in (40, 52, 56, 108, 124):
        masked(size, 16, [0xF800, 0x7E0, 0x1F], 3, f"header{size}-16bit-565")
        masked(size, 32, [0xFF, 0xFF00, 0xFF0000], 3, f"header{size}-32bit-swapped")
    for size in (56, 108, 124):
        masked(size, 32, [0xFF0000, 0xFF00, 0xFF, 0xFF000000], 3, f"header{size}-32bit-alpha")
        masked(size, 16, [0xF00, 0xF0, 0xF, 0xF000], 3, f"header{size}-16bit-alpha", agree=False)
    masked(40, 32, [0xFF000000, 0xFF0000, 0xFF00, 0xFF], 6, "header40-32bit-alphafields", agree=False)
    masked(124, 32, [0x3FF00000, 0xFFC00, 0x3FF, 0xC0000000], 3, "header124-32bit-1010102", agree=False)
    masked(108, 32, [0x7, 0xFFF8, 0xFFFF0000], 3, "header108-32bit-uneven", agree=False)


def encode_runs(numbers, bits):
    """Runs where there are some, else absolute; one row after the other from the bottom."""
    out = bytearray()
    for row in numbers[::-1]:
        x = 0
        while x < len(row):
            end = x
            while end < len(row) and end - x < 255 and (row[end] == row[x]).all():
                end += 1
            if end - x >= 3 or len(row) - x < 3:
                count, value = end - x, row[x]
                color = bytes(value[::-1].astype(np.uint8)) if bits == 24 else bytes([value if bits == 8 else value << 4 | value])
                out += bytes([count]) + color
                x = end
            else:
                count = min(len(row) - x, 7)
                part = row[x : x + count]
                if bits == 24:
                    data = part[:, ::-1].astype(np.uint8).tobytes()
                elif bits == 8:
                    data = part.astype(np.uint8).tobytes()
                else:
                    pairs = np.append(part, [0] * (count % 2)).reshape(-1, 2)
                    data = bytes((a << 4 | b) for a, b in pairs)
                out += bytes([0, count]) + data + bytes(len(data) % 2)
                x += count
        out += b"\0\0"
    return bytes(out)


def run_lengths():
    for bits, kind in ((8, 1), (4, 2)):
        palette = RANDOM.integers(0, 256, (1 << bits, 3))
        numbers = RANDOM.integers(0, 1 << bits, (HEIGHT, WIDTH))
        numbers[:, 4:10] = numbers[:, 4:5]
        numbers[3] = 5
        shown = palette[numbers].astype(np.uint8)
        runs = encode_runs(numbers, bits)
        dib = header(40, WIDTH, HEIGHT, bits, kind)
        save(f"rle{bits}", file(dib, palette, runs + b"\0\1"), shown)
        # The last row needs no end, nor the picture.
        save(f"rle{bits}-no-end", file(dib, palette, runs[:-2]), shown, agree=False)
        opaque = np.dstack([shown, np.full((HEIGHT, WIDTH), 255, np.uint8)])
        # The upper half is missing.
        half = opaque.copy()
        half[: HEIGHT - 6] = 0
        early = encode_runs(numbers[HEIGHT - 6 :], bits)
        save(f"rle{bits}-early-end", file(dib, palette, early + b"\0\1"), half, agree=False)
        # Six pixels; jump by 3 and 2 to the right and up; a run; jump within the row; a run over the end of the row, which is cut.
        value = 3
        color = bytes([value if bits == 8 else value << 4 | value])
        jumps = b"\6" + color + b"\0\2\3\2" + b"\4" + color + b"\0\2\2\0" + b"\xff" + color + b"\0\1"
        gaps = np.zeros((HEIGHT, WIDTH, 4), np.uint8)
        for row, start, end in ((0, 0, 6), (2, 9, 13), (2, 15, WIDTH)):
            gaps[HEIGHT - 1 - row, start:end] = [*palette[value], 255]
        save(f"rle{bits}-delta", file(dib, palette, jumps), gaps, agree=False)
        # Runs with two colours in turn.
        if bits == 4:
            both = b"".join(b"\x13\x5a\0\0" for _ in range(HEIGHT))
            turn = np.where(np.arange(WIDTH) % 2 == 0, 5, 10)
            save("rle4-two-colors", file(dib, palette, both + b"\0\1"), np.repeat(palette[turn][None], HEIGHT, 0).astype(np.uint8))
    photo = picture(WIDTH, HEIGHT)
    photo[4] = photo[4, 0]
    save("rle24-os2", file(header(64, WIDTH, HEIGHT, 24, 4), None, encode_runs(photo, 24) + b"\0\1"), photo, agree=False)


def odd():
    photo = picture(WIDTH, HEIGHT)
    save("top-down-24bit", file(header(40, WIDTH, -HEIGHT, 24), None, b"".join(pack(photo, 24))), photo)
    palette = RANDOM.integers(0, 256, (5, 3))
    numbers = RANDOM.integers(0, 16, (HEIGHT, WIDTH))
    shown = np.vstack([palette, np.zeros((11, 3))])[numbers].astype(np.uint8)
    rows = b"".join(pack(numbers, 4)[::-1])
    save("short-palette", file(header(40, WIDTH, HEIGHT, 4, used=5), palette, rows), shown, agree=False)
    save("gap-before-pixels", file(header(40, WIDTH, HEIGHT, 24), None, b"".join(pack(photo, 24)[::-1]), gap=bytes(7)), photo)
    save("offset-zero", file(header(40, WIDTH, HEIGHT, 24), None, b"".join(pack(photo, 24)[::-1]), offset=0), photo, agree=False)
    data = file(header(40, WIDTH, HEIGHT, 24), None, b"".join(pack(photo, 24)[::-1]))
    save("no-padding-at-end", data[: len(data) - (-3 * WIDTH % 4)], photo, agree=False)
    # What a display could use has no meaning, but lies before the pixels.
    save("palette-of-24bit", file(header(40, WIDTH, HEIGHT, 24, used=5), palette, b"".join(pack(photo, 24)[::-1])), photo, agree=False)


def embedded():
    photo = picture(40, 30)
    for name, kind, options in (("jpeg", 4, {"quality": 90}), ("png", 5, {})):
        buffer = io.BytesIO()
        Image.fromarray(photo).save(buffer, name, **options)
        data = file(header(40, 40, 30, 0, kind), None, buffer.getvalue())
        save(f"embedded-{name}", data, np.asarray(Image.open(buffer)), agree=False)
    pixels = b"".join(pack(photo, 24)[::-1])
    profile = wide_rgb()
    wide = ImageCms.ImageCmsProfile(io.BytesIO(profile))
    converted = ImageCms.profileToProfile(
        Image.fromarray(photo), wide, ImageCms.createProfile("sRGB"), ImageCms.Intent.PERCEPTUAL)
    dib = header(124, 40, 30, 24, space=b"MBED"[::-1], profile=(124 + len(pixels), len(profile)))
    save("icc-wide", file(dib, None, pixels, after=profile), np.asarray(converted), agree=False)
    dib = header(124, 40, 30, 24, space=b"sRGB"[::-1])
    save("declared-srgb", file(dib, None, pixels), photo)


def photos():
    """For the tests of options."""
    photo = picture(120, 90)
    reduced = Image.fromarray(photo).quantize(64)
    numbers = np.asarray(reduced)
    palette = np.array(reduced.getpalette()[: 64 * 3]).reshape(-1, 3)
    palette = np.vstack([palette, np.zeros((256 - len(palette), 3), int)])
    shown = palette[numbers].astype(np.uint8)
    save("photo-8bit", file(header(40, 120, 90, 8), palette, b"".join(pack(numbers, 8)[::-1])), shown)
    save("photo-rle8", file(header(40, 120, 90, 8, 1), palette, encode_runs(numbers, 8) + b"\0\1"), shown)
    soft = alpha(120, 90).astype(np.int64)
    four = photo.astype(np.int64) >> 4
    packed = four[..., 0] << 8 | four[..., 1] << 4 | four[..., 2] | soft >> 4 << 12
    dib = header(124, 120, 90, 16, 3, [0xF00, 0xF0, 0xF, 0xF000])
    expected = np.dstack([four * 17, (soft >> 4) * 17]).astype(np.uint8)
    save("photo-16bit-alpha", file(dib, None, b"".join(pack(packed, 16)[::-1])), expected, agree=False)


def written():
    """The files that the encoder writes, byte for byte. Both Pillow and ImageMagick must read their samples."""
    photo, soft = picture(WIDTH, HEIGHT), alpha(WIDTH, HEIGHT).astype(int)[..., None]
    # The decoder premultiplies, which must lose nothing: colours are those that it leaves.
    half = (photo * soft + 127) // 255
    straight = np.where(soft > 0, (half * 255 + soft // 2) // np.maximum(soft, 1), 0).clip(0, 255)
    for name, samples in (("written-rgb", photo), ("written-rgba", np.dstack([straight, soft]).astype(np.uint8))):
        bits = 8 * samples.shape[2]
        masks = [0xFF0000, 0xFF00, 0xFF, 0xFF000000] if bits == 32 else []
        numbers = samples
        if masks:
            shifts = np.array([16, 8, 0, 24], np.int64)
            numbers = (samples.astype(np.int64) << shifts).sum(axis=2)
        pixels = b"".join(pack(numbers, bits)[::-1])
        dib = bytearray(header(108 if masks else 40, WIDTH, HEIGHT, bits, 3 if masks else 0, masks, space=b"BGRs"))
        dib[20:24] = struct.pack("<I", len(pixels))
        data = file(bytes(dib), None, pixels)
        save(name, data, samples)
        mode = "rgba" if masks else "rgb"
        magick = subprocess.run(["convert", "bmp:-", "-depth", "8", f"{mode}:-"], input=data, capture_output=True, check=True)
        pillow = Image.open(io.BytesIO(data)).convert(mode.upper())
        assert magick.stdout == pillow.tobytes() == samples.tobytes(), name


if __name__ == "__main__":
    OUT.mkdir(parents=True, exist_ok=True)
    for old in OUT.iterdir():
        old.unlink()
    matrix()
    run_lengths()
    odd()
    embedded()
    photos()
    written()
