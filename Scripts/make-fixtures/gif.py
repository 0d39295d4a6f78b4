"""GIF fixtures: ordinary ones from Pillow, gifsicle and ImageMagick with the pixels that Pillow reads; odd ones written
here block by block, with pixels computed from the blocks."""
import io
import struct
import subprocess
from pathlib import Path

import numpy as np
from PIL import Image

from picture import picture, write_anymap

OUT = Path(__file__).resolve().parents[2] / "Tests/Fixtures/GIF"


def lzw(numbers, size):
    """Codes of growing length, with a full table left as it is for a while before it is cleared."""
    clear, end = 1 << size, (1 << size) + 1
    bits, out = [0, 0], bytearray()

    def emit(code, length):
        bits[0] |= code << bits[1]
        bits[1] += length
        while bits[1] >= 8:
            out.append(bits[0] & 255)
            bits[0] >>= 8
            bits[1] -= 8

    table, length, prefix, since = {(i,): i for i in range(clear)}, size + 1, (), 0
    emit(clear, length)
    following = end + 1
    for number in numbers:
        candidate = prefix + (int(number),)
        if candidate in table:
            prefix = candidate
            continue
        emit(table[prefix], length)
        if following < 4096:
            table[candidate] = following
            following += 1
            if following - 1 == 1 << length and length < 12:
                length += 1
        else:
            since += 1
            if since == 500:
                emit(clear, length)
                table, length, since = {(i,): i for i in range(clear)}, size + 1, 0
                following = end + 1
        prefix = (int(number),)
    if prefix:
        emit(table[prefix], length)
    emit(end, length)
    if bits[1]:
        out.append(bits[0] & 255)
    return bytes(out)


def sub_blocks(data, size=255):
    return b"".join(bytes([len(data[i : i + size])]) + data[i : i + size] for i in range(0, len(data), size)) + b"\0"


def palette_size(palette):
    return max(1, (len(palette) - 1).bit_length())


def colors(palette):
    count = 1 << palette_size(palette)
    return np.vstack([palette, np.zeros((count - len(palette), 3))]).astype(np.uint8).tobytes()


def screen(width, height, palette=None, background=0, version=b"89a"):
    flags = 0x70 if palette is None else 0xF0 | (palette_size(palette) - 1)
    return b"GIF" + version + struct.pack("<HHBBB", width, height, flags, background, 0) + (
        b"" if palette is None else colors(palette))


def control(delay=0, transparent=None, disposal=0):
    return b"\x21\xf9\x04" + struct.pack(
        "<BHBB", disposal << 2 | (transparent is not None), delay, transparent or 0, 0)


def loop(count, name=b"NETSCAPE2.0"):
    return b"\x21\xff\x0b" + name + b"\x03\x01" + struct.pack("<H", count) + b"\0"


def frame(numbers, left=0, top=0, palette=None, interlaced=False, size=8, block=255):
    height, width = numbers.shape
    flags = (0x40 if interlaced else 0) | (0 if palette is None else 0x80 | (palette_size(palette) - 1))
    rows = numbers
    if interlaced:
        order = [*range(0, height, 8), *range(4, height, 8), *range(2, height, 4), *range(1, height, 2)]
        rows = numbers[order]
    return (b"\x2c" + struct.pack("<HHHHB", left, top, width, height, flags)
            + (b"" if palette is None else colors(palette)) + bytes([size]) + sub_blocks(lzw(rows.reshape(-1), size), block))


def save(name, data, expected=None):
    (OUT / f"{name}.gif").write_bytes(data)
    if expected is not None:
        write_anymap(OUT / f"{name}.pam", expected)


def from_pillow(name, data):
    image = Image.open(io.BytesIO(data))
    clear = "transparency" in image.info
    save(name, data, np.asarray(image.convert("RGBA" if clear else "RGB")))


def ordinary():
    photo = Image.fromarray(picture(90, 61))
    for name, options in {"photo": {}, "photo-interlaced": {"interlace": 1}}.items():
        buffer = io.BytesIO()
        photo.quantize(256).save(buffer, "GIF", **options)
        from_pillow(name, buffer.getvalue())
    large = [Image.fromarray(np.roll(picture(120, 90), 5 * i, axis=1)).quantize(64) for i in range(2)]
    for name, options in {
        "photo-120": {}, "photo-120-interlaced": {"interlace": 1},
        "animated-120": {"save_all": True, "append_images": large[1:], "duration": 50},
    }.items():
        buffer = io.BytesIO()
        large[0].save(buffer, "GIF", **options)
        from_pillow(name, buffer.getvalue())
    for count in [2, 4, 16]:
        buffer = io.BytesIO()
        photo.quantize(count).save(buffer, "GIF", optimize=True)
        from_pillow(f"colors-{count}", buffer.getvalue())
    clear = Image.fromarray(np.dstack([picture(40, 30), np.where(np.indices((30, 40)).sum(0) % 7 < 2, 0, 255).astype(np.uint8)]))
    buffer = io.BytesIO()
    clear.save(buffer, "GIF")
    from_pillow("transparent", buffer.getvalue())
    frames = [Image.fromarray(np.roll(picture(40, 30), 3 * i, axis=0)) for i in range(4)]
    buffer = io.BytesIO()
    frames[0].save(buffer, "GIF", save_all=True, append_images=frames[1:], duration=[100, 10, 20, 500], loop=2)
    from_pillow("animated", buffer.getvalue())
    optimized = subprocess.run(["gifsicle", "-O3", "--colors", "64"], input=buffer.getvalue(), capture_output=True, check=True)
    from_pillow("animated-gifsicle", optimized.stdout)
    for i, item in enumerate(frames):
        item.save(OUT / f"frame{i}.ppm")
    made = OUT / "animated-imagemagick.gif"
    subprocess.run(
        ["convert", "-delay", "7", "-loop", "0", *[str(OUT / f"frame{i}.ppm") for i in range(4)], "-layers", "OptimizeFrame", str(made)],
        check=True)
    for i in range(4):
        (OUT / f"frame{i}.ppm").unlink()
    from_pillow("animated-imagemagick", made.read_bytes())


def odd():
    random = np.random.default_rng(5)
    palette = random.integers(0, 256, (256, 3)).astype(np.uint8)
    local = random.integers(0, 256, (16, 3)).astype(np.uint8)
    numbers = random.integers(0, 256, (21, 27))
    shown = palette[numbers]
    end = b"\x3b"
    save("noise", screen(27, 21, palette) + frame(numbers) + end, shown)
    save("version-87a", screen(27, 21, palette, version=b"87a") + frame(numbers) + end, shown)
    save("small-blocks", screen(27, 21, palette) + frame(numbers, block=1) + end, shown)
    noisy = random.integers(0, 256, (90, 100))
    save("table-full", screen(100, 90, palette) + frame(noisy) + end, palette[noisy])
    for height in [1, 2, 3, 4, 5, 6, 7, 8, 9]:
        part = numbers[:height, :5]
        save(f"interlaced-{height}", screen(5, height, palette) + frame(part, interlaced=True) + end, palette[part])

    def on_canvas(width, height, left, top, rgb, mask=None):
        canvas = np.zeros((height, width, 4), np.uint8)
        pixels = np.dstack([rgb, np.full(rgb.shape[:2], 255, np.uint8) if mask is None else mask])
        part = pixels[: max(0, height - top), : max(0, width - left)]
        canvas[top : top + part.shape[0], left : left + part.shape[1]] = part
        return canvas

    save("offset", screen(40, 30, palette, background=9) + frame(numbers, 6, 4) + end, on_canvas(40, 30, 6, 4, shown))
    save("clipped", screen(20, 15, palette) + frame(numbers, 6, 4) + end, on_canvas(20, 15, 6, 4, shown))
    save("outside", screen(20, 15, palette) + frame(numbers, 100, 4) + end, on_canvas(20, 15, 100, 4, shown))
    save("larger-than-canvas", screen(20, 15, palette) + frame(numbers) + end, shown[:15, :20])
    clear = np.where(numbers == 17, 0, 255).astype(np.uint8)
    clear[0, 0] = 255 if numbers[0, 0] != 17 else 0
    save("transparent-offset", screen(40, 30, palette) + control(transparent=17) + frame(numbers, 6, 4) + end,
         on_canvas(40, 30, 6, 4, shown, clear))
    few = numbers % 16
    save("local-palette", screen(27, 21, palette) + frame(few, palette=local, size=4) + end, local[few])
    save("only-local-palette", screen(27, 21) + frame(few, palette=local, size=4, interlaced=True) + end, local[few])
    beyond = np.vstack([local, np.zeros((240, 3), np.uint8)])[numbers]
    save("palette-out-of-range", screen(27, 21) + frame(numbers, palette=local) + end, beyond)
    from_pillow("no-palette", screen(27, 21) + frame(numbers) + end)
    save("canvas-zero", screen(0, 0, palette) + frame(numbers) + end, shown)
    save("canvas-zero-offset", screen(0, 0, palette) + frame(numbers, 2, 3) + end, on_canvas(29, 24, 2, 3, shown))
    save("no-frame", screen(27, 21, palette) + loop(0) + end)
    save("empty-frame", screen(27, 21, palette) + frame(numbers[:0]) + end)
    three = control(delay=1) + frame(numbers) + control(delay=2) + frame(numbers) + control(delay=150) + frame(numbers)
    save("loop-netscape-forever", screen(27, 21, palette) + loop(0) + three + end, shown)
    save("loop-animexts-5", screen(27, 21, palette) + loop(5, b"ANIMEXTS1.0") + three + end, shown)
    save("loop-absent", screen(27, 21, palette) + three + end, shown)
    save("without-trailer", screen(27, 21, palette) + three, shown)
    save("garbage-after-frame", screen(27, 21, palette) + frame(numbers) + b"garbage", shown)
    save("comment-and-text", screen(27, 21, palette) + b"\x21\xfe" + sub_blocks(b"hello" * 100)
         + control(transparent=1) + b"\x21\x01" + sub_blocks(bytes(12) + b"text") + frame(numbers) + end, shown)


def long_codes():
    """Codes that begin longer than any colour needs, as some encoders write them."""
    random = np.random.default_rng(9)
    palette, numbers = random.integers(0, 256, (256, 3)).astype(np.uint8), random.integers(0, 256, (21, 27))
    for size in (9, 10, 11):
        data = screen(27, 21, palette) + frame(numbers, size=size) + b"\x3b"
        assert (np.asarray(Image.open(io.BytesIO(data)).convert("RGB")) == palette[numbers]).all()
        save(f"code-size-{size}", data, palette[numbers])


if __name__ == "__main__":
    OUT.mkdir(parents=True, exist_ok=True)
    for old in OUT.iterdir():
        old.unlink()
    ordinary()
    odd()
    long_codes()
