"""What transformers make of two pictures, by other means: Pillow 13 (mirrors, quarter turns, crops, covers), cairo 1.16 through pycairo 1.29
(blend modes; rounded corners, drawn at sixteen times the size), libvips 8.14 (rotation), and numpy 2.4 (the definitions of the box
blur, of colour matrices and of rotation, written down again). Needs the program vips (libvips-tools)."""
import math
import subprocess
import tempfile
from pathlib import Path

import cairo
import numpy as np
from PIL import Image

from picture import alpha, picture, write_anymap

OUT = Path(__file__).resolve().parents[2] / "Tests/Fixtures/Transforms"
WIDTH, HEIGHT = 40, 30


def save(name, pixels):
    write_anymap(OUT / f"{name}.pam", pixels)


def premultiplied(pixels):
    """RGB as it is, RGBA as bytes of exactly rounded products."""
    if pixels.shape[2] == 3:
        return pixels
    a = pixels[:, :, 3:].astype(int)
    return np.dstack([(pixels[:, :, :3] * a * 2 + 255) // 510, a]).astype(np.uint8)


def straight(pixels):
    """The inverse; every premultiplied byte comes back from it."""
    if pixels.shape[2] == 3:
        return pixels
    a = pixels[:, :, 3:].astype(float)
    rgb = np.where(a > 0, pixels[:, :, :3].astype(float) * 255 / np.maximum(a, 1), 0)
    result = np.dstack([np.floor(rgb + 0.5).clip(0, 255), a]).astype(np.uint8)
    assert (premultiplied(result) == pixels).all()
    return result


# Pillow: pixels that only move


def moves(name, pixels):
    image = Image.fromarray(pixels)
    turns = Image.Transpose
    save(f"{name}-flip-h", np.asarray(image.transpose(turns.FLIP_LEFT_RIGHT)))
    save(f"{name}-flip-v", np.asarray(image.transpose(turns.FLIP_TOP_BOTTOM)))
    save(f"{name}-turn-90", np.asarray(image.rotate(90, expand=True)))
    save(f"{name}-turn-180", np.asarray(image.rotate(180)))
    save(f"{name}-turn-270", np.asarray(image.rotate(270, expand=True)))
    # Around the centre, on the canvas as it was.
    save(f"{name}-turn-90-cut", np.asarray(image.convert("RGBA").rotate(90)))
    save(f"{name}-crop", np.asarray(image.crop((7, 5, 30, 22))))


# Pillow: the middle of a picture, at another size


def covers(name, pixels):
    height, width = pixels.shape[:2]
    for across, down in [(17, 29), (60, 20), (100, 90), (13, 13)]:
        factor = max(across / width, down / height)
        seen = across / factor, down / factor
        x, y = (width - seen[0]) / 2, (height - seen[1]) / 2
        box = (x, y, x + seen[0], y + seen[1])
        # In floats: in bytes Pillow cuts off overshoots between its two passes.
        planes = np.moveaxis(premultiplied(pixels).astype(np.float32), 2, 0)
        planes = [np.asarray(Image.fromarray(plane).resize((across, down), Image.Resampling.LANCZOS, box)) for plane in planes]
        result = np.floor(np.dstack(planes) + 0.5).clip(0, 255).astype(np.uint8)
        if pixels.shape[2] == 4:
            result[:, :, :3] = np.minimum(result[:, :, :3], result[:, :, 3:])
        save(f"{name}-cover-{across}x{down}", straight(result))


# numpy: three box passes


def box_pass(pixels, reach):
    height, width = pixels.shape[:2]
    side = 2 * reach + 1
    rows = np.arange(-reach, height + reach).clip(0, height - 1)
    columns = np.arange(-reach, width + reach).clip(0, width - 1)
    sums = pixels.astype(np.int64)[rows][:, columns].cumsum(0).cumsum(1)
    sums = np.pad(sums, ((1, 0), (1, 0), (0, 0)))
    boxes = sums[side:, side:] - sums[:-side, side:] - sums[side:, :-side] + sums[:-side, :-side]
    return ((2 * boxes + side * side) // (2 * side * side)).astype(np.uint8)


def blur(pixels, radius):
    side = math.floor(max(radius, 2) * 3 * math.sqrt(2 * math.pi) / 4 + 0.5)
    side += 1 - side % 2
    for _ in range(3):
        pixels = box_pass(pixels, side // 2)
    return pixels


# numpy: colour matrices, the numbers of Filter Effects Module Level 1


def matrices():
    def plain(factor, offset=0.0):
        return np.array([[factor, 0, 0, 0, offset], [0, factor, 0, 0, offset], [0, 0, factor, 0, offset], [0, 0, 0, 1, 0]])

    def rgb(rows, keep=(0, 0, 0, 1, 0)):
        return np.array([[*row, 0, 0] for row in rows] + [list(keep)])

    gray = [0.2126, 0.7152, 0.0722]
    sepia = np.array([[0.393, 0.769, 0.189], [0.349, 0.686, 0.168], [0.272, 0.534, 0.131]])
    weights = np.array([[0.213, 0.715, 0.072]] * 3)
    c, s = math.cos(1), math.sin(1)
    hue = weights + c * (np.eye(3) - weights) + s * np.array(
        [[-0.213, -0.715, 0.928], [0.143, 0.140, -0.283], [-0.787, 0.715, 0.072]])
    opacity = plain(1.0)
    opacity[3, 3] = 0.4
    odd = np.array([[0.2, 0.5, -0.3, 0.1, 0.2], [-1, 2, 0.5, 0, 0.1], [0.3, 0.3, 0.3, -0.2, 0.3], [0.3, 0.1, 0.2, 0.7, -0.2]])
    return {
        "grayscale": rgb([gray] * 3),
        "sepia": rgb(sepia),
        "sepia-half": rgb(0.5 * sepia + 0.5 * np.eye(3)),
        "brightness": plain(1.3),
        "contrast": plain(1.7, 0.5 - 0.85),
        "saturation": rgb(weights + 2 * (np.eye(3) - weights)),
        "hue": rgb(hue),
        "inverted": plain(-1.0, 1.0),
        "opacity": opacity,
        "odd": odd,
    }


def recolored(pixels, matrix):
    """On premultiplied pixels; the result premultiplied. Halves go up, also those that floating point misses by a little."""
    opaque = pixels.shape[2] == 3
    a = np.full(pixels.shape[:2] + (1,), 255.0) if opaque else pixels[:, :, 3:].astype(float)
    rgb = np.where(a > 0, pixels[:, :, :3].astype(float) * 255 / np.maximum(a, 1), 0).clip(0, 255)
    values = np.dstack([rgb, a, np.full(a.shape, 255.0)]) @ matrix.T
    values = values.clip(0, 255)
    half = 0.5 + 1e-9
    opacity = np.floor(values[:, :, 3:] + half)
    result = np.dstack([np.floor(values[:, :, :3] * opacity / 255 + half), opacity]).astype(np.uint8)
    return result[:, :, :3] if opaque and (result[:, :, 3] == 255).all() else result


# cairo


def surface_of(pixels):
    """A cairo surface of premultiplied RGB(A)."""
    height, width = pixels.shape[:2]
    data = np.full((height, width, 4), 255, np.uint8)
    data[:, :, : pixels.shape[2]] = pixels
    data = np.ascontiguousarray(data[:, :, [2, 1, 0, 3]])
    return cairo.ImageSurface.create_for_data(data, cairo.FORMAT_ARGB32, width, height, width * 4), data


def pixels_of(surface):
    surface.flush()
    data = np.ndarray((surface.get_height(), surface.get_width(), 4), np.uint8, surface.get_data())
    return data[:, :, [2, 1, 0, 3]].copy()


BLEND_MODES = ("OVER MULTIPLY SCREEN OVERLAY DARKEN LIGHTEN COLOR_DODGE COLOR_BURN SOFT_LIGHT HARD_LIGHT DIFFERENCE EXCLUSION "
               "HSL_HUE HSL_SATURATION HSL_COLOR HSL_LUMINOSITY CLEAR SOURCE IN OUT ATOP DEST_OVER DEST_IN DEST_OUT DEST_ATOP XOR "
               "- ADD").split()


def plus_darker(pixels, color):
    """Core Graphics has it and cairo has not: what both lack of white is added up."""
    full = np.dstack([pixels, np.full(pixels.shape[:2], 255)]) if pixels.shape[2] == 3 else pixels
    source = np.array([c * color[3] for c in color[:3]] + [color[3]]) * 255
    both = np.minimum(full[:, :, 3:] + source[3], 255)
    rgb = both - ((source[3] - source[:3]) + (full[:, :, 3:].astype(float) - full[:, :, :3]))
    return np.floor(np.dstack([rgb, both]).clip(0, 255) + 0.5).astype(np.uint8)


def blended(pixels, color):
    """One below the other, in the order of the modes' numbers."""
    results = []
    for mode in BLEND_MODES:
        if mode == "-":
            results.append(plus_darker(pixels, color))
            continue
        surface, data = surface_of(pixels)
        context = cairo.Context(surface)
        context.set_operator(getattr(cairo, f"OPERATOR_{mode}"))
        context.set_source_rgba(*color)
        context.paint()
        results.append(pixels_of(surface))
    return np.vstack(results)


ZOOM = 16


def rounded_path(context, width, height, inset, radius, corners):
    left, top, right, bottom = inset, inset, width - inset, height - inset
    radius = max(min(radius, (right - left) / 2, (bottom - top) / 2), 0)
    r = [radius if corners & bit else 0 for bit in (1, 2, 8, 4)]
    context.new_sub_path()
    quarter = math.pi / 2
    for (x, y), size, start in zip([(left, top), (right, top), (right, bottom), (left, bottom)], r, (2, 3, 0, 1)):
        cx = x + size if x == left else x - size
        cy = y + size if y == top else y - size
        if size > 0:
            context.arc(cx, cy, size, start * quarter, (start + 1) * quarter)
        else:
            context.line_to(x, y)
    context.close_path()


def drawn(width, height, scale, draw):
    """What is drawn at sixteen times the size in points, as premultiplied numbers of each pixel."""
    target = cairo.ImageSurface(cairo.FORMAT_ARGB32, width * ZOOM, height * ZOOM)
    context = cairo.Context(target)
    context.set_antialias(cairo.ANTIALIAS_BEST)
    context.set_tolerance(0.01)
    context.scale(ZOOM * scale, ZOOM * scale)
    draw(context)
    return pixels_of(target).astype(float).reshape(height, ZOOM, width, ZOOM, 4).mean((1, 3))


def rounded(pixels, radius, corners=15, border=0, color=None, scale=1):
    """Core Graphics' way: clip, draw, and then stroke over that, each with smooth edges of its own."""
    height, width = pixels.shape[:2]
    shorter = min(width, height) / scale
    size = (width / scale, height / scale)

    def clipped(context):
        source, _ = surface_of(np.repeat(np.repeat(pixels, ZOOM, 0), ZOOM, 1))
        rounded_path(context, *size, border, radius, corners)
        context.clip()
        context.identity_matrix()
        context.set_source_surface(source)
        context.paint()

    def line(context):
        inset = (math.floor(border * scale) + 0.5) / scale
        rounded_path(context, *size, inset, radius - scale / 2 if radius > scale / 2 else 0, corners)
        context.set_line_width(border)
        context.set_source_rgb(*color[:3])
        context.stroke()

    result = drawn(width, height, scale, clipped) if border < shorter / 2 else np.zeros((height, width, 4))
    if color and 0 < border < shorter / 2:
        over = drawn(width, height, scale, line) * color[3]
        result = over + result * (1 - over[:, :, 3:] / 255)
    return np.floor(result + 0.5).astype(np.uint8)


# Rotation


def canvas_of(width, height, angle, fit):
    if not fit:
        return width, height
    c, s = abs(math.cos(angle)), abs(math.sin(angle))
    return math.ceil(width * c + height * s - 1e-6), math.ceil(width * s + height * c - 1e-6)


def places(width, height, canvas, angle, parts):
    """Where in the picture the middles of a canvas's pixels, or of parts of them, come from."""
    across = (np.arange(canvas[0] * parts) + 0.5) / parts - canvas[0] / 2
    down = (np.arange(canvas[1] * parts) + 0.5) / parts - canvas[1] / 2
    dx, dy = np.meshgrid(across, down)
    c, s = math.cos(angle), math.sin(angle)
    return dx * c - dy * s + width / 2, dx * s + dy * c + height / 2


def keys(t):
    """Keys' cubic convolution with a = -1/2, the weight of a sample at distance t."""
    t = np.abs(t)
    near, far = 1.5 * t**3 - 2.5 * t**2 + 1, -0.5 * t**3 + 2.5 * t**2 - 4 * t + 2
    return np.where(t <= 1, near, np.where(t < 2, far, 0))


def rotated(pixels, angle, fit):
    height, width = pixels.shape[:2]
    canvas = canvas_of(width, height, angle, fit)
    full = np.dstack([pixels, np.full((height, width), 255)]) if pixels.shape[2] == 3 else pixels
    x, y = places(width, height, canvas, angle, 1)
    total = np.zeros((canvas[1], canvas[0], 4))
    for j in range(-2, 3):
        for i in range(-2, 3):
            column, row = np.floor(x) + i, np.floor(y) + j
            weight = keys(column + 0.5 - x) * keys(row + 0.5 - y)
            samples = full[row.astype(int).clip(0, height - 1), column.astype(int).clip(0, width - 1)]
            total += weight[:, :, None] * samples
    total = total.clip(0, 255)
    total = np.minimum(total, total[:, :, 3:])
    u, v = places(width, height, canvas, angle, 32)
    inside = ((u >= 0) & (u < width) & (v >= 0) & (v < height)).astype(float)
    coverage = inside.reshape(canvas[1], 32, canvas[0], 32).mean((1, 3))
    return np.floor(total * coverage[:, :, None] + 0.5).astype(np.uint8)


def rotated_by_vips(pixels, angle):
    """The same by libvips, on the canvas as it was."""
    with tempfile.TemporaryDirectory() as directory:
        source, target = f"{directory}/in.png", f"{directory}/out.png"
        Image.fromarray(pixels).save(source)
        # In floats: vips has fewer steps between pixels in bytes.
        subprocess.run(["vips", "cast", source, f"{directory}/float.v", "float"], check=True)
        subprocess.run(["vips", "affine", f"{directory}/float.v", f"{directory}/turned.v",
                        "%f %f %f %f" % (math.cos(angle), math.sin(angle), -math.sin(angle), math.cos(angle)),
                        "--interpolate", "bicubic", "--extend", "copy", "--idx", str((1 - WIDTH) / 2), "--idy", str((1 - HEIGHT) / 2),
                        "--odx", str((WIDTH - 1) / 2), "--ody", str((HEIGHT - 1) / 2), "--oarea", f"0 0 {WIDTH} {HEIGHT}"], check=True)
        subprocess.run(["vips", "cast", f"{directory}/turned.v", target, "uchar"], check=True)
        return np.asarray(Image.open(target))


def main():
    photo = picture(WIDTH, HEIGHT)
    clear = np.dstack([photo, alpha(WIDTH, HEIGHT)])
    small = picture(16, 12)
    small_clear = np.dstack([small, alpha(16, 12)])
    small_clear[2:7, 3:8, 3] = 130
    for name, pixels in [("photo", photo), ("clear", clear), ("small", small), ("small-clear", small_clear)]:
        save(name, pixels)
    for name, pixels in [("photo", photo), ("clear", clear)]:
        moves(name, pixels)
        covers(name, pixels)
        bytes_ = premultiplied(pixels)
        for radius in (2, 3, 7.3, 50):
            save(f"{name}-blur-{radius}", straight(blur(bytes_, radius)))
        for kind, matrix in matrices().items():
            save(f"{name}-matrix-{kind}", straight(recolored(bytes_, matrix)))
        for angle, fit in [(0.3, True), (-1.1, False), (2.5, True)]:
            save(f"{name}-rotate-{angle}{'' if fit else '-cut'}", straight(rotated(bytes_, angle, fit)))
    for color, label in [((0.2, 0.55, 0.9, 1), "solid"), ((0.9, 0.35, 0.1, 0.45), "veil")]:
        save(f"small-blend-{label}", straight(blended(small, color)))
        save(f"small-clear-blend-{label}", straight(blended(premultiplied(small_clear), color)))
    save("photo-round-9", straight(rounded(photo, 9)))
    save("photo-round-1000", straight(rounded(photo, 1000)))
    save("photo-round-diagonal", straight(rounded(photo, 7.5, corners=1 | 8)))
    save("photo-round-line", straight(rounded(photo, 8, border=3, color=(0.1, 0.8, 0.3, 1))))
    save("photo-round-thin", straight(rounded(photo, 6.3, corners=2 | 4, border=1.4, color=(1, 0, 0, 0.5))))
    save("photo-round-retina", straight(rounded(photo, 5, border=2, color=(0, 0, 1, 1), scale=2)))
    save("clear-round-square", straight(rounded(premultiplied(clear), 0, border=2.5, color=(0.1, 0.1, 0.1, 1))))
    save("clear-round-9", straight(rounded(premultiplied(clear), 9, border=2)))
    save("photo-vips-0.3", rotated_by_vips(photo, 0.3))


OUT.mkdir(parents=True, exist_ok=True)
for old in OUT.iterdir():
    old.unlink()
main()
