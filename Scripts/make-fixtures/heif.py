"""HEIC fixtures by heif-enc 1.15.1 and libheif (x265 3.5); the expected pixels are heif-convert's, or those that went in where nothing is
lost. Profiles are converted by lcms. `sequence` is an HEVC track without a still picture, by ffmpeg 5.1."""
import struct
import tempfile
from pathlib import Path

import numpy as np
from PIL import Image

import libheif
from hdr import cicp_to_srgb
from picture import alpha, picture, write_anymap
from profiles import wide_rgb
from reference import oriented, read_png16, run, to_srgb, write_png16

OUT = Path(__file__).resolve().parents[2] / "Tests/WebImageFormatsTests/Fixtures/HEIF"
W, H = 40, 32


def convert(path, deep=False):
    with tempfile.TemporaryDirectory() as directory:
        png = f"{directory}/out.png"
        run("heif-convert", path, png)
        if deep:
            channels = 4 if Image.open(png).mode == "RGBA" else 3
            return (read_png16(png, channels) / 65535.0 * 255).round().astype(np.uint8)
        image = Image.open(png)
        return np.asarray(image.convert("RGBA" if "A" in image.mode else "RGB"))


def write(name, pixels, expected=None, change=None, **options):
    target = OUT / f"{name}.heic"
    libheif.write(target, pixels, **options)
    result = convert(target) if expected is None else expected
    write_anymap(OUT / f"{name}.pam", np.ascontiguousarray(change(result) if change else result))


def straight(pixels):
    """Of premultiplied ones."""
    cover = pixels[:, :, 3:].astype(np.float64)
    colors = np.where(cover > 0, pixels[:, :, :3] * 255.0 / np.maximum(cover, 1), 0).round().clip(0, 255)
    return np.dstack([colors.astype(np.uint8), pixels[:, :, 3]])


def save(name, source, *options, depth16=None, icc=None, change=None, quality=70):
    target = OUT / f"{name}.heic"
    with tempfile.TemporaryDirectory() as directory:
        path = f"{directory}/in.png"
        if depth16 is not None:
            write_png16(path, depth16)
        else:
            Image.fromarray(source).save(path, **({"icc_profile": icc} if icc else {}))
        run("heif-enc", "-q", quality, "-o", target, *options, path)
    pixels = convert(target, depth16 is not None)
    write_anymap(OUT / f"{name}.pam", change(pixels) if change else pixels)


def main():
    photo = picture(W, H)
    clear = np.dstack([photo, alpha(W, H)])
    deep = photo.astype(np.uint16) * 257
    save("420", photo)
    save("422", photo, "-p", "chroma=422")
    save("444", photo, "-p", "chroma=444")
    save("odd", picture(37, 29))
    save("gray", photo[:, :, 1])
    save("alpha", clear)
    write("limited", photo, quality=80, chroma="420", code_points=(1, 13, 6, 0))
    write("bt709-matrix", photo, quality=80, code_points=(1, 13, 1, 1))
    save("10bit", None, "-b", "10", depth16=deep)
    write("lossless", photo, code_points=(1, 13, 0, 1), expected=photo)
    write("lossless-alpha", clear, code_points=(1, 13, 0, 1), expected=clear)
    premultiplied = np.dstack([(photo * (clear[:, :, 3:] / 255.0)).round().astype(np.uint8), clear[:, :, 3]])
    write("premultiplied", premultiplied, code_points=(1, 13, 0, 1), premultiplied=True, expected=straight(premultiplied))
    save("icc-wide", photo, icc=wide_rgb(), change=lambda p: to_srgb(p, wide_rgb()))
    write("display-p3", photo, code_points=(12, 13, 0, 1), expected=cicp_to_srgb(photo, 12, 13))
    small = picture(32, 20)
    for number in range(1, 9):
        # libheif makes irot and imir of it.
        write(f"orientation-{number}", small, code_points=(1, 13, 0, 1), orientation=number, expected=oriented(small, number))
    with tempfile.TemporaryDirectory() as directory:
        video = f"{directory}/out.mp4"
        raw = b"".join(np.roll(picture(32, 32), 4 * index, axis=1).tobytes() for index in range(3))
        run("ffmpeg", "-v", "error", "-f", "rawvideo", "-pix_fmt", "rgb24", "-s", "32x32", "-r", "10", "-i", "-", "-c:v", "libx265",
            "-x265-params", "log-level=none", "-tag:v", "hvc1", video, input=raw)
        data = bytearray(Path(video).read_bytes())
        # The brands of a sequence in place of those of a film.
        size = struct.unpack(">I", data[:4])[0]
        brands = b"msf1" + bytes(4) + b"hevcmsf1"
        (OUT / "sequence.heics").write_bytes(struct.pack(">I", 8 + len(brands)) + b"ftyp" + brands + bytes(data[size:]))


OUT.mkdir(parents=True, exist_ok=True)
for old in OUT.iterdir():
    old.unlink()
main()
