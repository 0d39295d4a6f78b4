"""HEIC fixtures by heif-enc 1.15.1 (x265 3.5); the expected pixels are heif-convert's. Profiles are converted by lcms. What the tools do not
write (a crop, premultiplied alpha) is patched into the boxes here. `sequence` is an HEVC track without a still picture, by ffmpeg."""
import struct
import tempfile
from pathlib import Path

import numpy as np
from PIL import Image

from hdr import cicp_to_srgb
from picture import alpha, picture, write_anymap
from profiles import wide_rgb
from reference import read_png16, run, to_srgb, write_png16

OUT = Path(__file__).resolve().parents[2] / "Tests/WebImageTests/Fixtures/HEIF"
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


def save(name, source, *options, depth16=None, icc=None, change=None, quality=70, orientation=None):
    target = OUT / f"{name}.heic"
    with tempfile.TemporaryDirectory() as directory:
        path = f"{directory}/in.{'jpg' if orientation else 'png'}"
        if depth16 is not None:
            write_png16(path, depth16)
        elif orientation:
            exif = Image.Exif()
            exif[0x0112] = orientation
            Image.fromarray(source).save(path, exif=exif.tobytes(), quality=95)
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
    save("limited", photo, "--full_range_flag=0")
    save("bt709-matrix", photo, "--matrix_coefficients=1")
    save("10bit", None, "-b", "10", depth16=deep)
    save("lossless", photo, "-L", "-p", "chroma=444", "--matrix_coefficients=0")
    save("premultiplied", clear, "--premultiplied-alpha")
    save("icc-wide", photo, icc=wide_rgb(), change=lambda p: to_srgb(p, wide_rgb()))
    save("display-p3", photo, "--colour_primaries=12", "--transfer_characteristic=13", change=lambda p: cicp_to_srgb(p, 12, 13))
    small = picture(32, 20)
    for number in range(1, 9):
        # heif-enc makes irot and imir of it, and heif-convert applies those.
        save(f"orientation-{number}", small, orientation=number)
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
