#!/usr/bin/env python3
"""Makes Tests/Fixtures/JPEG and /Resample with Pillow, cjpeg, jpegtran, exiftool and TurboJPEG.

    python3 -m venv V && V/bin/pip install -r Scripts/make-fixtures/requirements.txt
    V/bin/python Scripts/make-fixtures/jpeg.py
"""
import ctypes
import io
import pathlib
import shutil
import subprocess
import sys
import tempfile

import numpy as np
from PIL import Image, ImageCms, ImageOps

import profiles
from picture import alpha, picture, write_anymap

ROOT = pathlib.Path(__file__).resolve().parents[2] / "Tests/Fixtures"
OUT = ROOT / "JPEG"
WIDTH, HEIGHT = 61, 45


def expect(name, image):
    write_anymap(OUT / f"{name}.ppm", np.asarray(image.convert("RGB")))


def save(name, image, **options):
    image.save(OUT / f"{name}.jpg", **options)


def reference(name):
    """Pillow's pixels of a fixture, upright, in sRGB."""
    image = Image.open(OUT / f"{name}.jpg")
    profile = image.info.get("icc_profile")
    image.load()
    if profile:
        image = ImageCms.profileToProfile(
            image, ImageCms.ImageCmsProfile(io.BytesIO(profile)), ImageCms.createProfile("sRGB"), outputMode="RGB")
    return ImageOps.exif_transpose(image)


def run(*command, data=None):
    return subprocess.run(command, input=data, stdout=subprocess.PIPE, check=True).stdout


def plain():
    rgb = Image.fromarray(picture(WIDTH, HEIGHT))
    for name, options in {
        "baseline-420": dict(quality=85, subsampling=2),
        "baseline-422": dict(quality=85, subsampling=1),
        "baseline-444": dict(quality=92, subsampling=0),
        "progressive": dict(quality=85, progressive=True, subsampling=2),
        "rgb-kept": dict(quality=90, keep_rgb=True),
    }.items():
        save(name, rgb, **options)
        expect(name, reference(name))
    save("gray", rgb.convert("L"), quality=85)
    expect("gray", reference("gray"))
    ppm = io.BytesIO()
    rgb.save(ppm, "ppm")
    (OUT / "restart.jpg").write_bytes(run("cjpeg", "-quality", "85", "-restart", "1", data=ppm.getvalue()))
    expect("restart", reference("restart"))
    baseline = (OUT / "baseline-420.jpg").read_bytes()
    # The same coefficients, so the same pixels as baseline-420.
    (OUT / "arithmetic.jpg").write_bytes(run("jpegtran", "-arithmetic", data=baseline))
    frame = baseline.index(b"\xff\xc0")
    for name, marker, precision in (("lossless", 0xC3, 8), ("twelve-bit", 0xC1, 12)):
        patched = bytearray(baseline)
        patched[frame + 1], patched[frame + 4] = marker, precision
        (OUT / f"{name}.jpg").write_bytes(patched)
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as script:
        script.write("0 1 2: 0-0, 0, 0;\n" + "".join(f"{c}: {k}-{k}, 0, 0;\n" for c in range(3) for k in range(1, 31)))
        script.flush()
        (OUT / "many-scans.jpg").write_bytes(run("cjpeg", "-quality", "85", "-scans", script.name, data=ppm.getvalue()))
    expect("many-scans", reference("many-scans"))
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as script:
        script.write("0;\n1;\n2;\n")
        script.flush()
        # The same coefficients as baseline-420, one component after the other.
        (OUT / "non-interleaved.jpg").write_bytes(run("jpegtran", "-scans", script.name, data=baseline))


def inks():
    rgb = picture(WIDTH, HEIGHT).astype(np.int32)
    black = 255 - rgb.max(axis=2)
    paper = np.maximum(255 - black, 1)[..., None]
    cmy = (255 - black[..., None] - rgb) * 255 // paper
    cmyk = np.dstack([cmy, black]).clip(0, 255).astype(np.uint8)
    save("cmyk", Image.fromarray(cmyk, "CMYK"), quality=95)
    expect("cmyk", reference("cmyk"))
    save("cmyk-icc", Image.fromarray(cmyk, "CMYK"), quality=95, icc_profile=profiles.cmyk())
    expect("cmyk-icc", reference("cmyk-icc"))
    # TurboJPEG writes CMYK as YCCK; like Adobe it stores the inks inverted.
    turbo = ctypes.CDLL("libturbojpeg.so.0")
    turbo.tjInitCompress.restype = ctypes.c_void_p
    pixels = np.ascontiguousarray(255 - cmyk)
    buffer, size = ctypes.c_void_p(), ctypes.c_ulong()
    code = turbo.tjCompress2(
        ctypes.c_void_p(turbo.tjInitCompress()), pixels.ctypes.data_as(ctypes.c_void_p), WIDTH, 0, HEIGHT, 11,
        ctypes.byref(buffer), ctypes.byref(size), 2, 90, 0)
    assert code == 0
    (OUT / "ycck.jpg").write_bytes(ctypes.string_at(buffer, size.value))
    expect("ycck", reference("ycck"))


def colors():
    rgb = Image.fromarray(picture(WIDTH, HEIGHT))
    save("icc-wide", rgb, quality=92, icc_profile=profiles.wide_rgb())
    save("icc-long", rgb, quality=92, icc_profile=profiles.wide_rgb(padding=70_000))
    save("icc-gray", rgb.convert("L"), quality=92, icc_profile=profiles.gray())
    for name in ("icc-wide", "icc-long", "icc-gray"):
        expect(name, reference(name))
    srgb = bytearray(ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes())
    srgb[24:36] = bytes(12)  # the time of its making
    save("icc-srgb", rgb, quality=92, icc_profile=bytes(srgb))
    save("icc-broken", rgb, quality=92, icc_profile=profiles.wide_rgb()[:200])
    save("icc-misfit", rgb, quality=92, icc_profile=profiles.cmyk())
    image = Image.open(OUT / "icc-srgb.jpg")
    image.load()
    expect("no-conversion", image)


def orientations():
    rgb = Image.fromarray(picture(WIDTH, HEIGHT))
    save("oriented", rgb, quality=90)
    for orientation in range(1, 9):
        name = f"orientation-{orientation}"
        shutil.copy(OUT / "oriented.jpg", OUT / f"{name}.jpg")
        order = "II" if orientation % 2 else "MM"
        run("exiftool", "-q", "-overwrite_original", "-n", f"-ExifByteOrder={order}", f"-Orientation={orientation}",
            "-Make=Test", "-Artist=Somebody with a name longer than four bytes", OUT / f"{name}.jpg")
        expect(name, reference(name))
        small = Image.open(OUT / f"{name}.jpg")
        small = ImageOps.exif_transpose(small)
        expect(f"{name}-thumbnail", small.resize((30, 22) if orientation < 5 else (22, 30), Image.LANCZOS))
    (OUT / "oriented.jpg").unlink()


def thumbnails():
    photo = Image.fromarray(picture(480, 360, seed=5))
    save("photo", photo, quality=88, subsampling=2)
    photo = Image.open(OUT / "photo.jpg")
    photo.load()
    for width, height in ((100, 75), (160, 120), (240, 180), (60, 120)):
        expect(f"photo-{width}x{height}", photo.resize((width, height), Image.LANCZOS))
    expect("photo-area-100x75", Image.fromarray(area(np.asarray(photo), 100, 75)))


def area(pixels, width, height, rounded=True):
    """The mean over the area that each pixel of the result covers."""
    def weights(source, result):
        edges = np.arange(result + 1) * source / result
        low, high = edges[:-1, None], edges[1:, None]
        pixel = np.arange(source)[None, :]
        return np.clip(np.minimum(pixel + 1, high) - np.maximum(pixel, low), 0, None) * result / source
    rows, columns = weights(pixels.shape[0], height), weights(pixels.shape[1], width)
    mean = np.einsum("yr,rcs,xc->yxs", rows, pixels.astype(np.float64), columns, optimize=True)
    return (mean + 0.5).clip(0, 255).astype(np.uint8) if rounded else mean


def resampling():
    directory = ROOT / "Resample"
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    rgb = picture(120, 90)
    write_anymap(directory / "source.ppm", rgb)
    for width, height in ((40, 30), (119, 89), (7, 90), (120, 11), (1, 1), (150, 140), (200, 20)):
        # Through floats, because Pillow rounds and clips bytes between the passes.
        planes = [Image.fromarray(rgb[:, :, c].astype(np.float32)).resize((width, height), Image.LANCZOS) for c in range(3)]
        floats = np.dstack([np.asarray(plane) for plane in planes])
        write_anymap(directory / f"lanczos-{width}x{height}.ppm", (floats + 0.5).clip(0, 255).astype(np.uint8))
    for width, height in ((40, 30), (77, 31), (1, 1), (77, 60), (60, 45), (119, 89), (63, 88)):
        write_anymap(directory / f"area-{width}x{height}.ppm", area(rgb, width, height))
    clear = np.dstack([rgb, alpha(120, 90)])
    write_anymap(directory / "alpha.pam", clear)
    # Pillow resizes straight pixels by way of premultiplied ones itself.
    small = Image.fromarray(clear, "RGBA").resize((40, 30), Image.LANCZOS)
    write_anymap(directory / "alpha-40x30.pam", np.asarray(small))
    # The mean of premultiplied pixels, made straight again.
    weighted = np.dstack([rgb * (clear[:, :, 3:] / 255.0), clear[:, :, 3:]])
    mean = area(weighted, 77, 60, rounded=False)
    colors = np.divide(mean[:, :, :3] * 255, mean[:, :, 3:], out=np.zeros((60, 77, 3)), where=mean[:, :, 3:] > 0)
    straight = np.dstack([colors, mean[:, :, 3:]])
    write_anymap(directory / "alpha-area-77x60.pam", (straight + 0.5).clip(0, 255).astype(np.uint8))


def damage():
    """Files that libjpeg only warns about, with what Pillow shows of them: it ignores warnings."""
    files = {name: (OUT / f"{name}.jpg").read_bytes() for name in ("baseline-420", "restart", "progressive")}
    codes = bytearray(files["baseline-420"])
    # No code has only ones.
    place = len(codes) * 3 // 4
    codes[place : place + 12] = b"\xff\0" * 6
    restarts = bytearray(files["restart"])
    middle = restarts.index(b"\xff\xd1")
    restarts[middle : middle + 2] = bytes(2)
    scans = bytearray(files["progressive"])
    last = scans.rindex(b"\xff\xda")
    scans[last + 20 : last + 40] = b"\xff\0" * 10
    for name, data in (("damaged-codes", codes), ("damaged-restarts", restarts), ("damaged-progressive", scans)):
        (OUT / f"{name}.jpg").write_bytes(data)
        expect(name, Image.open(io.BytesIO(data)))


def restarts():
    """Images that are large enough to be decoded in bands, with restart markers after rows of blocks, or after a number of blocks."""
    directory = ROOT / "Restarts"
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    ppm, odd = io.BytesIO(), io.BytesIO()
    large = Image.fromarray(picture(1030, 634))
    large.save(ppm, "ppm")
    Image.fromarray(picture(1029, 633)).save(odd, "ppm")
    for name, options in {
        "rows-420": ("-sample", "2x2", "-restart", "1"),
        "rows-422": ("-sample", "2x1", "-restart", "2"),
        "blocks-444": ("-sample", "1x1", "-restart", "43B"),
        "rows-gray": ("-grayscale", "-restart", "1"),
        "one-block": ("-sample", "2x2", "-restart", "1B"),
        "odd-420": ("-sample", "2x2", "-restart", "1"),
        "odd-440": ("-sample", "1x2", "-restart", "1"),
        "odd-411": ("-sample", "4x1", "-restart", "1"),
    }.items():
        source = odd if name.startswith("odd") else ppm
        (directory / f"{name}.jpg").write_bytes(run("cjpeg", "-quality", "40", *options, data=source.getvalue()))
    large.convert("CMYK").save(directory / "rows-cmyk.jpg", quality=40, restart_marker_rows=1)


if __name__ == "__main__":
    shutil.rmtree(OUT, ignore_errors=True)
    OUT.mkdir(parents=True)
    sys.path.insert(0, str(pathlib.Path(__file__).parent))
    for step in (plain, inks, colors, orientations, thumbnails, resampling, damage, restarts):
        step()
