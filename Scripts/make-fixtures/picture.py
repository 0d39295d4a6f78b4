"""A deterministic test picture with what is hard for codecs and filters: gradients, edges, thin lines, text-like detail, noise."""
import numpy as np


def picture(width, height, seed=1):
    """RGB, uint8."""
    random = np.random.default_rng(seed)
    y, x = np.mgrid[0:height, 0:width] / max(width, height)
    red = 0.5 + 0.5 * np.sin(9 * x + 4 * y)
    green = y / y.max() * 0.8 + 0.1
    blue = 0.5 + 0.4 * np.cos(14 * x * y + 3 * x)
    rgb = np.stack([red, green, blue], axis=2)
    disc = (x - 0.3) ** 2 + (y - 0.3) ** 2 < 0.04
    rgb[disc] = [0.95, 0.15, 0.1]
    rgb[(x > 0.6) & (x < 0.85) & (y > 0.1) & (y < 0.3)] = [0.05, 0.1, 0.8]
    lines = (np.mod(x * 40, 1) < 0.2) & (y > 0.55) & (x < 0.5)
    rgb[lines] = 1
    rgb += random.normal(0, 0.015, rgb.shape)
    # A corner that no turn or mirror maps onto itself.
    rgb[: height // 8, : width // 8] = [1, 1, 0]
    return (rgb.clip(0, 1) * 255).round().astype(np.uint8)


def alpha(width, height):
    """A mask with soft and hard parts, fully clear and fully opaque ones included."""
    y, x = np.mgrid[0:height, 0:width]
    soft = 255 * (0.5 + 0.5 * np.sin(x / 7.0) * np.cos(y / 5.0))
    soft[: height // 4] = 255
    soft[height * 3 // 4 :, : width // 2] = 0
    return soft.round().clip(0, 255).astype(np.uint8)


def write_anymap(path, pixels):
    """PGM, PPM or PAM by the number of channels."""
    height, width = pixels.shape[:2]
    channels = 1 if pixels.ndim == 2 else pixels.shape[2]
    if channels in (1, 3):
        header = f"P{5 if channels == 1 else 6}\n{width} {height}\n255\n"
    else:
        kind = {2: "GRAYSCALE_ALPHA", 4: "RGB_ALPHA"}[channels]
        header = f"P7\nWIDTH {width}\nHEIGHT {height}\nDEPTH {channels}\nMAXVAL 255\nTUPLTYPE {kind}\nENDHDR\n"
    with open(path, "wb") as file:
        file.write(header.encode() + np.ascontiguousarray(pixels).tobytes())
