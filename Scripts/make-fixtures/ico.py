"""ICO and CUR fixtures: files of Pillow 13.0 and of icotool (icoutils 0.32), and odd ones written here. Each size shows another
picture, so that a test sees which one was picked; `NAME-16.pam` is the picture of 16 pixels in NAME."""
import io
import struct
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from PIL import Image

from bmp import header, pack
from picture import alpha, picture, write_anymap

OUT = Path(__file__).resolve().parents[2] / "Tests/Fixtures/ICO"


def rgba(size, seed=None):
    return np.dstack([picture(size, size, seed or size), alpha(size, size)])


def as_png(pixels):
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "PNG")
    return buffer.getvalue()


def mask_rows(mask):
    return b"".join(pack(mask.astype(np.uint8), 1)[::-1])


def bitmap(numbers, bits, palette=None, mask=None):
    """A bitmap without file header, its height doubled, and with its mask."""
    height, width = numbers.shape[:2]
    colors = b"" if palette is None else b"".join(bytes([b, g, r, 0]) for r, g, b in palette)
    mask = np.zeros((height, width)) if mask is None else mask
    return header(40, width, height * 2, bits) + colors + b"".join(pack(numbers, bits)[::-1]) + mask_rows(mask)


def bgra_numbers(pixels):
    p = pixels.astype(np.int64)
    return p[..., 3] << 24 | p[..., 0] << 16 | p[..., 1] << 8 | p[..., 2]


def icon(pictures, kind=1, lie=False):
    place = 6 + 16 * len(pictures)
    directory, body = struct.pack("<HHH", 0, kind, len(pictures)), b""
    for width, height, bits, data in pictures:
        size = (7, 9) if lie else (width & 255, height & 255)
        directory += struct.pack("<BBBBHHII", *size, 0, 0, 1, bits, len(data), place + len(body))
        body += data
    return directory + body


def save(name, data, expected, smaller=(), kind="ico"):
    (OUT / f"{name}.{kind}").write_bytes(data)
    if not name.startswith("photo"):
        write_anymap(OUT / f"{name}.pam", expected)
    for size, pixels in smaller:
        write_anymap(OUT / f"{name}-{size}.pam", pixels)


def premultiplied_equal(found, expected):
    """Hidden pixels have no colour."""
    a, b = (np.where(p[..., 3:] == 0, 0, p) for p in (found, expected))
    assert np.abs(a.astype(int) - b.astype(int)).max() <= 1


def by_programs():
    sizes = [16, 24, 40]
    pictures = {size: rgba(size) for size in sizes}
    for name, bitmap_format in (("pillow-png", "png"), ("pillow-bmp", "bmp")):
        buffer = io.BytesIO()
        images = [Image.fromarray(pictures[size]) for size in sizes]
        images[-1].save(buffer, "ICO", sizes=[(s, s) for s in sizes], append_images=images[:-1], bitmap_format=bitmap_format)
        save(name, buffer.getvalue(), pictures[40], [(16, pictures[16]), (24, pictures[24])])
        read = Image.open(io.BytesIO(buffer.getvalue()))
        premultiplied_equal(np.asarray(read.ico.getimage((16, 16)).convert("RGBA")), pictures[16])
    with tempfile.TemporaryDirectory() as directory:
        names = []
        for size in sizes:
            names.append(f"{directory}/{size}.png")
            Path(names[-1]).write_bytes(as_png(pictures[size]))
        made = Path(directory) / "made"
        subprocess.run(["icotool", "-c", "-o", made, *names], check=True)
        save("icotool", made.read_bytes(), pictures[40], [(16, pictures[16]), (24, pictures[24])])
        subprocess.run(["icotool", "-c", "--cursor", "--hotspot-x=3", "-o", made, names[1]], check=True)
        save("icotool-cursor", made.read_bytes(), pictures[24], kind="cur")


def by_hand():
    random = np.random.default_rng(3)
    mask = np.indices((24, 24)).sum(0) % 5 < 2
    opacity = np.where(mask, 0, 255).astype(np.uint8)
    for bits in (1, 4, 8):
        palette = random.integers(0, 256, (1 << bits, 3))
        numbers = random.integers(0, 1 << bits, (24, 24))
        shown = np.dstack([palette[numbers], opacity]).astype(np.uint8)
        data = icon([(24, 24, bits, bitmap(numbers, bits, palette, mask))])
        save(f"mask-{bits}bit", data, shown)
        premultiplied_equal(np.asarray(Image.open(io.BytesIO(data)).convert("RGBA")), shown)
    photo = picture(24, 24)
    save("mask-24bit", icon([(24, 24, 24, bitmap(photo, 24, mask=mask))]), np.dstack([photo, opacity]))
    save("opaque-24bit", icon([(24, 24, 24, bitmap(photo, 24))]), photo)
    soft = np.dstack([photo, alpha(24, 24)])
    save("alpha-32bit", icon([(24, 24, 32, bitmap(bgra_numbers(soft), 32, mask=mask))]), soft)
    clear = np.dstack([photo, np.zeros((24, 24), np.uint8)])
    save("mask-32bit", icon([(24, 24, 32, bitmap(bgra_numbers(clear), 32, mask=mask))]), np.dstack([photo, opacity]))
    save("cursor", icon([(24, 24, 24, bitmap(photo, 24, mask=mask))], kind=2), np.dstack([photo, opacity]), kind="cur")
    save("lying-directory", icon([(24, 24, 24, bitmap(photo, 24, mask=mask))], lie=True), np.dstack([photo, opacity]))
    # Of one size the deepest, wherever it stands.
    palette = random.integers(0, 256, (16, 3))
    flat = bitmap(random.integers(0, 16, (24, 24)), 4, palette)
    for name, order in (("deepest-last", (0, 1)), ("deepest-first", (1, 0))):
        both = [(24, 24, 4, flat), (24, 24, 24, bitmap(photo, 24, mask=mask))]
        save(name, icon([both[i] for i in order]), np.dstack([photo, opacity]))
    # An icon in an icon, and what is no picture, are left out.
    inner = icon([(48, 48, 24, bitmap(picture(48, 48), 24))])
    save("nested", icon([(48, 48, 24, inner), (16, 16, 24, bitmap(picture(16, 16), 24)), (99, 99, 8, b"text")]), picture(16, 16))
    (OUT / "only-nested.ico").write_bytes(icon([(48, 48, 24, inner)]))
    # 256 pixels are a 0 in the directory.
    large = picture(256, 12)
    save("png-256", icon([(256, 12, 24, as_png(large)), (16, 16, 32, as_png(rgba(16)))]), large)
    # Not square, for the tests of options.
    wide = np.dstack([picture(120, 90), alpha(120, 90)]) >> 5 << 5
    save("photo-120", icon([(120, 90, 32, as_png(wide))]), wide)
    opaque = Image.fromarray(picture(120, 90)).quantize(16)
    palette = np.array(opaque.getpalette()[: 16 * 3]).reshape(-1, 3)
    numbers = np.asarray(opaque)
    save("photo-120-4bit", icon([(120, 90, 4, bitmap(numbers, 4, palette))]), palette[numbers].astype(np.uint8))


if __name__ == "__main__":
    OUT.mkdir(parents=True, exist_ok=True)
    for old in OUT.iterdir():
        old.unlink()
    by_programs()
    by_hand()
