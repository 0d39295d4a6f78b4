"""WebP fixtures from Pillow, cwebp and gif2webp; the expected pixels are Pillow's."""
import io
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from PIL import Image, ImageCms, ImageOps

from picture import alpha, picture, write_anymap
from profiles import wide_rgb

OUT = Path(__file__).resolve().parents[2] / "Tests/Fixtures/WebP"


def save(name, data, pixels=None):
    (OUT / f"{name}.webp").write_bytes(data)
    if pixels is None:
        image = Image.open(io.BytesIO(data))
        pixels = np.asarray(ImageOps.exif_transpose(image))
    write_anymap(OUT / f"{name}.pam", pixels)


def pillow(pixels, **options):
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "WEBP", **options)
    return buffer.getvalue()


def cwebp(pixels, *options):
    with tempfile.TemporaryDirectory() as directory:
        source, target = f"{directory}/in.png", f"{directory}/out.webp"
        Image.fromarray(pixels).save(source)
        subprocess.run(["cwebp", "-quiet", *options, source, "-o", target], check=True)
        return Path(target).read_bytes()


def main():
    photo, odd = picture(120, 90), picture(33, 27)
    clear = np.dstack([photo, alpha(120, 90)])
    save("lossy", pillow(photo, quality=80))
    save("lossy-odd", pillow(odd, quality=60))
    save("lossy-alpha", pillow(clear, quality=80))
    save("lossy-sharp", cwebp(odd, "-q", "90", "-sharp_yuv", "-segments", "1", "-f", "0"))
    save("lossy-simple-filter", cwebp(odd, "-q", "40", "-nostrong", "-f", "50", "-partition_limit", "100"))
    save("lossless", pillow(photo, lossless=True), photo)
    save("lossless-alpha", pillow(clear, lossless=True, exact=True), clear)
    save("lossless-palette", cwebp((odd // 64) * 64, "-lossless", "-z", "9"), (odd // 64) * 64)
    save("near-lossless", cwebp(odd, "-near_lossless", "40"))
    save("one-pixel", pillow(odd[:1, :1], lossless=True), odd[:1, :1])
    wide = pillow(odd, lossless=True, icc_profile=wide_rgb())
    profile, target = ImageCms.ImageCmsProfile(io.BytesIO(wide_rgb())), ImageCms.createProfile("sRGB")
    converted = ImageCms.profileToProfile(Image.fromarray(odd), profile, target, ImageCms.Intent.PERCEPTUAL)
    save("icc-wide", wide, np.asarray(converted))
    for number in range(1, 9):
        exif = Image.Exif()
        exif[0x0112] = number
        save(f"orientation-{number}", pillow(odd, lossless=True, exif=exif.tobytes()))
    frames = [Image.fromarray(np.roll(photo, 9 * i, axis=1)) for i in range(3)]
    buffer = io.BytesIO()
    frames[0].save(buffer, "WEBP", save_all=True, append_images=frames[1:], duration=[70, 5, 900], loop=4, lossless=True)
    save("animated", buffer.getvalue(), photo)
    with tempfile.TemporaryDirectory() as directory:
        target = f"{directory}/out.webp"
        subprocess.run(["webpmux", "-frame", str(OUT / "lossless-palette.webp"), "+80+12+6+0-b", "-frame",
                        str(OUT / "lossless.webp"), "+80", "-loop", "0", "-o", target], check=True)
        canvas = np.zeros((90, 120, 4), np.uint8)
        canvas[6 : 6 + 27, 12 : 12 + 33] = np.dstack([(odd // 64) * 64, np.full((27, 33), 255, np.uint8)])
        save("animated-offset", Path(target).read_bytes(), canvas)
        subprocess.run(["gif2webp", "-quiet", str(OUT.parent / "GIF/animated-gifsicle.gif"), "-o", target], check=True)
        first = Image.open(OUT.parent / "GIF/animated-gifsicle.gif").convert("RGB")
        save("animated-gif2webp", Path(target).read_bytes(), np.asarray(first))


OUT.mkdir(parents=True, exist_ok=True)
for old in OUT.iterdir():
    old.unlink()
main()
