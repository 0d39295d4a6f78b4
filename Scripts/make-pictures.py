#!/usr/bin/python3
"""Draws photo-like pictures with numpy and writes them with Pillow: JPEG, PNG and WebP of 1 to 3 megapixels.

    make-pictures.py DIRECTORY [--count 60] [--formats jpeg,png,webp] [--megapixels 1-3] [--seed 1] [--quality 85]

The same arguments give the same pictures. Files are named picture-000.jpg and so on; formats take turns.
"""

import argparse
import concurrent.futures
import math
import os
import pathlib

import numpy as np
from PIL import Image

EXTENSIONS = {"jpeg": "jpg", "png": "png", "webp": "webp"}


def fractal(random, width, height, cells=3, octaves=5, roughness=0.5):
    """Smooth noise in 0...1: random grids of ever finer mesh, interpolated and added up."""
    total = np.zeros((height, width), np.float32)
    amplitude = 1.0
    for octave in range(octaves):
        rows = max(2, cells << octave)
        columns = max(2, rows * width // height)
        if rows > height or columns > width:
            break
        grid = Image.fromarray(random.random((rows, columns), np.float32))
        total += amplitude * np.asarray(grid.resize((width, height), Image.BICUBIC))
        amplitude *= roughness
    total -= total.min()
    return total / max(total.max(), 1e-6)


def ridge_line(random, width, roughness=0.55):
    """One line of mountains in 0...1."""
    x = np.linspace(0, 1, width, dtype=np.float32)
    line = np.zeros(width, np.float32)
    for octave in range(9):
        knots = random.random((2 << octave) + 1)
        line += roughness**octave * np.interp(x, np.linspace(0, 1, len(knots)), knots).astype(np.float32)
    line -= line.min()
    return line / line.max()


def colour(random, low, high):
    return np.array([random.uniform(a, b) for a, b in zip(low, high)], np.float32)


def blend(picture, layer, mask):
    picture += (layer - picture) * mask[..., None]


def sky(random, width, height, top, bottom):
    fall = np.linspace(0, 1, height, dtype=np.float32)[:, None, None] ** random.uniform(0.7, 1.4)
    picture = np.empty((height, width, 3), np.float32)
    picture[:] = top + (bottom - top) * fall
    clouds = np.clip(fractal(random, width, height, 2, 7, 0.58) * 2.4 - random.uniform(1.0, 1.5), 0, 1)
    blend(picture, colour(random, (0.85, 0.83, 0.8), (1, 0.97, 0.95)), clouds * 0.8)
    return picture


def mountains(random, width, height):
    picture = sky(random, width, height, colour(random, (0.1, 0.25, 0.5), (0.35, 0.5, 0.85)),
                  colour(random, (0.65, 0.6, 0.6), (0.95, 0.85, 0.8)))
    haze = picture[height // 2, width // 2].copy()
    ground = colour(random, (0.05, 0.12, 0.05), (0.25, 0.3, 0.2))
    rows = np.arange(height, dtype=np.float32)[:, None]
    texture = fractal(random, width, height, 14, 6, 0.75)
    layers = random.integers(3, 6)
    for layer in range(layers):
        near = (layer + 1) / layers
        top = height * (0.25 + 0.6 * near - 0.3 * ridge_line(random, width) * (1.25 - near))
        mask = np.clip(rows - top[None, :], 0, 1)
        tone = (haze * (1 - near) + ground * near) * (0.55 + 0.9 * np.roll(texture, 97 * layer, 1))[..., None]
        blend(picture, tone, mask)
    return picture


def sea(random, width, height):
    warm = colour(random, (0.85, 0.35, 0.1), (1, 0.7, 0.4))
    picture = sky(random, width, height, colour(random, (0.1, 0.1, 0.3), (0.5, 0.4, 0.6)), warm)
    horizon = int(height * random.uniform(0.45, 0.65))
    sun_x, sun_y = width * random.uniform(0.2, 0.8), horizon - height * random.uniform(0.02, 0.25)
    rows = np.arange(height, dtype=np.float32)[:, None]
    columns = np.arange(width, dtype=np.float32)[None, :]
    distance = np.sqrt((columns - sun_x) ** 2 + (rows - sun_y) ** 2) / height
    blend(picture, np.array([1, 0.93, 0.75], np.float32), np.clip(0.045 / (distance + 0.02) - 0.25, 0, 1) ** 1.2)
    depth = height - horizon
    mirror = picture[np.clip(horizon - np.arange(depth), 0, horizon - 1)]
    waves = fractal(random, max(8, width // 6), depth, 40, 4, 0.6)
    waves = np.asarray(Image.fromarray(waves).resize((width, depth), Image.BICUBIC))
    picture[horizon:] = mirror * (0.35 + 0.75 * waves)[..., None] * np.array([0.75, 0.85, 1], np.float32)
    glitter = np.exp(-(((columns - sun_x) / (width * 0.06)) ** 2)) * np.clip(waves * 2.6 - 1.4, 0, 1)
    blend(picture[horizon:], np.array([1, 0.9, 0.65], np.float32), glitter)
    return picture


def bokeh(random, width, height):
    base = colour(random, (0.02, 0.05, 0.02), (0.3, 0.35, 0.3))
    picture = np.empty((height, width, 3), np.float32)
    picture[:] = base * (0.4 + fractal(random, width, height, 2, 3))[..., None]
    for _ in range(random.integers(25, 60)):
        radius = int(height * random.uniform(0.02, 0.13))
        x, y = random.integers(0, width), random.integers(0, height)
        top, bottom, left, right = max(0, y - radius), min(height, y + radius), max(0, x - radius), min(width, x + radius)
        rows = np.arange(top, bottom, dtype=np.float32)[:, None] - y
        columns = np.arange(left, right, dtype=np.float32)[None, :] - x
        edge = radius - np.sqrt(rows**2 + columns**2)
        disc = np.clip(edge / random.uniform(1, radius * 0.4 + 1), 0, 1) * random.uniform(0.15, 0.7)
        blend(picture[top:bottom, left:right], colour(random, (0.4, 0.2, 0.1), (1, 0.9, 0.7)), disc)
    stem = np.clip(3 - np.abs(np.arange(width)[None, :] - width * 0.5 - 40 * np.sin(
        np.linspace(0, random.uniform(2, 6), height))[:, None]) / (width * 0.006), 0, 1).astype(np.float32)
    blend(picture, base * 2.5 * (0.5 + fractal(random, width, height, 30, 4, 0.7))[..., None], stem)
    return picture


def terrain(random, width, height):
    ground = fractal(random, width, height, 3, 8, 0.6)
    palette = np.array([(0.05, 0.15, 0.35), (0.1, 0.35, 0.5), (0.8, 0.74, 0.55), (0.3, 0.45, 0.18), (0.15, 0.3, 0.1),
                        (0.45, 0.4, 0.35), (0.95, 0.95, 0.97)], np.float32)
    palette *= colour(random, (0.8, 0.8, 0.8), (1.1, 1.1, 1.1))
    stops = np.array([0, 0.38, 0.42, 0.48, 0.62, 0.78, 1], np.float32)
    picture = np.stack([np.interp(ground, stops, palette[:, band]) for band in range(3)], -1).astype(np.float32)
    slope = np.gradient(ground, axis=1) * width * 0.06
    return picture * np.clip(0.85 + slope, 0.4, 1.5)[..., None]


def city(random, width, height):
    picture = sky(random, width, height, colour(random, (0.02, 0.02, 0.1), (0.15, 0.15, 0.3)),
                  colour(random, (0.3, 0.15, 0.2), (0.6, 0.4, 0.4)))
    for layer in range(3):
        x = 0
        while x < width:
            wide = int(width * random.uniform(0.04, 0.12))
            top = int(height * random.uniform(0.2 + 0.12 * layer, 0.55 + 0.12 * layer))
            block = picture[top:, x:x + wide]
            block[:] = colour(random, (0.03, 0.03, 0.05), (0.14, 0.14, 0.2)) * (1.6 - 0.4 * layer)
            cell = max(8, int(height * random.uniform(0.012, 0.022)))
            lights = (random.random((block.shape[0] // cell + 1, block.shape[1] // cell + 1)) < random.uniform(0.1, 0.5))
            lit = np.kron(lights, np.ones((cell, cell), np.float32))[:block.shape[0], :block.shape[1]]
            frame = ((np.arange(block.shape[0])[:, None] % cell > cell * 0.35)
                     & (np.arange(block.shape[1])[None, :] % cell > cell * 0.3))
            blend(block, colour(random, (0.7, 0.55, 0.3), (1, 0.9, 0.7)), lit * frame * 0.9)
            x += wide + int(width * random.uniform(0, 0.03))
    return picture


SCENES = [mountains, sea, bokeh, terrain, city]


def draw(seed, index, low, high):
    random = np.random.default_rng([seed, index])
    area = random.uniform(low, high) * 1e6
    ratio = [3 / 2, 4 / 3, 2 / 3, 16 / 9, 1][random.integers(0, 5)]
    width, height = int(math.sqrt(area * ratio)), int(math.sqrt(area / ratio))
    picture = SCENES[index % len(SCENES)](random, width, height)
    # What a sensor adds: grain, the same patch of it laid out again and again to save time.
    grain = random.normal(0, 0.014, (min(height, 512), width, 3)).astype(np.float32)
    for top in range(0, height, len(grain)):
        picture[top:top + len(grain)] += grain[:height - top]
    np.clip(picture, 0, 1, out=picture)
    return Image.fromarray((picture * 255 + 0.5).astype(np.uint8))


def make(arguments):
    directory, seed, index, kind, low, high, quality = arguments
    picture = draw(seed, index, low, high)
    path = directory / f"picture-{index:03d}.{EXTENSIONS[kind]}"
    if kind == "jpeg":
        picture.save(path, quality=quality)
    elif kind == "webp":
        picture.save(path, quality=quality, method=1)
    else:
        picture.save(path, compress_level=1)
    return path.stat().st_size


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=pathlib.Path)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--formats", default="jpeg,png,webp", type=lambda text: text.split(","))
    parser.add_argument("--megapixels", default="1-3")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--quality", type=int, default=85)
    options = parser.parse_args()
    for kind in options.formats:
        if kind not in EXTENSIONS:
            parser.error(f"unknown format '{kind}': jpeg, png and webp are known")
    low, high = (float(part) for part in options.megapixels.split("-"))
    options.directory.mkdir(parents=True, exist_ok=True)
    work = [(options.directory, options.seed, index, options.formats[index % len(options.formats)], low, high,
             options.quality) for index in range(options.count)]
    with concurrent.futures.ProcessPoolExecutor(os.cpu_count()) as pool:
        sizes = list(pool.map(make, work, chunksize=4))
    print(f"{len(sizes)} pictures, {sum(sizes) / 1e6:.1f} MB, in {options.directory}")


if __name__ == "__main__":
    main()
