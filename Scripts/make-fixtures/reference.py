"""What the scripts of formats with programs of their own share: running those, PNG of 16 bits (through ffmpeg), ICC to sRGB by lcms."""
import io
import struct
import subprocess
import zlib

import numpy as np
from PIL import Image, ImageCms


def run(*command, **options):
    return subprocess.run([str(part) for part in command], check=True, capture_output=True, **options).stdout


def chunk(kind, content):
    body = kind + content
    return struct.pack(">I", len(content)) + body + struct.pack(">I", zlib.crc32(body))


def write_png16(path, pixels, extra=b""):
    """Grey, grey and alpha, RGB or RGBA of 16 bits, uint16."""
    height, width = pixels.shape[:2]
    channels = 1 if pixels.ndim == 2 else pixels.shape[2]
    rows = pixels.astype(">u2").reshape(height, -1)
    raw = b"".join(b"\0" + row.tobytes() for row in rows)
    header = struct.pack(">IIBBBBB", width, height, 16, {1: 0, 2: 4, 3: 2, 4: 6}[channels], 0, 0, 0)
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + extra + chunk(b"IDAT", zlib.compress(raw, 9)) + chunk(b"IEND", b""))


def read_png16(path, channels):
    """As ffmpeg reads it; alpha is straight."""
    size = Image.open(path).size
    raw = run("ffmpeg", "-v", "error", "-i", path, "-f", "rawvideo", "-pix_fmt", {3: "rgb48le", 4: "rgba64le"}[channels], "-")
    return np.frombuffer(raw, "<u2").reshape(size[1], size[0], channels)


def to_srgb(pixels, icc):
    """By lcms, perceptual; alpha is kept."""
    source, target = ImageCms.ImageCmsProfile(io.BytesIO(icc)), ImageCms.createProfile("sRGB")
    colors = pixels if pixels.ndim == 2 else np.ascontiguousarray(pixels[:, :, :3])
    converted = ImageCms.profileToProfile(Image.fromarray(colors), source, target, ImageCms.Intent.PERCEPTUAL, outputMode="RGB")
    converted = np.asarray(converted)
    return converted if pixels.ndim == 2 or pixels.shape[2] == 3 else np.dstack([converted, pixels[:, :, 3]])


def oriented(pixels, number):
    """Upright, of pixels stored with an EXIF orientation."""
    flips = {1: lambda p: p, 2: lambda p: p[:, ::-1], 3: lambda p: p[::-1, ::-1], 4: lambda p: p[::-1],
             5: lambda p: p.swapaxes(0, 1), 6: lambda p: p[::-1].swapaxes(0, 1),
             7: lambda p: p[::-1, ::-1].swapaxes(0, 1), 8: lambda p: p[:, ::-1].swapaxes(0, 1)}
    return np.ascontiguousarray(flips[number](pixels))
