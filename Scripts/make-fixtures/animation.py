"""Animations with every kind of frame: rectangles anywhere, all disposals, transparency. What is seen is computed by ImageMagick
(`-coalesce`) and, where Pillow agrees with it, checked by that, too; that of WebP by Pillow, with libwebp's own composition. All
frames of one file lie below each other in one picture. Made with Pillow 13.0.0, ImageMagick 6.9.11 and webpmux 1.2.4."""
import io
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from PIL import Image

import gif
from picture import alpha, picture, write_anymap

OUT = Path(__file__).resolve().parents[2] / "Tests/Fixtures/Animation"


def coalesced(data, suffix):
    with tempfile.TemporaryDirectory() as place:
        source = Path(place) / f"source.{suffix}"
        source.write_bytes(data)
        subprocess.run(["convert", str(source), "-coalesce", f"{place}/frame-%04d.png"], check=True)
        return [np.asarray(Image.open(path).convert("RGBA")) for path in sorted(Path(place).glob("frame-*.png"))]


def by_pillow(data):
    image = Image.open(io.BytesIO(data))
    frames = []
    for index in range(image.n_frames):
        image.seek(index)
        frames.append(np.asarray(image.convert("RGBA")))
    return frames


def without_colour_where_clear(frames):
    return [np.where(frame[..., 3:] == 0, 0, frame) for frame in frames]


def save(name, suffix, data, checks_pillow=True):
    expected = without_colour_where_clear(coalesced(data, suffix))
    if checks_pillow:
        other = without_colour_where_clear(by_pillow(data))
        assert len(expected) == len(other), name
        for index, (one, two) in enumerate(zip(expected, other)):
            assert np.array_equal(one, two), f"{name}: ImageMagick and Pillow differ in frame {index}"
    (OUT / f"{name}.{suffix}").write_bytes(data)
    write_anymap(OUT / f"{name}.pam", np.vstack(expected))


def random_gif(seed, frame_count=9, width=30, height=20, disposals=(0, 1, 2, 3), whole_first=True):
    random = np.random.default_rng(seed)
    palette = random.integers(0, 256, (64, 3)).astype(np.uint8)
    parts = [gif.screen(width, height, palette), gif.loop(0)]
    for index in range(frame_count):
        whole = index == 0 and whole_first or random.random() < 0.2
        w, h = (width, height) if whole else (int(random.integers(1, width)), int(random.integers(1, height)))
        left, top = (0, 0) if whole else (int(random.integers(0, width - w + 1)), int(random.integers(0, height - h + 1)))
        numbers = random.integers(0, 64, (h // 3 + 1, w // 3 + 1)).repeat(3, 0).repeat(3, 1)[:h, :w]
        transparent = None
        if random.random() < 0.6:
            transparent = int(numbers.flat[0])
        parts.append(gif.control(int(random.integers(2, 50)), transparent, int(random.choice(disposals))))
        parts.append(gif.frame(numbers, left, top, interlaced=bool(random.random() < 0.3), size=6))
    return b"".join(parts) + b"\x3b"


OUT.mkdir(parents=True, exist_ok=True)
for old in OUT.iterdir():
    if not old.name.startswith("apng-"):
        old.unlink()
for seed in range(8):
    save(f"random-{seed}", "gif", random_gif(seed), checks_pillow=False)
save("kept", "gif", random_gif(20, disposals=(0, 1)))
save("erased", "gif", random_gif(21, disposals=(2,)), checks_pillow=False)
save("restored", "gif", random_gif(22, disposals=(1, 3)), checks_pillow=False)
save("small-first-frame", "gif", random_gif(23, whole_first=False), checks_pillow=False)
frames = [Image.fromarray(np.roll(picture(48, 36), 4 * i, axis=1)) for i in range(6)]
buffer = io.BytesIO()
frames[0].save(buffer, "GIF", save_all=True, append_images=frames[1:], duration=40, loop=3)
save("pillow", "gif", buffer.getvalue())


def outside_gif(seed, replaced, frame_count=10, width=30, height=20):
    """Frames that go over the right and the lower edge, and one that lies beyond them, with all disposals; `replaced` puts a
    transparent pixel in the place of that one."""
    random = np.random.default_rng(seed)
    palette = random.integers(0, 256, (64, 3)).astype(np.uint8)
    parts = [gif.screen(width, height, palette), gif.loop(0)]
    for index in range(frame_count):
        w, h = int(random.integers(8, width + 9)), int(random.integers(8, height + 9))
        left, top = int(random.integers(0, width)), int(random.integers(0, height))
        if index == 0:
            # The first one covers, and goes over.
            left, top, w, h = 0, 0, width + 5, height + 3
        if index == 6:
            left, top = (0, 0) if replaced else (width + 3, 2)
        numbers = random.integers(0, 64, (h // 3 + 1, w // 3 + 1)).repeat(3, 0).repeat(3, 1)[:h, :w]
        transparent = int(numbers.flat[0]) if random.random() < 0.5 else None
        if index == 6 and replaced:
            numbers, transparent = np.zeros((1, 1), int), 0
        parts.append(gif.control(5, transparent, (1, 2, 3, 1, 3, 2, 1, 0, 3, 2)[index]))
        parts.append(gif.frame(numbers, left, top, interlaced=index % 3 == 1, size=6))
    return b"".join(parts) + b"\x3b"


def with_empty_frames(replaced):
    """Frames without a side, or without both; `replaced` puts a transparent pixel, which changes nothing, in their places."""
    random = np.random.default_rng(31)
    palette = random.integers(0, 256, (64, 3)).astype(np.uint8)
    parts = [gif.screen(30, 20, palette), gif.loop(0)]
    for index in range(8):
        numbers = random.integers(0, 64, (4, 5)).repeat(3, 0).repeat(3, 1)
        left, top = (0, 0) if index == 0 else (int(random.integers(0, 15)), int(random.integers(0, 8)))
        if index == 0:
            numbers = np.tile(numbers, (2, 2))[:20]
        parts.append(gif.control(5, None, (1, 2, 1, 3, 1, 2, 3, 1)[index]))
        parts.append(gif.frame(numbers, left, top, size=6))
        if index in (1, 3, 4):
            shape = {1: (0, 7), 3: (6, 0), 4: (0, 0)}[index]
            # Erasing nothing changes nothing; erasing a pixel would.
            parts.append(gif.control(7, 0, 1 if replaced else {1: 1, 3: 2, 4: 3}[index]))
            parts.append(gif.frame(np.zeros((1, 1) if replaced else shape, int), 4, 2, size=6))
    return b"".join(parts) + b"\x3b"


data = outside_gif(30, replaced=False)
(OUT / "outside.gif").write_bytes(data)
write_anymap(OUT / "outside.pam", np.vstack(without_colour_where_clear(coalesced(outside_gif(30, replaced=True), "gif"))))
# Programs refuse frames of nothing; browsers draw nothing, or something else each.
data = with_empty_frames(replaced=False)
(OUT / "empty-frames.gif").write_bytes(data)
write_anymap(OUT / "empty-frames.pam", np.vstack(without_colour_where_clear(coalesced(with_empty_frames(replaced=True), "gif"))))


def put_together(place, frames, loops):
    """By webpmux, of files `place/0.webp` and so on with durations, offsets, disposals and blendings as it wants them."""
    command = ["webpmux"]
    for index, placed in enumerate(frames):
        command += ["-frame", f"{place}/{index}.webp", placed]
    subprocess.run([*command, "-loop", str(loops), "-o", f"{place}/made.webp"], check=True, capture_output=True)
    return (Path(place) / "made.webp").read_bytes()


def random_lossy_webp(seed, with_alpha, frame_count=6, width=40, height=36):
    """Frames with loss (VP8), and with transparency of their own chunk (ALPH), among some without loss (VP8L)."""
    random = np.random.default_rng(seed)
    with tempfile.TemporaryDirectory() as place:
        frames = []
        for index in range(frame_count):
            whole = index == 0 and seed % 2 == 0 or index == frame_count - 1
            w, h = (width, height) if whole else (int(random.integers(9, width)), int(random.integers(9, height)))
            left, top = (0, 0) if whole else (int(random.integers(0, width - w + 1)) & ~1, int(random.integers(0, height - h + 1)) & ~1)
            pixels = np.roll(picture(64, 64, seed + index), 11 * index, axis=1)[:h, :w]
            lossless = index == 3
            # One has alpha in any case: without any in the file Pillow has black for what no frame covers.
            if with_alpha and index != 2 or lossless:
                mask = np.roll(alpha(64, 64), 5 * index, axis=1)[-h:, :w]
                # Both with soft edges and with hard ones; compressed in both ways that the chunk knows.
                pixels = np.dstack([pixels, mask if index % 2 == 0 else np.where(mask < 100, 0, 255).astype(np.uint8)])
            Image.fromarray(pixels).save(
                f"{place}/{index}.webp", lossless=lossless, exact=True, quality=int(random.integers(30, 95)),
                alpha_quality=100 if index % 3 else 60, method=int(random.integers(0, 7)))
            dispose, blend = random.choice(["+0", "+1"]), random.choice(["+b", "-b"])
            frames.append(f"+{random.integers(20, 500)}+{left}+{top}{dispose}{blend}")
        return put_together(place, frames, seed)


def kinds(data):
    """The chunks of the first frame."""
    at, found = data.index(b"ANMF") + 24, []
    end = data.index(b"ANMF") + 8 + int.from_bytes(data[data.index(b"ANMF") + 4 :][:4], "little")
    while at < end:
        found.append(data[at : at + 4])
        size = int.from_bytes(data[at + 4 : at + 8], "little")
        at += 8 + size + size % 2
    return found


def random_webp(seed, soft, frame_count=7, width=30, height=20):
    """Frames without loss, put together by webpmux; offsets are even, as the format has it."""
    random = np.random.default_rng(seed)
    with tempfile.TemporaryDirectory() as place:
        frames = []
        for index in range(frame_count):
            whole = index == 0 and seed % 2 == 0 or random.random() < 0.2
            w, h = (width, height) if whole else (int(random.integers(1, width)), int(random.integers(1, height)))
            left, top = (0, 0) if whole else (int(random.integers(0, width - w + 1)) & ~1, int(random.integers(0, height - h + 1)) & ~1)
            pixels = random.integers(0, 256, (h // 4 + 1, w // 4 + 1, 4)).repeat(4, 0).repeat(4, 1)[:h, :w].astype(np.uint8)
            if random.random() < 0.3:
                pixels[..., 3] = 255
            elif not soft:
                pixels[..., 3] = np.where(pixels[..., 3] < 100, 0, 255)
            Image.fromarray(pixels).save(f"{place}/{index}.webp", lossless=True, exact=True)
            dispose, blend = random.choice(["+0", "+1"]), random.choice(["+b", "-b"])
            frames.append(f"+{random.integers(20, 500)}+{left}+{top}{dispose}{blend}")
        # The canvas is as large as what the frames cover: one pixel in the corner makes it whole.
        Image.fromarray(np.full((1, 2, 4), 255, np.uint8)).save(f"{place}/{frame_count}.webp", lossless=True)
        return put_together(place, [*frames, f"+50+{width - 2 & ~1}+{height - 1 & ~1}+0+b"], seed)


for seed in range(6):
    data = random_webp(seed, soft=seed >= 4)
    expected = without_colour_where_clear(by_pillow(data))
    name = f"webp-soft-{seed}" if seed >= 4 else f"webp-{seed}"
    (OUT / f"{name}.webp").write_bytes(data)
    write_anymap(OUT / f"{name}.pam", np.vstack(expected))

for seed in range(4):
    data = random_lossy_webp(seed, with_alpha=seed >= 2)
    assert kinds(data) == ([b"ALPH", b"VP8 "] if seed >= 2 else [b"VP8 "]), kinds(data)
    name = f"webp-lossy-alpha-{seed}" if seed >= 2 else f"webp-lossy-{seed}"
    (OUT / f"{name}.webp").write_bytes(data)
    write_anymap(OUT / f"{name}.pam", np.vstack(without_colour_where_clear(by_pillow(data))))

# Eight frames of 500 x 500 that a test puts one behind the other over and over, for an animation of any length.
big = []
for index in range(8):
    pixels = np.zeros((500, 500), np.uint8)
    pixels[index * 60:index * 60 + 80] = index + 1
    pixels[:, index * 50:index * 50 + 60] = index + 9
    frame = Image.fromarray(pixels, "P")
    frame.putpalette([(value * step) % 256 for value in range(256) for step in (7, 31, 101)])
    big.append(frame)
big[0].save(OUT.parent / "big-frames.gif", save_all=True, append_images=big[1:], duration=20, loop=0, disposal=1, optimize=False)
