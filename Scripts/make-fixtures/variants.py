"""What the steps of a variant make of the pictures of transforms.py, by other programs: libvips 8.14 (sharpening, pixelation, borders, salient
parts), Pillow 9.4 (a watermark) and numpy 1.24 (the definition of a Gaussian, written down again). Needs the program vips (libvips-tools)."""
import json
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from PIL import Image

from picture import picture, write_anymap

FIXTURES = Path(__file__).resolve().parents[2] / "Tests/Fixtures"
OUT = FIXTURES / "Variants"
WORK = Path(tempfile.mkdtemp())


def read(path):
    """A PPM or PAM as an array."""
    data = path.read_bytes()
    if data.startswith(b"P7"):
        header, samples = data.split(b"ENDHDR\n", 1)
        fields = dict(line.split(maxsplit=1) for line in header.decode().splitlines()[1:])
        shape = (int(fields["HEIGHT"]), int(fields["WIDTH"]), int(fields["DEPTH"]))
    else:
        _, size, _, samples = data.split(b"\n", 3)
        width, height = map(int, size.split())
        shape = (height, width, 3)
    return np.frombuffer(samples, np.uint8).reshape(shape)


def vips(pixels, *steps):
    """Runs operations of vips one after the other; IN and OUT stand for their files."""
    source = WORK / "0.png"
    Image.fromarray(pixels).save(source)
    for number, step in enumerate(steps):
        target = WORK / f"{number + 1}.v"
        words = [str(source) if word == "IN" else str(target) if word == "OUT" else str(word) for word in step]
        subprocess.run(["vips", *words], check=True)
        source = target
    result = WORK / "result.png"
    subprocess.run(["vips", "copy", source, result], check=True)
    return np.asarray(Image.open(result))


def sharpened(pixels, sigma):
    return vips(pixels, ["sharpen", "IN", "OUT", "--sigma", sigma], ["colourspace", "IN", "OUT", "srgb"])


def pixelated(pixels, side):
    height, width = pixels.shape[:2]
    across, down = -(-width // side) * side, -(-height // side) * side
    return vips(
        pixels,
        ["embed", "IN", "OUT", 0, 0, across, down, "--extend", "mirror"],
        ["shrink", "IN", "OUT", side, side],
        ["zoom", "IN", "OUT", side, side],
        ["extract_area", "IN", "OUT", 0, 0, width, height],
    )


def gaussian(pixels, sigma):
    """Convolution with a Gaussian up to three standard deviations; edges extended; colours premultiplied."""
    reach = int(np.ceil(3 * sigma))
    weights = np.exp(-np.arange(-reach, reach + 1) ** 2 / (2 * sigma * sigma))
    weights /= weights.sum()
    samples = pixels.astype(float)
    for axis in (0, 1):
        pad = [(reach, reach) if axis == other else (0, 0) for other in range(3)]
        padded = np.pad(samples, pad, mode="edge")
        samples = sum(weight * np.take(padded, range(place, place + samples.shape[axis]), axis)
                      for place, weight in enumerate(weights))
    return np.floor(samples + 0.5).clip(0, 255).astype(np.uint8)


def watermarked(pixels, mark, x, y, opacity):
    faded = mark.copy()
    faded[:, :, 3] = (mark[:, :, 3].astype(float) * opacity + 0.5).astype(np.uint8)
    below = Image.fromarray(pixels).convert("RGBA")
    layer = Image.new("RGBA", below.size)
    layer.paste(Image.fromarray(faded), (x, y))
    return np.asarray(Image.alpha_composite(below, layer).convert("RGB"))


def framed(number):
    """A picture in a frame of about one colour, and the frame's colour."""
    random = np.random.default_rng(100 + number)
    height, width = random.integers(20, 60, 2)
    colour = random.integers(0, 256, 3)
    pixels = np.tile(colour, (height, width, 1)) + random.integers(-3, 4, (height, width, 3))
    left, top = random.integers(0, 8, 2)
    inner = picture(int(width - left - random.integers(1, 8)), int(height - top - random.integers(1, 8)), seed=number)
    pixels[top:top + inner.shape[0], left:left + inner.shape[1]] = inner
    # A single pixel that the median ignores.
    pixels[height - 1, width // 2] = 255 - colour
    pixels[0, 0] = colour
    return pixels.clip(0, 255).astype(np.uint8)


def border(pixels, threshold):
    Image.fromarray(pixels).save(WORK / "framed.png")
    background = " ".join(str(level) for level in pixels[0, 0])
    output = subprocess.run(
        ["vips", "find_trim", WORK / "framed.png", "--threshold", str(threshold), "--background", background],
        check=True, capture_output=True, text=True)
    return [int(word) for word in output.stdout.split()]


def scene(number):
    """A quiet background with a few things that attract attention."""
    random = np.random.default_rng(200 + number)
    height, width = (48, 72) if number % 2 else (72, 48)
    y, x = np.mgrid[0:height, 0:width].astype(float)
    base = random.uniform(60, 200, 3)
    slope = random.uniform(-0.8, 0.8, (2, 3))
    pixels = base.mean() + (base - base.mean()) * 0.2 + x[..., None] * slope[0] + y[..., None] * slope[1]
    for kind in random.permutation(3)[: random.integers(1, 4)]:
        centre_x, centre_y = random.uniform(0.15, 0.85) * width, random.uniform(0.15, 0.85) * height
        radius = random.uniform(4, 11)
        inside = ((x - centre_x) ** 2 + (y - centre_y) ** 2) < radius ** 2
        if kind == 0:
            pixels[inside] = [224, 172, 140]
        elif kind == 1:
            pixels[inside] = random.permutation([230, 40, 30])
        else:
            stripes = inside & (np.mod(x + y, 4) < 2)
            pixels[inside] = 40
            pixels[stripes] = 220
    return pixels.clip(0, 255).round().astype(np.uint8)


def salient(pixels, width, height):
    """Where libvips crops to: found by looking for the part in the picture."""
    part = vips(pixels, ["smartcrop", "IN", "OUT", width, height, "--interesting", "attention"])
    for top in range(pixels.shape[0] - height + 1):
        for left in range(pixels.shape[1] - width + 1):
            if (pixels[top:top + height, left:left + width] == part).all():
                return [left, top]
    raise ValueError("the part is not in the picture")


def main():
    OUT.mkdir(exist_ok=True)
    photo, clear = (read(FIXTURES / f"Transforms/{name}.pam") for name in ("photo", "clear"))
    for sigma in (0.5, 1, 2.5):
        write_anymap(OUT / f"photo-sharpen-{sigma}.pam", sharpened(photo, sigma))
    for side in (2, 7, 25, 100):
        write_anymap(OUT / f"photo-pixelate-{side}.pam", pixelated(photo, min(side, 40)))
    for sigma in (0.3, 0.8, 1.9):
        write_anymap(OUT / f"photo-gauss-{sigma}.pam", gaussian(photo, sigma))
    for number, place in enumerate(((5, 3, 1), (-10, -8, 0.5), (25, 20, 0.3))):
        write_anymap(OUT / f"photo-over-{number}.pam", watermarked(photo, clear, *place))
    borders = []
    for number in range(12):
        pixels = framed(number)
        write_anymap(OUT / f"framed-{number}.pam", pixels)
        borders.append({str(threshold): border(pixels, threshold) for threshold in (1, 10, 60)})
    scenes = []
    for number in range(20):
        pixels = scene(number)
        Image.fromarray(pixels).save(OUT / f"scene-{number}.png", optimize=True)
        height, width = pixels.shape[:2]
        sizes = [(width // 2, height // 2), (min(width, height), min(width, height)), (width // 3, height)]
        scenes.append([[*size, *salient(pixels, *size)] for size in sizes])
    (OUT / "expected.json").write_text(json.dumps({"borders": borders, "scenes": scenes}) + "\n")


main()
