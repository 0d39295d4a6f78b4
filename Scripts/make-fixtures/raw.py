"""Raw files of cameras, with what other programs decode of them: `NAME.ppm` has the pixels of the largest preview, upright, by ExifTool and
Pillow (bitmap.ppm by dcraw). `NAME-full.ppm` is the image developed by dcraw or, for files of named cameras, by LibRaw's dcraw_emu; `NAME-half.ppm`
the same at half the size, not turned. Needs requirements.txt, and the Debian packages dcraw, libraw-bin and libimage-exiftool-perl; and, for the
files of cameras, the source of the last: `apt-get source libimage-exiftool-perl`, whose folder is the argument.

| file | made by |
|---|---|
| pidng.dng | PiDNG: 12 bits, packed, no preview |
| lossless.dng | here: a mosaic as lossless JPEG, no preview; orientation 8 |
| previews.dng | here, like Adobe's converter: a thumbnail of packed pixels, a mosaic of 16 bits, two JPEG previews; orientation 6 |
| turned.dng | here: orientation 8, and a preview that is upright already |
| linear.dng | here: all colours of each pixel, big endian, a JPEG preview |
| bitmap.dng | here: a thumbnail of packed pixels only |
| strips.dng | the same in strips of seven rows, from the last to the first |
| grey.dng | here: a thumbnail of grey pixels, without the length of its strip |
| float.dng | here: a mosaic of floats in deflated tiles, which Debian's LibRaw does not decode; no preview |
| nikon.nef, sony.arw, canon.cr2, olympus.orf | here, in the layout of these cameras, previews by Pillow; the last cannot be developed |
| fujifilm.raf, panasonic.rw2, canon350d.dng, d70.nef | by cameras; of ExifTool's tests, most images cut out |
| eosm50.cr3 | the same, with a preview by Pillow |

ExifTool is free software under the terms of Perl; see debian/copyright.
"""
import io
import struct
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path

import numpy as np
from PIL import Image
from pidng.core import RAW2DNG, DNGTags, Tag
from pidng.defs import CFAPattern, CalibrationIlluminant, DNGVersion, Orientation, PhotometricInterpretation, PreviewColorSpace

from picture import picture, write_anymap

OUT = Path(__file__).resolve().parents[2] / "Tests/WebImageFormatsTests/Fixtures/RAW"
WIDTH, HEIGHT = 96, 64
SIZES = {1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 7: 1, 10: 8, 13: 4}
# XYZ to the camera's colours: those of sRGB, as rational numbers.
MATRIX = [32406, 10000, -15372, 10000, -4986, 10000, -9689, 10000, 18758, 10000, 415, 10000, 557, 10000, -2040, 10000, 10570, 10000]


def linear(bits, width=WIDTH, height=HEIGHT):
    """The picture as light, without noise at the borders of colours."""
    light = (picture(width, height) / 255.0) ** 2.2
    return (light * ((1 << bits) - 1)).round().astype(np.uint16)


def mosaic(bits, width=WIDTH, height=HEIGHT):
    """Red, green; green, blue."""
    rgb = linear(bits, width, height)
    raw = rgb[..., 1].copy()
    raw[0::2, 0::2] = rgb[0::2, 0::2, 0]
    raw[1::2, 1::2] = rgb[1::2, 1::2, 2]
    return raw


def jpeg(width, height, **options):
    image = Image.fromarray(picture(WIDTH * 4, HEIGHT * 4)).resize((width, height), Image.LANCZOS)
    buffer = io.BytesIO()
    image.save(buffer, "JPEG", quality=90, **options)
    return buffer.getvalue()


class Blob:
    """Bytes elsewhere in the file; the value is their offset."""

    def __init__(self, data):
        self.data = bytes(data)


class Blobs:
    """The same for several, from the last to the first; the values are their offsets."""

    def __init__(self, data):
        self.data = data


class Directories:
    """Directories elsewhere in the file; the values are their offsets."""

    def __init__(self, *directories):
        self.directories = directories


class File:
    """Writes directories one after another, each followed by what belongs to it."""

    def __init__(self, order="<", start=b"II*\0", after=b""):
        self.order = order
        self.body = bytearray(start + bytes(4) + after)
        self.body += bytes(len(self.body) % 2)

    def write(self, *chain):
        place = 4
        for directory in chain:
            offset = self.directory(directory)
            struct.pack_into(self.order + "I", self.body, place, offset)
            place = offset + 2 + 12 * len(directory)
        return bytes(self.body)

    def append(self, data):
        offset = len(self.body)
        self.body += data + bytes(len(data) % 2)
        return offset

    def directory(self, entries):
        entries = sorted(entries, key=lambda entry: entry[0])
        offset = self.append(struct.pack(self.order + "H", len(entries)) + bytes(12 * len(entries) + 4))
        for index, (tag, kind, values) in enumerate(entries):
            if isinstance(values, Blob):
                values = [self.append(values.data)]
            elif isinstance(values, Blobs):
                values = [self.append(data) for data in reversed(values.data)][::-1]
            elif isinstance(values, Directories):
                values = [self.directory(directory) for directory in values.directories]
            count, data = self.pack(kind, values)
            if len(data) > 4:
                data = struct.pack(self.order + "I", self.append(data))
            struct.pack_into(self.order + "HHI4s", self.body, offset + 2 + 12 * index, tag, kind, count, data)
        return offset

    def pack(self, kind, values):
        if isinstance(values, (bytes, str)):
            data = values if isinstance(values, bytes) else values.encode() + b"\0"
            return len(data), data
        if isinstance(values, int):
            values = [values]
        letters = {1: "B", 3: "H", 4: "I", 5: "I", 10: "i", 13: "I"}[kind]
        count = len(values) // (2 if kind in (5, 10) else 1)
        return count, struct.pack(f"{self.order}{len(values)}{letters}", *values)


def raw_directory(samples, bits, colors=32803, compression=1, order="<", more=()):
    height, width = samples.shape[:2]
    planes = 1 if samples.ndim == 2 else samples.shape[2]
    data = samples.astype(f"{order}u2").tobytes()
    entries = [
        (254, 4, 0), (256, 4, width), (257, 4, height), (258, 3, [bits] * planes), (259, 3, compression), (262, 3, colors),
        (273, 4, Blob(data)), (277, 3, planes), (278, 4, height), (279, 4, len(data)), (284, 3, 1),
    ]
    if planes == 1:
        entries += [(33421, 3, [2, 2]), (33422, 1, [0, 1, 1, 2])]
    return [entry for entry in entries if entry[0] not in {tag for tag, _, _ in more}] + list(more)


def strip_preview(data, width, height):
    """A JPEG preview as DNG has it."""
    return [
        (254, 4, 1), (256, 4, width), (257, 4, height), (258, 3, [8, 8, 8]), (259, 3, 7), (262, 3, 6), (273, 4, Blob(data)),
        (277, 3, 3), (278, 4, height), (279, 4, len(data)), (284, 3, 1),
    ]


def exif_preview(data, more=()):
    """A JPEG preview as EXIF has it."""
    return [(259, 3, 6), (513, 4, Blob(data)), (514, 4, len(data)), *more]


def bitmap(width, height, more=()):
    pixels = np.asarray(Image.fromarray(picture(WIDTH * 4, HEIGHT * 4)).resize((width, height), Image.LANCZOS))
    return [
        (254, 4, 1), (256, 4, width), (257, 4, height), (258, 3, [8, 8, 8]), (259, 3, 1), (262, 3, 2), (273, 4, Blob(pixels.tobytes())),
        (277, 3, 3), (278, 4, height), (279, 4, pixels.size), (284, 3, 1), *more,
    ]


def bitmap_in_strips(width, height, more, rows=7):
    entries = {tag: (tag, kind, values) for tag, kind, values in bitmap(width, height, more)}
    pixels = entries[273][2].data
    strips = [pixels[start:start + rows * width * 3] for start in range(0, len(pixels), rows * width * 3)]
    entries |= {273: (273, 4, Blobs(strips)), 278: (278, 4, rows), 279: (279, 4, [len(strip) for strip in strips])}
    return list(entries.values())


def grey_bitmap(width, height, more):
    entries = {tag: (tag, kind, values) for tag, kind, values in bitmap(width, height, more)}
    del entries[279]
    entries |= {258: (258, 3, 8), 262: (262, 3, 1), 273: (273, 4, Blob(grey(width, height).tobytes())), 277: (277, 3, 1)}
    return list(entries.values())


def grey(width, height):
    return np.asarray(Image.fromarray(picture(WIDTH * 4, HEIGHT * 4)).convert("L").resize((width, height), Image.LANCZOS))


def float_directory(samples, tile=32):
    """Floats in deflated tiles: the bytes of a row by their significance, each as its difference to the one before."""
    tiles = []
    for y in range(0, HEIGHT, tile):
        for x in range(0, WIDTH, tile):
            rows = samples[y:y + tile, x:x + tile].astype(">f4").view(np.uint8).reshape(tile, tile, 4)
            rows = rows.transpose(0, 2, 1).reshape(tile, tile * 4)
            rows = np.concatenate([rows[:, :1], np.diff(rows.astype(int), axis=1).astype(np.uint8)], axis=1)
            tiles.append(zlib.compress(rows.tobytes(), 9))
    more = [
        (317, 3, 3), (322, 4, tile), (323, 4, tile), (324, 4, Blobs(tiles)), (325, 4, [len(data) for data in tiles]), (339, 3, 3),
    ]
    return [entry for entry in raw_directory(samples, 32, compression=8, more=more) if entry[0] not in (273, 278, 279)]


def camera(make, model, orientation=1):
    return [(271, 2, make), (272, 2, model), (274, 3, orientation)]


def dng(white, orientation=1):
    return camera("WebImage", "Fixture", orientation) + [
        (50706, 1, [1, 4, 0, 0]), (50707, 1, [1, 1, 0, 0]), (50708, 2, "WebImage Fixture"), (50717, 4, white),
        (50721, 10, MATRIX), (50728, 5, [1, 1, 1, 1, 1, 1]), (50778, 3, 21),
    ]


def levels(white):
    return [(50714, 3, 0), (50717, 4, white)]


def with_pidng():
    tags = DNGTags()
    tags.set(Tag.ImageWidth, WIDTH)
    tags.set(Tag.ImageLength, HEIGHT)
    tags.set(Tag.TileWidth, WIDTH)
    tags.set(Tag.TileLength, HEIGHT)
    tags.set(Tag.Orientation, Orientation.Horizontal)
    tags.set(Tag.PhotometricInterpretation, PhotometricInterpretation.Color_Filter_Array)
    tags.set(Tag.SamplesPerPixel, 1)
    tags.set(Tag.BitsPerSample, 12)
    tags.set(Tag.CFARepeatPatternDim, [2, 2])
    tags.set(Tag.CFAPattern, CFAPattern.RGGB)
    tags.set(Tag.BlackLevel, 0)
    tags.set(Tag.WhiteLevel, 4095)
    tags.set(Tag.ColorMatrix1, [[MATRIX[2 * i], MATRIX[2 * i + 1]] for i in range(9)])
    tags.set(Tag.CalibrationIlluminant1, CalibrationIlluminant.D65)
    tags.set(Tag.AsShotNeutral, [[1, 1], [1, 1], [1, 1]])
    tags.set(Tag.Make, "WebImage")
    tags.set(Tag.Model, "PiDNG")
    tags.set(Tag.DNGVersion, DNGVersion.V1_4)
    tags.set(Tag.DNGBackwardVersion, DNGVersion.V1_2)
    tags.set(Tag.PreviewColorSpace, PreviewColorSpace.sRGB)
    converter = RAW2DNG()
    converter.options(tags, path=str(OUT), compress=False)
    converter.convert(mosaic(12), filename="pidng")


def of_dng():
    white = 4095
    first, second = jpeg(WIDTH, HEIGHT), jpeg(48, 32)
    raw = raw_directory(mosaic(12), 16, more=levels(white))
    whole = bitmap(24, 16, [(330, 4, Directories(raw, strip_preview(first, WIDTH, HEIGHT), strip_preview(second, 48, 32)))])
    write("previews.dng", File().write(whole + dng(white, 6)))
    turned = np.rot90(np.asarray(Image.open(io.BytesIO(first))))
    buffer = io.BytesIO()
    Image.fromarray(turned).save(buffer, "JPEG", quality=90)
    upright = strip_preview(buffer.getvalue(), HEIGHT, WIDTH)
    write("turned.dng", File().write(bitmap(24, 16, [(330, 4, Directories(raw, upright))]) + dng(white, 8)))
    colors = raw_directory(linear(12), 16, 34892, order=">", more=levels(white) + [(330, 4, Directories(strip_preview(first, WIDTH, HEIGHT)))])
    write("linear.dng", File(">", b"MM\0*").write(colors + dng(white)))
    data = lossless_jpeg(mosaic(12))
    packed = raw_directory(mosaic(12), 16, compression=7, more=levels(white) + [(273, 4, Blob(data)), (279, 4, len(data))])
    write("lossless.dng", File().write(packed + dng(white, 8)))
    write("bitmap.dng", File().write(bitmap(48, 32, [(330, 4, Directories(raw))]) + dng(white)))
    write("strips.dng", File().write(bitmap_in_strips(48, 32, [(330, 4, Directories(raw))]) + dng(white)))
    write("grey.dng", File().write(grey_bitmap(48, 32, [(330, 4, Directories(raw))]) + dng(white)))
    write("float.dng", File().write(float_directory(mosaic(12) / 4095) + dng(1)))


def of_cameras():
    large, medium, small = jpeg(WIDTH, HEIGHT), jpeg(48, 32), jpeg(40, 30)
    nef = bitmap(40, 30, camera("NIKON CORPORATION", "NIKON D70", 8) + [(330, 4, Directories(exif_preview(large), raw_directory(mosaic(12), 16)))])
    write("nikon.nef", File().write(nef, exif_preview(medium)))
    arw = exif_preview(large, camera("SONY", "DSLR-A330", 6) + [(254, 4, 1), (330, 4, Directories(raw_directory(mosaic(12), 16)))])
    write("sony.arw", File().write(arw, exif_preview(small)))
    cr2 = camera("Canon", "Canon EOS 350D DIGITAL", 6) + [
        (256, 3, WIDTH), (257, 3, HEIGHT), (258, 3, [8, 8, 8]), (259, 3, 6), (273, 4, Blob(large)), (279, 4, len(large)),
    ]
    lossless = lossless_jpeg(mosaic(12), components=2)
    raw = [(259, 3, 6), (273, 4, Blob(lossless)), (279, 4, len(lossless)), (50752, 3, [0, 0, WIDTH])]
    write("canon.cr2", File(after=b"CR\2\0" + bytes(4)).write(cr2, exif_preview(small), exif_preview(medium), raw))
    orf = raw_directory(mosaic(12), 16, 1, more=camera("OLYMPUS IMAGING CORP.", "E-PL1", 3))
    write("olympus.orf", File(start=b"IIRO").write(orf, exif_preview(medium)))


def lossless_jpeg(samples, bits=12, components=1):
    """Lossless JPEG: a row has several components in turn, each predicted by the one before it; all Huffman codes have 5 bits."""
    height, width = samples.shape[0], samples.shape[1] // components
    values = samples.astype(int).reshape(height, width, components)
    predicted = np.zeros_like(values)
    predicted[:, 1:] = values[:, :-1]
    predicted[1:, 0] = values[:-1, 0]
    predicted[0, 0] = 1 << (bits - 1)
    text = []
    for difference in (values - predicted).reshape(-1).tolist():
        length = abs(difference).bit_length()
        text.append(format(length, "05b"))
        if length:
            text.append(format(difference if difference > 0 else difference + (1 << length) - 1, f"0{length}b"))
    text = "".join(text)
    text += "1" * (-len(text) % 8)
    data = int(text, 2).to_bytes(len(text) // 8, "big").replace(b"\xff", b"\xff\0")
    table = bytes([0, 0, 0, 0, 0, 17] + [0] * 11) + bytes(range(17))
    numbers = range(1, components + 1)
    frame = struct.pack(">BHHB", bits, height, width, components) + b"".join(bytes([number, 0x11, 0]) for number in numbers)
    scan = bytes([components]) + b"".join(bytes([number, 0]) for number in numbers) + bytes([1, 0, 0])
    segments = ((0xC4, table), (0xC3, frame), (0xDA, scan))
    return b"\xff\xd8" + b"".join(struct.pack(">BBH", 255, marker, 2 + len(body)) + body for marker, body in segments) + data + b"\xff\xd9"


def of_exiftool(folder):
    for name, origin in (
        ("fujifilm.raf", "FujiFilm.raf"), ("panasonic.rw2", "Panasonic.rw2"), ("canon350d.dng", "DNG.dng"),
        ("d70.nef", "Nikon.nef"),
    ):
        write(name, (Path(folder) / "t/images" / origin).read_bytes())


def of_cr3(folder):
    """Appends the box of a preview: the camera's own is empty."""
    data = jpeg(WIDTH, HEIGHT)
    box = struct.pack(">4H", 1, WIDTH, HEIGHT, 1) + struct.pack(">I", len(data)) + data
    box = struct.pack(">I4sI", 12 + len(box), b"PRVW", 0) + box
    identifier = bytes.fromhex("eaf42b5e1c984b88b9fbb7dc406e4d16")
    box = struct.pack(">I4s", 32 + len(box), b"uuid") + identifier + struct.pack(">2I", 0, 1) + box
    write("eosm50.cr3", (Path(folder) / "t/images/CanonRaw.cr3").read_bytes() + box)


def write(name, data):
    (OUT / name).write_bytes(data)


TURNS = {
    2: Image.FLIP_LEFT_RIGHT, 3: Image.ROTATE_180, 4: Image.FLIP_TOP_BOTTOM, 5: Image.TRANSPOSE, 6: Image.ROTATE_270, 7: Image.TRANSVERSE,
    8: Image.ROTATE_90,
}


def exiftool(path, *options):
    return subprocess.run(["exiftool", *options, str(path)], check=True, capture_output=True).stdout


def draw_preview(name, tag, is_upright=False):
    path = OUT / name
    image = Image.open(io.BytesIO(exiftool(path, "-b", f"-{tag}"))).convert("RGB")
    orientation = int(exiftool(path, "-n", "-s3", "-IFD0:Orientation") or 1)
    if orientation in TURNS and not is_upright:
        image = image.transpose(TURNS[orientation])
    write_anymap(OUT / (Path(name).stem + ".ppm"), np.asarray(image))


def develop(name, program):
    path = OUT / name
    for suffix, options in (("full", ["-q", "3"]), ("half", ["-h", "-t", "0"])):
        if suffix == "half" and name == "linear.dng":
            continue  # Nothing to halve: each pixel has all colours.
        target = OUT / f"{path.stem}-{suffix}.ppm"
        options = ["-w", "-o", "1", "-g", "2.4", "12.92", *options]
        if program == "dcraw":
            target.write_bytes(subprocess.run([program, *options, "-c", str(path)], check=True, capture_output=True).stdout)
        else:
            subprocess.run([program, *options, "-Z", str(target), str(path)], check=True)


if __name__ == "__main__":
    OUT.mkdir(parents=True, exist_ok=True)
    with_pidng()
    of_dng()
    of_cameras()
    of_exiftool(sys.argv[1])
    of_cr3(sys.argv[1])
    draw_preview("previews.dng", "SubIFD1:PreviewImage")
    draw_preview("turned.dng", "SubIFD1:PreviewImage", is_upright=True)
    draw_preview("linear.dng", "SubIFD:PreviewImage")
    draw_preview("nikon.nef", "SubIFD:JpgFromRaw")
    draw_preview("sony.arw", "PreviewImage")
    draw_preview("canon.cr2", "PreviewImage")
    draw_preview("olympus.orf", "ThumbnailImage")
    draw_preview("fujifilm.raf", "ThumbnailImage")  # Larger than the preview, from which ExifTool's author has cut the image.
    draw_preview("panasonic.rw2", "JpgFromRaw")
    draw_preview("eosm50.cr3", "PreviewImage")
    (OUT / "bitmap.ppm").write_bytes(subprocess.run(["dcraw", "-e", "-c", str(OUT / "bitmap.dng")], check=True, capture_output=True).stdout)
    (OUT / "strips.ppm").write_bytes((OUT / "bitmap.ppm").read_bytes())
    write_anymap(OUT / "grey.pgm", grey(48, 32))
    for name in ("pidng.dng", "lossless.dng", "previews.dng", "linear.dng"):
        develop(name, "dcraw")
    # dcraw knows other levels of black and white for these.
    for name in ("nikon.nef", "sony.arw", "canon.cr2"):
        develop(name, "dcraw_emu")
