"""PNG fixtures: every colour type, bit depth, interlacing and transparency, written here from known samples, so that the
expected pixels come from the samples and not from a decoder; where Pillow can hold them, it is asked to agree."""
import io
import struct
import zlib
from pathlib import Path

import numpy as np
from PIL import Image, ImageCms, ImageOps

from picture import alpha, picture, write_anymap
from profiles import gray as gray_profile, linear_rgb, wide_rgb

OUT = Path(__file__).resolve().parents[2] / "Tests/Fixtures/PNG"
SIGNATURE = b"\x89PNG\r\n\x1a\n"
CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
PASSES = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def pack_row(row, depth):
    flat = row.reshape(-1)
    if depth == 16:
        return flat.astype(">u2").tobytes()
    if depth == 8:
        return flat.astype(np.uint8).tobytes()
    per = 8 // depth
    padded = np.zeros((len(flat) + per - 1) // per * per, np.uint8)
    padded[: len(flat)] = flat
    result = np.zeros(len(padded) // per, np.uint8)
    for i in range(per):
        result |= padded[i::per] << (8 - depth * (i + 1))
    return result.tobytes()


def filtered(rows, bytes_per_pixel):
    """Uses the five filters in turn."""
    out = bytearray()
    previous = bytes(len(rows[0])) if rows else b""
    for number, row in enumerate(rows):
        kind = number % 5
        line = bytearray([kind])
        for i, value in enumerate(row):
            a = row[i - bytes_per_pixel] if i >= bytes_per_pixel else 0
            b = previous[i]
            c = previous[i - bytes_per_pixel] if i >= bytes_per_pixel else 0
            p = a + b - c
            paeth = min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]
            line.append((value - [0, a, b, (a + b) // 2, paeth][kind]) & 255)
        out += line
        previous = row
    return bytes(out)


def write_png(samples, color, depth, interlaced=False, before=(), palette=None, after=(), split=1):
    height, width = samples.shape[:2]
    samples = samples.reshape(height, width, CHANNELS[color])
    unit = max(1, CHANNELS[color] * depth // 8)
    raw = b""
    for x, y, dx, dy in PASSES if interlaced else [(0, 0, 1, 1)]:
        part = samples[y::dy, x::dx]
        if part.size:
            raw += filtered([pack_row(row, depth) for row in part], unit)
    packed = zlib.compress(raw, 9)
    data = SIGNATURE + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, color, 0, 0, int(interlaced)))
    for kind, content in before:
        if kind != b"tRNS":
            data += chunk(kind, content)
    if palette is not None:
        data += chunk(b"PLTE", palette.astype(np.uint8).tobytes())
    for kind, content in before:
        if kind == b"tRNS":
            data += chunk(kind, content)
    size = -(-len(packed) // split)
    for i in range(0, len(packed), size):
        data += chunk(b"IDAT", packed[i : i + size])
        if split > 1:
            data += chunk(b"IDAT", b"")
    for kind, content in after:
        data += chunk(kind, content)
    return data + chunk(b"IEND", b"")


def to8(samples, depth):
    top = (1 << depth) - 1
    return ((samples.astype(np.int64) * 255 + top // 2) // top).astype(np.uint8)


def save(name, data, expected=None):
    (OUT / f"{name}.png").write_bytes(data)
    if expected is not None:
        write_anymap(OUT / f"{name}.pam", expected)


def agrees_with_pillow(data, expected):
    image = Image.open(io.BytesIO(data))
    mode = {1: "L", 3: "RGB", 4: "RGBA"}[1 if expected.ndim == 2 else expected.shape[2]]
    got = np.asarray(image.convert("RGBA" if mode == "RGBA" else mode))
    assert np.array_equal(got, expected), image.mode


def matrix():
    random = np.random.default_rng(7)
    width, height = 19, 17
    for color, depths in {0: [1, 2, 4, 8, 16], 2: [8, 16], 3: [1, 2, 4, 8], 4: [8, 16], 6: [8, 16]}.items():
        for depth in depths:
            samples = random.integers(0, 1 << depth, (height, width, CHANNELS[color]))
            samples[0, 0] = (1 << depth) - 1
            for transparent in [False, True] if color in (0, 2, 3) else [False]:
                before, palette = [], None
                if color == 3:
                    palette = random.integers(0, 256, (1 << depth, 3))
                    expected = palette[samples[..., 0]].astype(np.uint8)
                    if transparent:
                        # One entry less than colours: the rest is opaque.
                        table = random.integers(0, 256, (1 << depth) - 1).astype(np.uint8)
                        before = [(b"tRNS", table.tobytes())]
                        expected = np.dstack([expected, np.append(table, 255)[samples[..., 0]].astype(np.uint8)])
                else:
                    eight = to8(samples, depth)
                    if transparent:
                        key = samples[5, 5].copy()
                        samples[6, 6] = key
                        eight = to8(samples, depth)
                        mask = np.where((samples == key).all(axis=2), 0, 255).astype(np.uint8)
                        before = [(b"tRNS", key.astype(">u2").tobytes())]
                        rgb = eight if color == 2 else np.repeat(eight, 3, axis=2)
                        expected = np.dstack([rgb, mask])
                    elif color == 4:
                        expected = np.dstack([np.repeat(eight[..., :1], 3, axis=2), eight[..., 1]])
                    else:
                        expected = eight[..., 0] if color == 0 else eight
                name = f"type{color}-{depth}bit" + ("-trns" if transparent else "")
                data = write_png(samples, color, depth, False, before, palette, split=3)
                if depth <= 8 and not (transparent and color == 0 and depth < 8):
                    agrees_with_pillow(data, expected)
                save(name, data, expected)
                (OUT / f"{name}-interlaced.png").write_bytes(write_png(samples, color, depth, True, before, palette))


def others():
    photo = picture(120, 90)
    for name, pixels in [("photo-rgb", photo), ("photo-rgba", np.dstack([photo, alpha(120, 90)]))]:
        buffer = io.BytesIO()
        Image.fromarray(pixels).save(buffer, "PNG", optimize=True)
        save(name, buffer.getvalue(), np.asarray(Image.open(buffer)))
    save("photo-interlaced", write_png(photo, 2, 8, True), photo)
    gray = photo[..., 1].astype(np.int64) * 257 + 50 - 100 * (photo[..., 1] > 128)
    save("photo-gray16", write_png(gray, 0, 16), to8(gray, 16))
    small = picture(40, 30)
    opaque = np.dstack([small, np.full((30, 40), 255, np.uint8)])
    save("opaque-rgba", write_png(opaque, 6, 8), opaque)
    for size in [(1, 1), (2, 3), (5, 1), (1, 9)]:
        tiny = picture(16, 16)[: size[1], : size[0]]
        save(f"tiny-{size[0]}x{size[1]}", write_png(tiny, 2, 8, True), tiny)
    # A palette of 5 colours, and numbers up to 15.
    numbers = np.arange(16).reshape(4, 4)
    colors = np.array([[200, 10, 10], [10, 200, 10], [10, 10, 200], [90, 90, 90], [250, 250, 250]])
    shown = np.vstack([colors, np.zeros((11, 3))])[numbers].astype(np.uint8)
    save("palette-out-of-range", write_png(numbers, 3, 4, palette=colors), shown)
    # More than the decoder keeps at a time, in rows and in one row; the test knows the formula.
    for name, width, height in [("many-rows", 260, 200), ("long-rows", 30000, 3)]:
        y, x = np.mgrid[0:height, 0:width]
        rgb = np.dstack([x & 255, y & 255, (x + y) // 3 & 255]).astype(np.uint8)
        buffer = io.BytesIO()
        Image.fromarray(rgb).save(buffer, "PNG", optimize=True)
        save(name, buffer.getvalue())
    color_spaces(small)
    oriented()
    animated("", small)
    animated("-120", photo)
    text = b"Comment\0\0" + zlib.compress(bytes(3 << 20), 9)
    save("big-compressed-text", write_png(small, 2, 8, before=[(b"zTXt", text)]), small)


def color_spaces(small):
    """Gamma and primaries; the expected pixels are computed in floating point."""
    gamma = lambda value: (b"gAMA", struct.pack(">I", value))
    linear = np.rint(255 * (small / 255) ** (1 / 2.2)).astype(np.uint8)
    save("gamma-1.0", write_png(small, 2, 8, before=[gamma(100000)]), linear)
    gray = small[..., 1]
    save("gamma-1.0-gray", write_png(gray, 0, 8, before=[gamma(100000)]), linear[..., 1])
    save("gamma-0.45455", write_png(small, 2, 8, before=[gamma(45455)]), small)
    save("gamma-1.0-srgb", write_png(small, 2, 8, before=[(b"sRGB", b"\0"), gamma(100000)]), small)
    # Primaries of Adobe RGB with a gamma of 2.2.
    points = [0.3127, 0.3290, 0.64, 0.33, 0.21, 0.71, 0.15, 0.06]
    chrm = (b"cHRM", b"".join(struct.pack(">I", round(p * 100000)) for p in points))
    save("chrm-adobe", write_png(small, 2, 8, before=[gamma(45455), chrm]), convert(small, points))
    # Without a gamma the primaries mean nothing.
    save("chrm-alone", write_png(small, 2, 8, before=[chrm]), small)
    srgb = bytearray(ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes())
    srgb[24:36] = struct.pack(">6H", 2026, 1, 1, 0, 0, 0)
    wrapped = b"named\0\0" + zlib.compress(bytes(srgb))
    save("icc-srgb", write_png(small, 2, 8, before=[(b"iCCP", wrapped)]), small)
    wide = ImageCms.ImageCmsProfile(io.BytesIO(wide_rgb()))
    target = ImageCms.createProfile("sRGB")
    converted = ImageCms.profileToProfile(Image.fromarray(small), wide, target, ImageCms.Intent.PERCEPTUAL)
    wrapped = b"wide\0\0" + zlib.compress(wide_rgb())
    save("icc-wide", write_png(small, 2, 8, before=[(b"iCCP", wrapped)]), np.asarray(converted))
    gray_with_alpha(gray, target)


def linear_16():
    """Dark tones of 16 bits, whose profile is steep there; held against sRGB's curve in floating point."""
    ramp = np.linspace(0, 2000, 24 * 16).round().reshape(16, 24)
    samples = np.dstack([ramp, ramp[::-1], np.roll(ramp, 5, axis=1)]).astype(np.int64)
    light = samples / 65535
    shown = np.where(light <= 0.0031308, 12.92 * light, 1.055 * light ** (1 / 2.4) - 0.055)
    shown = (shown * 255 + 0.5).astype(np.uint8)
    wrapped = b"linear\0\0" + zlib.compress(linear_rgb())
    save("icc-linear-16bit", write_png(samples, 2, 16, before=[(b"iCCP", wrapped)]), shown)
    opacity = alpha(24, 16)
    data = write_png(np.dstack([samples, opacity.astype(np.int64) * 257]), 6, 16, before=[(b"iCCP", wrapped)], interlaced=True)
    save("icc-linear-16bit-alpha", data, np.dstack([shown, opacity]))


def gray_with_alpha(gray, target):
    """Decoders make colours of grey with alpha, but the profile is for grey."""
    source = ImageCms.ImageCmsProfile(io.BytesIO(gray_profile()))
    intent = ImageCms.Intent.PERCEPTUAL
    converted = np.asarray(ImageCms.profileToProfile(Image.fromarray(gray), source, target, intent, outputMode="RGB"))
    opacity = alpha(gray.shape[1], gray.shape[0])
    wrapped = b"grey\0\0" + zlib.compress(gray_profile())
    data = write_png(np.dstack([gray, opacity]), 4, 8, before=[(b"iCCP", wrapped)])
    save("icc-gray-alpha", data, np.dstack([converted, opacity]))


def convert(pixels, points):
    def to_xyz(points):
        xyz = np.array([[x / y, 1, (1 - x - y) / y] for x, y in zip(points[2::2], points[3::2])]).T
        white = np.array([points[0] / points[1], 1, (1 - points[0] - points[1]) / points[1]])
        return xyz * np.linalg.solve(xyz, white)

    srgb = [0.3127, 0.3290, 0.64, 0.33, 0.30, 0.60, 0.15, 0.06]
    curve = lambda v: np.where(v <= 0.04045, v / 12.92, ((v + 0.055) / 1.055) ** 2.4)
    inverse = lambda v: np.where(v <= 0.0031308, v * 12.92, 1.055 * v ** (1 / 2.4) - 0.055)
    linear = curve(pixels / 255) @ (np.linalg.inv(to_xyz(srgb)) @ to_xyz(points)).T
    return np.rint(255 * inverse(linear.clip(0, 1))).astype(np.uint8)


def oriented():
    base = Image.fromarray(picture(24, 16))
    for number in range(1, 9):
        exif = Image.Exif()
        exif[0x0112] = number
        buffer = io.BytesIO()
        base.save(buffer, "PNG", exif=exif)
        save(f"orientation-{number}", buffer.getvalue(), np.asarray(ImageOps.exif_transpose(Image.open(buffer))))
    block = b"MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0"
    data = write_png(picture(24, 16), 2, 8, after=[(b"eXIf", block)])
    save("orientation-after-pixels", data, np.rot90(picture(24, 16), -1))


def animated(suffix, first):
    frames = [Image.fromarray(np.roll(first, 5 * i, axis=1)) for i in range(3)]
    for name, default in [("animated", False)] if suffix else [("animated", False), ("animated-default-image", True)]:
        buffer = io.BytesIO()
        frames[0].save(
            buffer, "PNG", save_all=True, append_images=frames[1:], duration=[50, 5, 250][int(default) :],
            loop=3, default_image=default,
        )
        # The default image of the second is no part of the animation.
        save(name + suffix, buffer.getvalue(), np.asarray(frames[int(default)]))


if __name__ == "__main__":
    OUT.mkdir(parents=True, exist_ok=True)
    for old in OUT.iterdir():
        old.unlink()
    matrix()
    others()
    linear_16()
