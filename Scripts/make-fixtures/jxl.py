"""JPEG XL fixtures by cjxl 0.7.0; the expected pixels are djxl's, or those that went in where nothing is lost. Profiles are converted by
lcms."""
import ctypes
import tempfile
from pathlib import Path

import numpy as np
from PIL import Image

from hdr import cicp_to_srgb
from picture import alpha, picture, write_anymap
from profiles import gray, wide_rgb
from reference import oriented, run, to_srgb, write_png16

OUT = Path(__file__).resolve().parents[2] / "Tests/WebImageFormatsTests/Fixtures/JPEGXL"
W, H = 36, 28


def frames(path):
    """All frames of an APNG as Pillow composes them."""
    image = Image.open(path)
    for index in range(getattr(image, "n_frames", 1)):
        image.seek(index)
        yield np.asarray(image.convert("RGBA"))


def djxl(path, *options):
    with tempfile.TemporaryDirectory() as directory:
        png = f"{directory}/out.png"
        run("djxl", path, png, *options)
        image = Image.open(png)
        return np.asarray(image.convert("RGBA" if "A" in image.mode else "RGB"))


def save(name, source, *options, expected=None, depth16=None, icc=None, reference=()):
    target = OUT / f"{name}.jxl"
    with tempfile.TemporaryDirectory() as directory:
        png = f"{directory}/in.png"
        if depth16 is not None:
            write_png16(png, depth16)
        else:
            Image.fromarray(source).save(png, **({"icc_profile": icc} if icc else {}))
        run("cjxl", png, target, "-e", "3", "--num_threads=0", *options)
    if expected is None:
        expected = djxl(target, "--bits_per_sample=8", *reference)
    write_anymap(OUT / f"{name}.pam", expected)


def main():
    photo = picture(W, H)
    clear = np.dstack([photo, alpha(W, H)])
    deep = photo.astype(np.uint16) * 257
    save("lossy", photo, "-d", "1")
    save("lossy-modular", photo, "-d", "1.5", "-m", "1")
    save("lossy-odd", picture(33, 27), "-d", "2")
    save("lossy-alpha", clear, "-d", "1")
    save("lossy-gray", photo[:, :, 1], "-d", "1")
    save("progressive", photo, "-d", "1", "-p")
    save("container", photo, "-d", "1", "--container=1")
    save("lossless", photo, "-d", "0", expected=photo)
    save("lossless-alpha", clear, "-d", "0", expected=clear)
    save("lossless-premultiplied", clear, "-d", "0", "--premultiply=1")
    save("lossless-gray", photo[:, :, 1], "-d", "0", expected=photo[:, :, 1])
    save("lossless-gray-alpha", np.dstack([photo[:, :, 1], alpha(W, H)]), "-d", "0",
         expected=np.dstack([photo[:, :, 1], alpha(W, H)]))
    save("lossless-16bit", None, "-d", "0", depth16=deep, expected=photo)
    save("lossless-palette", (photo // 64) * 64, "-d", "0", expected=(photo // 64) * 64)
    save("one-pixel", photo[:1, :1], "-d", "0", expected=photo[:1, :1])
    save("icc-lossless", photo, "-d", "0", icc=wide_rgb(), expected=to_srgb(photo, wide_rgb()))
    save("icc-lossless-alpha", clear, "-d", "0", icc=wide_rgb(), expected=to_srgb(clear, wide_rgb()))
    save("icc-gray", photo[:, :, 1], "-d", "0", icc=gray(), expected=to_srgb(photo[:, :, 1], gray()))
    save("icc-lossy", photo, "-d", "0.5", icc=wide_rgb(), reference=["--color_space=RGB_D65_SRG_Per_SRG"])
    p3 = ["-x", "color_space=RGB_D65_DCI_Per_SRG"]
    save("display-p3", photo, "-d", "0", *p3, expected=cicp_to_srgb(photo, 12, 13))
    small = picture(13, 9)
    with tempfile.TemporaryDirectory() as directory:
        for number in range(1, 9):
            # A JPEG's orientation becomes the codestream's.
            exif = Image.Exif()
            exif[0x0112] = number
            Image.fromarray(small).save(f"{directory}/in.jpg", exif=exif.tobytes(), quality=95)
            run("cjxl", f"{directory}/in.jpg", OUT / f"orientation-{number}.jxl", "-j", "0", "-d", "0")
            pixels = np.asarray(Image.open(f"{directory}/in.jpg").convert("RGB"))
            write_anymap(OUT / f"orientation-{number}.pam", oriented(pixels, number))
        animations(directory)
    arriving()


def arriving():
    """Pictures of several squares, to be seen while they arrive; expected are the pixels of one decode."""
    y, x = np.mgrid[0:200, 0:300]
    smooth = np.stack([(x * y) // 240 % 256, (x + 2 * y) // 3, 40 + (x // 9 + y // 7) % 16 * 9], axis=2).astype(np.uint8)
    mask = np.where((x // 8 + y // 8) % 5 == 0, 90, 255).astype(np.uint8)
    for name, pixels, options in [
        ("lossy", smooth, ["-d", "2"]),
        ("squares", smooth, ["-d", "0", "-g", "0", "-m", "1", "-R", "0"]),
        ("squares-premultiplied", np.dstack([smooth, mask]), ["-d", "0", "-g", "0", "-m", "1", "-R", "0", "--premultiply=1"]),
    ]:
        with tempfile.TemporaryDirectory() as directory:
            png = f"{directory}/in.png"
            Image.fromarray(pixels).save(png)
            run("cjxl", png, OUT / f"arriving-{name}.jxl", "-e", "3", "--num_threads=0", *options)


class BasicInfo(ctypes.Structure):
    _fields_ = [(name, ctypes.c_float if name in ("intensity", "min_nits", "linear_below") else ctypes.c_uint32) for name in (
        "container", "width", "height", "bits", "exponent_bits", "intensity", "min_nits", "relative", "linear_below", "original_profile",
        "preview", "animation", "orientation", "colors", "extra", "alpha_bits", "alpha_exponent_bits", "premultiplied", "preview_width",
        "preview_height", "ticks", "tick_divisor", "loops", "timecodes", "intrinsic_width", "intrinsic_height")]
    _fields_.append(("padding", ctypes.c_uint8 * 100))


def looping(path, pictures, loops):
    """By libjxl itself: cjxl 0.7.0 does not write how often an animation plays."""
    jxl = ctypes.CDLL("libjxl.so.0.7")
    for name in ("JxlEncoderCreate", "JxlEncoderFrameSettingsCreate"):
        getattr(jxl, name).restype = ctypes.c_void_p
    encoder = ctypes.c_void_p(jxl.JxlEncoderCreate(None))
    info = BasicInfo()
    jxl.JxlEncoderInitBasicInfo(ctypes.byref(info))
    info.height, info.width = pictures[0].shape[:2]
    info.original_profile = info.animation = 1
    info.ticks, info.tick_divisor, info.loops = 1000, 1, loops
    assert jxl.JxlEncoderSetBasicInfo(encoder, ctypes.byref(info)) == 0
    color, header = ctypes.create_string_buffer(512), ctypes.create_string_buffer(512)
    jxl.JxlColorEncodingSetToSRGB(color, 0)
    assert jxl.JxlEncoderSetColorEncoding(encoder, color) == 0
    layout = (ctypes.c_uint32 * 6)(3, 2, 0, 0, 0, 0)
    for pixels in pictures:
        settings = ctypes.c_void_p(jxl.JxlEncoderFrameSettingsCreate(encoder, None))
        jxl.JxlEncoderSetFrameLossless(settings, 1)
        jxl.JxlEncoderInitFrameHeader(header)
        ctypes.cast(header, ctypes.POINTER(ctypes.c_uint32))[0] = 200
        assert jxl.JxlEncoderSetFrameHeader(settings, header) == 0
        data = np.ascontiguousarray(pixels).tobytes()
        assert jxl.JxlEncoderAddImageFrame(settings, layout, data, ctypes.c_size_t(len(data))) == 0
    jxl.JxlEncoderCloseInput(encoder)
    output = ctypes.create_string_buffer(1 << 16)
    next_byte, room = ctypes.c_void_p(ctypes.addressof(output)), ctypes.c_size_t(len(output))
    assert jxl.JxlEncoderProcessOutput(encoder, ctypes.byref(next_byte), ctypes.byref(room)) == 0
    path.write_bytes(output.raw[: len(output) - room.value])


def animations(directory):
    looping(OUT / "animated-loops.jxl", [np.roll(picture(16, 12), 2 * index, axis=1) for index in range(2)], 3)
    size = (24, 18)
    for name, count, durations, options, blends in [
        ("animated", 5, [70, 5, 900, 100, 40], ["-d", "0"], False),
        ("animated-blended", 4, [100, 200, 300, 400], ["-d", "0"], True),
        ("animated-lossy", 3, [100, 100, 100], ["-d", "1"], False),
    ]:
        pictures = []
        for index in range(count):
            pixels = np.roll(picture(*size), 3 * index, axis=1)
            if blends:
                mask = np.roll(alpha(*size), 3 * index, axis=1) if index == 0 else np.zeros(size[::-1], np.uint8)
                if index:
                    mask[4:12, 3 * index : 3 * index + 8] = 128 + 30 * index
                pixels = np.dstack([pixels, mask])
            pictures.append(Image.fromarray(pixels))
        png = f"{directory}/{name}.png"
        more = {"blend": 1, "disposal": 0} if blends else {}
        pictures[0].save(png, save_all=True, append_images=pictures[1:], duration=durations, loop=3 if blends else 0, **more)
        run("cjxl", png, OUT / f"{name}.jxl", "-e", "3", "--num_threads=0", *options)
        reference = png
        if blends or "1" in options:
            # What cjxl makes of APNG blending is its own affair: the reference is what djxl shows of the file.
            reference = f"{directory}/{name}-out.apng"
            run("djxl", OUT / f"{name}.jxl", reference)
        for index, pixels in enumerate(frames(reference)):
            write_anymap(OUT / f"{name}.{index}.pam", pixels)


OUT.mkdir(parents=True, exist_ok=True)
for old in OUT.iterdir():
    old.unlink()
main()
