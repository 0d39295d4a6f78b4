"""Animated PNG: frames of every colour type, all disposals and blendings, written here chunk by chunk; and what Pillow, apngasm
and ffmpeg write. What is seen is computed by Pillow and by ffmpeg. Where they differ (Pillow after a frame that is taken away
again, ffmpeg rarely), the rules of the format, applied here to the samples, say who is right. All frames of one file lie below
each other in one picture. Made with Pillow 13.0.0, ffmpeg 5.1 and apngasm 2.91."""
import io
import struct
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from PIL import Image

from picture import picture, write_anymap
from png import CHANNELS, SIGNATURE, chunk, write_png

OUT = Path(__file__).resolve().parents[2] / "Tests/Fixtures/Animation"


def chunks(data):
    offset = 8
    while offset < len(data):
        length = struct.unpack(">I", data[offset : offset + 4])[0]
        yield data[offset + 4 : offset + 8], data[offset + 8 : offset + 8 + length]
        offset += 12 + length


def write_apng(canvas, frames, plays=0, color=6, depth=8, hidden=None, split=1, between=(), count=None, **options):
    """Frames are (samples, left, top, dispose, blend, numerator, denominator); `hidden` is a default image of its own."""
    first = write_png(frames[0][0] if hidden is None else hidden, color, depth, split=split, **options)
    out = bytearray(SIGNATURE)
    head = [c for c in chunks(first) if c[0] not in (b"IDAT", b"IEND")]
    out += chunk(*head[0])
    out += chunk(b"acTL", struct.pack(">II", len(frames) if count is None else count, plays))
    for kind, content in head[1:]:
        out += chunk(kind, content)
    if hidden is not None:
        for kind, content in chunks(first):
            if kind == b"IDAT":
                out += chunk(kind, content)
    number = 0
    for index, (samples, left, top, dispose, blend, numerator, denominator) in enumerate(frames):
        height, width = samples.shape[:2]
        out += chunk(b"fcTL", struct.pack(
            ">IIIIIHHBB", number, width, height, left, top, numerator, denominator, dispose, blend))
        number += 1
        for kind, content in chunks(write_png(samples, color, depth, split=split, **options)):
            if kind != b"IDAT":
                continue
            if index == 0 and hidden is None:
                out += chunk(b"IDAT", content)
                continue
            out += chunk(b"fdAT", struct.pack(">I", number) + content)
            number += 1
            for other in between:
                out += chunk(*other)
    return bytes(out) + chunk(b"IEND", b"")


def by_pillow(data):
    image = Image.open(io.BytesIO(data))
    frames = []
    if image.info.get("interlace"):
        # Pillow does not read further frames of such files.
        return frames
    for index in range(image.n_frames):
        image.seek(index)
        # With a default image of its own, Pillow counts that as frame 0.
        if image.default_image and index == 0:
            continue
        try:
            frames.append(np.asarray(image.convert("RGBA")))
        except OSError:
            # It does not read on behind a chunk of another kind.
            return []
    return frames


def by_ffmpeg(data, width, height):
    with tempfile.TemporaryDirectory() as place:
        source = Path(place) / "source.png"
        source.write_bytes(data)
        raw = subprocess.run(
            ["ffmpeg", "-v", "error", "-f", "apng", "-i", str(source), "-vsync", "passthrough", "-f", "rawvideo", "-pix_fmt",
             "rgba", "-"], capture_output=True).stdout
    size = width * height * 4
    return list(np.frombuffer(raw[: len(raw) // size * size], np.uint8).reshape(-1, height, width, 4))


def clean(frames):
    return [np.where(frame[..., 3:] == 0, 0, frame) for frame in frames]


def to_rgba(samples, color, depth, palette=None, clear=()):
    top = 257 if depth == 16 else 1
    if color == 3:
        opacity = np.full(len(palette), 255)
        opacity[: len(clear)] = list(clear)
        return np.dstack([palette[samples[..., 0]], opacity[samples[..., 0]]])
    gray = samples[..., :1].repeat(3, 2) if color in (0, 4) else samples[..., :3]
    opacity = samples[..., -1:] if color in (4, 6) else np.full((*samples.shape[:2], 1), 255 * top)
    return np.dstack([gray, opacity]) // top


def by_rules(size, frames):
    """Frames as write_apng takes them, of RGBA samples."""
    canvas = np.zeros((size[1], size[0], 4))
    seen = []
    for index, (samples, left, top, dispose, blend, _, _) in enumerate(frames):
        part = canvas[top : top + samples.shape[0], left : left + samples.shape[1]]
        saved = part.copy()
        if blend == 0:
            part[:] = samples
        else:
            over, under = samples[..., 3:] / 255, part[..., 3:] / 255 * (1 - samples[..., 3:] / 255)
            alpha = over + under
            part[..., :3] = (samples[..., :3] * over + part[..., :3] * under) / np.where(alpha == 0, 1, alpha)
            part[..., 3:] = alpha * 255
        seen.append(np.rint(canvas).astype(np.uint8))
        if dispose == 1 or dispose == 2 and index == 0:
            part[:] = 0
        elif dispose == 2:
            part[:] = saved
    return clean(seen)


def premultiplied(frame):
    return np.rint(frame * (frame[..., 3:] / 255)) * [1, 1, 1, 0] + frame * [0, 0, 0, 1]


verified = []


def save(name, data, rules=None, tolerance=0, writes=True):
    width, height = struct.unpack(">II", data[16:24])
    programs = [clean(by_pillow(data)), clean(by_ffmpeg(data, width, height))]
    if rules is None:
        rules = programs[0]
        assert all(np.array_equal(one, two) for one, two in zip(*programs)), name
    # The same frames, stored otherwise, need not be seen again.
    known = any(np.array_equal(np.vstack(rules), one) for one in verified)
    for index, frame in enumerate([] if known else rules):
        differences = [np.abs(premultiplied(p[index]) - premultiplied(frame)).max() for p in programs if len(p) == len(rules)]
        assert min(differences) <= tolerance, f"{name}: frame {index} is seen otherwise by all programs: {differences}"
    verified.append(np.vstack(rules))
    if not writes:
        return
    (OUT / f"apng-{name}.png").write_bytes(data)
    write_anymap(OUT / f"apng-{name}.pam", np.vstack(rules))


def make(name, frames, size=(20, 14), tolerance=0, writes=True, **options):
    color, depth = options.get("color", 6), options.get("depth", 8)
    clear = next((content for kind, content in options.get("before", ()) if kind == b"tRNS"), ())
    shown = [(to_rgba(f[0], color, depth, options.get("palette"), clear), *f[1:]) for f in frames]
    save(name, write_apng(size, frames, **options), by_rules(size, shown), tolerance, writes)


def blocks(random, height, width, channels, top, size=3):
    shape = (height // size + 1, width // size + 1, channels)
    return random.integers(0, top, shape).repeat(size, 0).repeat(size, 1)[:height, :width]


def random_frames(seed, count=7, width=20, height=14, color=6, depth=8, palette_size=0, soft=False, whole_first=True,
                  disposals=(0, 1, 2), blends=(0, 1)):
    random = np.random.default_rng(seed)
    frames = []
    for index in range(count):
        whole = index == 0 and whole_first or random.random() < 0.2
        w, h = (width, height) if whole else (int(random.integers(1, width)), int(random.integers(1, height)))
        left, top = (0, 0) if whole else (int(random.integers(0, width - w + 1)), int(random.integers(0, height - h + 1)))
        channels = CHANNELS[color]
        samples = blocks(random, h, w, channels, palette_size or 256)
        if channels in (2, 4) and not soft:
            samples[..., -1] = np.where(samples[..., -1] < 100, 0, 255)
        if channels in (2, 4) and random.random() < 0.3:
            samples[..., -1] = 255
        if depth == 16:
            samples = samples * 257
        # Programs differ in what the first frame leaves when it is to be taken away again; see `first-restored`.
        choice = [d for d in disposals if index > 0 or d != 2]
        frames.append((samples, left, top, int(random.choice(choice)), int(random.choice(blends)),
                       int(random.integers(2, 50)), 100))
    return frames


def made_here():
    for seed in range(6):
        make(f"rgba-{seed}", random_frames(seed), plays=seed)
    make("kept-source", random_frames(20, disposals=(0,), blends=(0,)))
    make("erased", random_frames(21, disposals=(1,)))
    make("restored", random_frames(22, disposals=(0, 2)))
    make("soft-1", random_frames(23, soft=True), tolerance=2)
    # Programs have no transparent pixels for a picture without alpha, so nothing is erased here.
    make("rgb", random_frames(24, color=2, disposals=(0, 2)), color=2)
    make("rgba16", random_frames(25, depth=16, disposals=(0, 1)), depth=16)
    make("interlaced", random_frames(26), interlaced=True)
    make("gray-alpha", random_frames(27, color=4), color=4)
    random = np.random.default_rng(3)
    palette = random.integers(0, 256, (16, 3))
    before = [(b"tRNS", bytes([0, 255, 255, 0]))]
    frames = random_frames(28, color=3, depth=4, palette_size=16, disposals=(0, 1))
    make("palette", frames, color=3, depth=4, palette=palette, before=before)
    make("palette-interlaced", frames, color=3, depth=4, palette=palette, before=before, interlaced=True)
    hidden = np.random.default_rng(9).integers(0, 256, (14, 20, 4))
    make("hidden-default", random_frames(29, disposals=(0, 1)), hidden=hidden)
    # Pillow draws on the default image, and so must have an empty one to see the frames alone.
    for image in [hidden * 0, hidden]:
        make("hidden-default-small-first", random_frames(30, whole_first=False, disposals=(0, 1)), hidden=image)
    texts = [(b"tEXt", b"Comment\0between"), (b"tIME", bytes(7))]
    make("split", random_frames(31, disposals=(0, 1)))
    make("split", random_frames(31, disposals=(0, 1)), split=3, between=texts)
    # Without alpha in the file, what is erased is transparent all the same, as in browsers. Programs have no pixels for that, so
    # they are asked for the same frames with alpha.
    frames = random_frames(32, color=2, disposals=(0, 1), blends=(0,))
    opaque = [(np.dstack([f[0], np.full(f[0].shape[:2], 255)]), *f[1:]) for f in frames]
    make("rgb-erased", opaque, writes=False)
    make("rgb-erased", frames, color=2)
    # Before the first frame there was nothing, so nothing is what comes back. A denominator of 0 is one of 100.
    frames = random_frames(33, disposals=(0, 1))
    frames = [(*f[:3], 2 if index == 0 else f[3], 1 if index == 1 else f[4], 7 + index, 0 if index % 2 else 1000 // 25)
              for index, f in enumerate(frames)]
    make("first-restored", frames)
    long = np.random.default_rng(8).integers(0, 256, (40, 60, 4))
    long[..., 3] = 255
    make("noise", [(long, 0, 0, 0, 0, 1, 10), (255 * (long[:20, :25] > 99), 15, 9, 0, 0, 1, 0)], (60, 40), split=2)


def made_by_others():
    frames = [Image.fromarray(np.roll(picture(20, 16), 3 * i, axis=1)) for i in range(5)]
    for dispose in range(3):
        for blend in range(2):
            buffer = io.BytesIO()
            frames[0].convert("RGBA").save(
                buffer, "PNG", save_all=True, append_images=frames[1:3], duration=[40, 70, 500], loop=3,
                disposal=[0, dispose, dispose], blend=blend)
            save(f"pillow-{dispose}-{blend}", buffer.getvalue())
    with tempfile.TemporaryDirectory() as place:
        for index, frame in enumerate(frames):
            frame.save(f"{place}/f{index}.png")
        subprocess.run(["apngasm", "made.png", "f0.png", "1", "20", "-l2"], cwd=place, check=True, capture_output=True)
        save("apngasm", (Path(place) / "made.png").read_bytes())
        subprocess.run(["ffmpeg", "-v", "error", "-framerate", "12.5", "-i", "f%d.png", "-plays", "4", "-f", "apng", "made2.png"],
                       cwd=place, check=True)
        save("ffmpeg", (Path(place) / "made2.png").read_bytes())


if __name__ == "__main__":
    OUT.mkdir(parents=True, exist_ok=True)
    for old in OUT.glob("apng-*"):
        old.unlink()
    made_here()
    made_by_others()
