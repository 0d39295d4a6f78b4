"""TIFF fixtures; those named `same-…` all show the pixels of `same.pam`. Samples of every size, alpha, planes, orientation: written here, so that the expected pixels come from the
samples; compressions, tiles, byte orders: made of those by tiffcp (libtiff-tools 4.5) and by Pillow 13.0, which knows the
pixels. YCbCr and L*a*b* are held against ImageMagick 6.9 and LittleCMS (through Pillow). LogLuv is written by libtiff itself. What has more than 8 bits
has half floats beside it, `….half`, as hdr.py writes them."""
import ctypes
import io
import struct
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from PIL import Image, ImageCms, TiffImagePlugin

from hdr import extended, srgb_eotf, srgb_oetf, to_levels
from picture import alpha, picture, write_anymap
from profiles import cmyk as cmyk_profile, wide_rgb

OUT = Path(__file__).resolve().parents[2] / "Tests/WebImageFormatsTests/Fixtures/TIFF"
WIDTH, HEIGHT = 23, 17
RANDOM = np.random.default_rng(17)


def pack(samples, bits, kind, order):
    """Rows of (width, samples) as bytes."""
    out = b""
    for row in samples:
        flat = row.reshape(-1)
        if kind == 3:
            out += flat.astype({16: "f2", 32: "f4", 64: "f8"}[bits]).astype(f"{order}f{bits // 8}").tobytes()
        elif bits in (8, 16, 32):
            out += (flat & ((1 << bits) - 1)).astype(f"{order}u{bits // 8}").tobytes()
        else:
            text = "".join(format(int(v) & ((1 << bits) - 1), f"0{bits}b") for v in flat)
            text += "0" * (-len(text) % 8)
            out += bytes(int(text[i : i + 8], 2) for i in range(0, len(text), 8))
    return out


def tiff(samples, bits, photometric, extra=None, planar=False, kind=1, order="<", tags=(), rows=5, palette=None, big=False):
    """An uncompressed file with the directory at its end."""
    height, width, count = samples.shape
    planes = [samples[..., i : i + 1] for i in range(count)] if planar else [samples]
    strips = [pack(p[y : y + rows], bits, kind, order) for p in planes for y in range(0, height, rows)]
    body = bytearray(b"II" if order == "<" else b"MM")
    body += struct.pack(order + "HHHQ", 43, 8, 0, 0) if big else struct.pack(order + "HI", 42, 0)
    offsets = []
    for strip in strips:
        offsets.append(len(body))
        body += strip + bytes(len(strip) % 2)
    entries = {
        256: (3, [width]), 257: (3, [height]), 258: (3, [bits] * count), 259: (3, [1]), 262: (3, [photometric]),
        273: (4, offsets), 277: (3, [count]), 278: (3, [rows]), 279: (4, [len(s) for s in strips]),
        284: (3, [2 if planar else 1]),
    }
    if kind != 1:
        entries[339] = (3, [kind] * count)
    if extra is not None:
        entries[338] = (3, extra)
    if palette is not None:
        entries[320] = (3, [int(v) for v in palette.T.reshape(-1)])
    entries.update(tags)
    form = {1: "B", 2: "B", 3: "H", 4: "I", 7: "B"}
    room = 8 if big else 4
    placed = []
    for tag, (type_, values) in sorted(entries.items()):
        data = b"".join(struct.pack(order + form[type_], v) for v in values)
        if len(data) > room:
            place = len(body)
            body += data + bytes(len(data) % 2)
            data = struct.pack(order + ("Q" if big else "I"), place)
        placed.append(struct.pack(order + ("HHQ" if big else "HHI"), tag, type_, len(values)) + data.ljust(room, b"\0"))
    where = len(body)
    body += struct.pack(order + ("Q" if big else "H"), len(placed)) + b"".join(placed) + bytes(room)
    struct.pack_into(order + ("Q" if big else "I"), body, 8 if big else 4, where)
    return bytes(body)


def halves(name, numbers, cover=None):
    """Half floats, premultiplied, of straight sRGB numbers (grey or RGB)."""
    colors = np.dstack([numbers] * 3) if numbers.ndim == 2 or numbers.shape[2] == 1 else numbers
    cover = np.ones(colors.shape[:2]) if cover is None else cover
    data = np.dstack([colors * cover[..., None], cover]).clip(-65504, 65504).astype("<f2")
    (OUT / f"{name}.half").write_bytes(data.tobytes())


def to8(samples, bits):
    top = (1 << bits) - 1
    return ((samples.astype(object) * 255 + top // 2) // top).astype(np.uint8)


def save(name, data, expected):
    (OUT / f"{name}.tiff").write_bytes(data)
    if expected is not None:
        write_anymap(OUT / f"{name}.pam", expected)
    return data


def copied(name, data, expected, *options):
    """The same picture, as tiffcp writes it."""
    with tempfile.TemporaryDirectory() as directory:
        source, target = Path(directory) / "a.tiff", Path(directory) / "b.tiff"
        source.write_bytes(data)
        subprocess.run(["tiffcp", *options, source, target], check=True, capture_output=True)
        save(name, target.read_bytes(), expected)


def random(bits, count):
    samples = RANDOM.integers(0, 1 << bits, (HEIGHT, WIDTH, count), dtype=np.uint64).astype(np.int64)
    samples[0, 0], samples[0, 1] = 0, (1 << bits) - 1
    return samples


def samples_of_every_size():
    for bits in (*range(1, 17), 32):
        gray = random(bits, 1)
        shown = to8(gray, bits)[..., 0]
        data = save(f"gray-{bits}bit", tiff(gray, bits, 1), shown)
        if bits in (1, 8, 16):
            save(f"gray-{bits}bit-white-is-zero", tiff(gray, bits, 0), 255 - shown)
        if bits == 16:
            halves("gray-16bit-white-is-zero", 1 - gray / 65535)
        if bits in (1, 4, 8):
            found = np.asarray(Image.open(io.BytesIO(data)).convert("L"))
            assert np.abs(found.astype(int) - shown).max() <= 1, bits
    for bits in (4, 8, 12, 16, 32):
        rgb = random(bits, 3)
        data = save(f"rgb-{bits}bit", tiff(rgb, bits, 2, order=">" if bits == 16 else "<"), to8(rgb, bits))
        if bits in (12, 16, 32):
            halves(f"rgb-{bits}bit", rgb / ((1 << bits) - 1))
    save("rgb-16bit-big", tiff(rgb16 := random(16, 3), 16, 2, big=True), to8(rgb16, 16))
    for bits in (8, 16):
        signed = random(bits, 1)
        moved = signed ^ 1 << (bits - 1)
        save(f"gray-{bits}bit-signed", tiff(signed, bits, 1, kind=2), to8(moved, bits)[..., 0])
    for bits in (16, 32, 64):
        real = RANDOM.uniform(-0.2, 1.2, (HEIGHT, WIDTH, 3))
        real = real.astype({16: np.float16, 32: np.float32, 64: np.float64}[bits])
        real[0, 0] = [np.nan, np.inf, -np.inf]
        number = np.nan_to_num(real.astype(np.float64), nan=0, posinf=65504, neginf=-65504)
        # What is brighter than white is tone-mapped.
        data = tiff(real, bits, 2, kind=3, order=">" if bits == 32 else "<")
        save(f"rgb-float{bits}", data, to_levels(np.sign(number) * srgb_eotf(np.abs(number)), True))
        halves(f"rgb-float{bits}", number)
    dark = np.random.default_rng(18).uniform(-0.1, 1.05, (HEIGHT, WIDTH, 3)).astype(np.float32)
    save("rgb-float32-within", tiff(dark, 32, 2, kind=3), np.floor(dark.astype(np.float64).clip(0, 1) * 255 + 0.5).astype(np.uint8))
    halves("rgb-float32-within", dark)
    for bits in (1, 2, 4, 8):
        palette = RANDOM.integers(0, 65536, (1 << bits, 3))
        numbers = random(bits, 1)
        data = save(f"palette-{bits}bit", tiff(numbers, bits, 3, palette=palette), to8(palette, 16)[numbers[..., 0]])
        narrow = RANDOM.integers(0, 256, (1 << bits, 3))
        if bits == 4:
            save("palette-of-8-bits", tiff(numbers, bits, 3, palette=narrow), narrow[numbers[..., 0]].astype(np.uint8))


def alphas():
    for bits in (8, 16):
        straight = random(bits, 4)
        shown = to8(straight, bits)
        save(f"rgba-{bits}bit", tiff(straight, bits, 2, extra=[2]), shown)
        save(f"rgba-{bits}bit-planes", tiff(straight, bits, 2, extra=[2], planar=True), shown)
        if bits == 16:
            halves("rgba-16bit-planes", straight[..., :3] / 65535, straight[..., 3] / 65535)
        save(f"graya-{bits}bit", tiff(straight[..., :2], bits, 1, extra=[2]), np.dstack([shown[..., :1]] * 3 + [shown[..., 1]]))
    save("rgba-untold", tiff(straight := random(8, 4), 8, 2), straight.astype(np.uint8))
    save("rgbx", tiff(straight, 8, 2, extra=[0]), straight[..., :3].astype(np.uint8))
    five = random(8, 5)
    save("rgbxa", tiff(five, 8, 2, extra=[0, 2]), five[..., [0, 1, 2, 4]].astype(np.uint8))
    # Premultiplied: what is stored is what is wanted; the anymap has colours that give it.
    soft = alpha(28, 20).astype(np.int64)
    straight = np.dstack([picture(28, 20).astype(np.int64), soft])
    stored = np.dstack([(straight[..., :3] * soft[..., None] * 2 + 255) // 510, soft])
    save("rgba-premultiplied", tiff(stored, 8, 2, extra=[1]), straight.astype(np.uint8))
    save("rgba-premultiplied-planes", tiff(stored, 8, 2, extra=[1], planar=True), straight.astype(np.uint8))
    wide = np.dstack([(straight[..., :3] * 257 * soft[..., None] * 2 + 255) // 510, soft * 257])
    save("rgba-premultiplied-16bit", tiff(wide, 16, 2, extra=[1]), straight.astype(np.uint8))
    cover = wide[..., 3] / 65535
    halves("rgba-premultiplied-16bit", np.where(cover[..., None] > 0, wide[..., :3] / 65535 / np.maximum(cover, 1e-9)[..., None], 0), cover)


def compressions():
    photo = picture(37, 35).astype(np.int64)
    plain = tiff(photo, 8, 2)
    shown = photo.astype(np.uint8)
    for name, options in {
        "lzw": ["-c", "lzw"], "lzw-predictor": ["-c", "lzw:2"], "deflate": ["-c", "zip"], "deflate-predictor": ["-c", "zip:2"],
        "packbits": ["-c", "packbits"], "tiles": ["-t", "-w", "16", "-l", "32"], "tiles-lzw": ["-t", "-w", "32", "-l", "16", "-c", "lzw:2"],
        "planes": ["-p", "separate", "-c", "lzw"], "planes-tiles": ["-p", "separate", "-t", "-w", "16", "-l", "16", "-c", "zip"],
        "one-strip": ["-r", "100", "-c", "zip:2"], "one-row-strips": ["-r", "1", "-c", "lzw"], "big-endian": ["-B", "-c", "lzw"],
        "bigtiff": ["-8", "-c", "zip"], "bits-reversed": ["-f", "lsb2msb", "-c", "packbits"],
    }.items():
        copied(f"same-{name}", plain, None, *options)
    write_anymap(OUT / "same.pam", shown)
    line = RANDOM.integers(0, 2, (35, 37, 1))
    line[5:30, 10:34] = 1
    for name, options in {"g3": ["-c", "g3"], "g3-2d": ["-c", "g3:2d"], "g4": ["-c", "g4"], "g4-reversed": ["-c", "g4", "-f", "lsb2msb"]}.items():
        copied(f"fax-{name}", tiff(line, 1, 0), (255 - line[..., 0] * 255).astype(np.uint8), *options)
    for bits in (1, 4, 12):
        gray = RANDOM.integers(0, 1 << bits, (35, 37, 1))
        copied(f"gray-{bits}bit-tiles", tiff(gray, bits, 1), to8(gray, bits)[..., 0], "-t", "-w", "16", "-l", "16", "-c", "lzw")
    real = picture(37, 35) / np.float32(255)
    copied("same-float-predictor", tiff(real.astype(np.float32), 32, 2, kind=3), None, "-c", "zip:3")
    image = Image.fromarray(shown)
    for name, mode, options in [("jpeg-ycbcr", "RGB", {"quality": 90}), ("jpeg-gray", "L", {"quality": 90}), ("jpeg-cmyk", "CMYK", {"quality": 90})]:
        buffer = io.BytesIO()
        image.convert(mode).save(buffer, "TIFF", compression="jpeg", **options)
        read = np.asarray(Image.open(buffer))
        save(name, buffer.getvalue(), shown_cmyk(read) if mode == "CMYK" else read)
    copied("jpeg-tiles", plain, None, "-t", "-w", "32", "-l", "32", "-c", "jpeg:90")
    read = np.asarray(Image.open(OUT / "jpeg-tiles.tiff").convert("RGB"))
    write_anymap(OUT / "jpeg-tiles.pam", read)


def shown_cmyk(inks):
    inks = 255 - inks.astype(np.int64)
    return ((inks[..., :3] * inks[..., 3:] + 127) // 255).astype(np.uint8)


def colors():
    inks = random(8, 4)
    save("cmyk", tiff(inks, 8, 5), shown_cmyk(inks))
    save("cmyk-16bit-planes", tiff(wide := random(16, 4), 16, 5, planar=True), shown_cmyk(to8(wide, 16)))
    inks16 = wide / 65535
    halves("cmyk-16bit-planes", (1 - inks16[..., :3]) * (1 - inks16[..., 3:]))
    target = ImageCms.createProfile("sRGB")
    photo = picture(28, 20)

    def convert(pixels, profile, mode):
        source = ImageCms.ImageCmsProfile(io.BytesIO(profile))
        image = Image.fromarray(pixels, mode)
        return np.asarray(ImageCms.profileToProfile(image, source, target, ImageCms.Intent.PERCEPTUAL, outputMode="RGB"))

    def icc(profile):
        return {34675: (7, list(profile))}

    save("icc-wide", tiff(photo.astype(np.int64), 8, 2, tags=icc(wide_rgb())), convert(photo, wide_rgb(), "RGB"))
    soft = alpha(28, 20)
    data = tiff(np.dstack([photo, soft]).astype(np.int64), 8, 2, extra=[2], tags=icc(wide_rgb()))
    save("icc-wide-alpha", data, np.dstack([convert(photo, wide_rgb(), "RGB"), soft]))
    inks = np.asarray(Image.fromarray(photo).convert("CMYK"))
    save("icc-cmyk", tiff(inks.astype(np.int64), 8, 5, tags=icc(cmyk_profile())), convert(inks, cmyk_profile(), "CMYK"))
    lab = ImageCms.profileToProfile(Image.fromarray(photo), target, ImageCms.createProfile("LAB", 5000), outputMode="LAB")
    buffer = io.BytesIO()
    lab.save(buffer, "TIFF")
    back = ImageCms.profileToProfile(lab, ImageCms.createProfile("LAB", 5000), target, outputMode="RGB")
    save("cielab", buffer.getvalue(), np.asarray(back))


def lab16():
    """L*a*b* under D50, by its definition: L* over all 16 bits, a* and b* in 256ths, signed."""
    photo = srgb_eotf(picture(28, 20) / 255.0 * 0.8 + 0.1)
    to_xyz = np.array([[0.4360747, 0.3850649, 0.1430804], [0.2225045, 0.7168786, 0.0606169], [0.0139322, 0.0971045, 0.7141733]])
    white, edge = to_xyz.sum(axis=1), 6 / 29
    ratio = photo @ to_xyz.T / white
    f = np.where(ratio > edge**3, np.cbrt(ratio), ratio / (3 * edge**2) + 4 / 29)
    lab = np.dstack([116 * f[..., 1] - 16, 500 * (f[..., 0] - f[..., 1]), 200 * (f[..., 1] - f[..., 2])])
    stored = np.dstack([(lab[..., 0] * 655.35).round(), (lab[..., 1:] * 256).round()]).astype(np.int64)
    shown = srgb_oetf(photo)
    save("cielab-16bit", tiff(stored, 16, 8), (shown * 255).round().astype(np.uint8))
    halves("cielab-16bit", shown)


def subsampled():
    """YCbCr that is not in JPEG: blocks of as many Y as share a Cb and a Cr, by the factors of JFIF."""
    y, x = np.mgrid[0:32, 0:48] / 48
    rgb = np.dstack([200 * x + 20, 150 * y + 60, 255 - 200 * x])
    to_ycbcr = np.array([[0.299, 0.587, 0.114], [-0.168736, -0.331264, 0.5], [0.5, -0.418688, -0.081312]])
    ycbcr = (rgb @ to_ycbcr.T + [0, 128, 128]).round()
    for across, down in ((1, 1), (2, 2), (4, 2)):
        chroma = ycbcr[..., 1:].reshape(32 // down, down, 48 // across, across, 2).mean(axis=(1, 3)).round()
        luma = ycbcr[..., 0].reshape(32 // down, down, 48 // across, across).transpose(0, 2, 1, 3).reshape(32 // down, 48 // across, -1)
        blocks = np.concatenate([luma, chroma], axis=2).astype(np.int64)
        # The writer takes each row of blocks for a row of pixels; the tags say otherwise.
        data = tiff(blocks, 8, 6, rows=32 // down, tags={
            256: (3, [48]), 257: (3, [32]), 258: (3, [8, 8, 8]), 277: (3, [3]), 278: (3, [32]), 530: (3, [across, down])})
        full = np.dstack([ycbcr[..., 0], chroma.repeat(down, 0).repeat(across, 1) - 128])
        shown = np.dstack([
            full[..., 0] + 1.402 * full[..., 2], full[..., 0] - 0.344136 * full[..., 1] - 0.714136 * full[..., 2],
            full[..., 0] + 1.772 * full[..., 1]])
        save(f"ycbcr-{across}x{down}", data, shown.round().clip(0, 255).astype(np.uint8))


def logluv():
    """Light, 0 to 6 times white, as libtiff packs it; what it unpacks again is what counts."""
    library = ctypes.CDLL("libtiff.so.6")
    library.TIFFOpen.restype = ctypes.c_void_p
    handle = ctypes.c_void_p

    def opened(path, mode):
        return handle(library.TIFFOpen(str(path).encode(), mode))

    y, x = np.mgrid[0:12, 0:20] / 20
    light = np.dstack([6 * x**2 + 0.05, 3 * x * y + 0.05, np.abs(4 * (x - y)) + 0.05]).astype(np.float32)
    to_xyz = np.linalg.inv(np.array([[2.690, -1.276, -0.414], [-1.022, 1.978, 0.044], [0.061, -0.224, 1.163]]))
    for name, photometric, samples in (("logluv", 32845, light @ to_xyz.T), ("logl", 32844, light[..., :1])):
        samples = np.ascontiguousarray(samples, dtype=np.float32)
        path = OUT / f"{name}.tiff"
        file = opened(path, b"wl")
        for tag, value in ((256, 20), (257, 12), (277, samples.shape[2]), (262, photometric), (284, 1), (259, 34676), (65560, 0), (278, 4)):
            assert library.TIFFSetField(file, ctypes.c_uint32(tag), ctypes.c_int(value)), tag
        for row in range(12):
            assert library.TIFFWriteScanline(file, samples[row].ctypes.data_as(handle), ctypes.c_uint32(row), ctypes.c_uint16(0)) == 1
        library.TIFFClose(file)
        file = opened(path, b"r")
        library.TIFFSetField(file, ctypes.c_uint32(65560), ctypes.c_int(0))
        read = np.zeros_like(samples)
        for row in range(12):
            assert library.TIFFReadScanline(file, read[row].ctypes.data_as(handle), ctypes.c_uint32(row), ctypes.c_uint16(0)) == 1
        library.TIFFClose(file)
        back = read.astype(np.float64) @ np.linalg.inv(to_xyz).T if name == "logluv" else np.dstack([read.astype(np.float64)] * 3)
        assert np.abs(back - (light if name == "logluv" else light[..., :1])).max() < 0.2
        write_anymap(OUT / f"{name}.pam", to_levels(back, True))
        halves(name, extended(back))


def others():
    base = picture(24, 16)
    for number in range(1, 9):
        turned = {
            1: base, 2: base[:, ::-1], 3: base[::-1, ::-1], 4: base[::-1], 5: base.transpose(1, 0, 2),
            6: np.rot90(base, -1), 7: base[::-1, ::-1].transpose(1, 0, 2), 8: np.rot90(base),
        }[number]
        save(f"orientation-{number}", tiff(base.astype(np.int64), 8, 2, tags={274: (3, [number])}), turned)
    pages = [Image.fromarray(np.roll(base, 3 * i, axis=0)) for i in range(3)]
    buffer = io.BytesIO()
    pages[0].save(buffer, "TIFF", save_all=True, append_images=pages[1:], compression="tiff_lzw")
    save("pages-3", buffer.getvalue(), base)
    # A chain of directories that comes back on itself.
    loop = bytearray(tiff(base.astype(np.int64), 8, 2))
    loop[-4:] = loop[4:8]
    save("pages-in-a-circle", bytes(loop), base)
    photo = picture(120, 90) >> 5 << 5
    for name, options in {"photo-lzw": ["-c", "lzw:2"], "photo-tiles": ["-t", "-w", "32", "-l", "32", "-c", "zip:2"]}.items():
        copied(name, tiff(photo.astype(np.int64), 8, 2), None, *options)
    reduced = (np.dstack([photo, alpha(120, 90)]) >> 5 << 5).astype(np.int64)
    copied("photo-alpha-planes", tiff(reduced, 8, 2, extra=[2]), None, "-p", "separate", "-c", "zip:2")
    image = Image.fromarray(photo)
    buffer = io.BytesIO()
    image.save(buffer, "TIFF", compression="jpeg", quality=85)
    save("photo-jpeg", buffer.getvalue(), None)


def palette_with_alpha():
    random = np.random.default_rng(6)
    palette = random.integers(0, 65536, (256, 3))
    numbers = random.integers(0, 256, (HEIGHT, WIDTH, 2))
    shown = np.dstack([to8(palette, 16)[numbers[..., 0]], numbers[..., 1]]).astype(np.uint8)
    for name, options in {"palette-alpha": {}, "palette-alpha-planes": {"planar": True}}.items():
        data = save(name, tiff(numbers, 8, 3, extra=[2], palette=palette, **options), shown)
        if not options:
            # Pillow cuts the lower byte of a palette's colours off.
            pixels = np.asarray(Image.open(io.BytesIO(data)).convert("RGBA")).astype(int)
            assert abs(pixels - shown).max() <= 1 and (pixels[..., 3] == shown[..., 3]).all()


if __name__ == "__main__":
    OUT.mkdir(parents=True, exist_ok=True)
    for old in OUT.iterdir():
        old.unlink()
    samples_of_every_size()
    alphas()
    compressions()
    colors()
    subsampled()
    others()
    logluv()
    lab16()
    palette_with_alpha()
