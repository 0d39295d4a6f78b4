"""Writes HEIC by libheif itself: heif-enc 1.15.1 leaves out code points (colr) and turns (irot, imir)."""
import ctypes
import struct
from pathlib import Path
from ctypes import POINTER, Structure, byref, c_char_p, c_float, c_int, c_size_t, c_uint8, c_void_p

import numpy as np

HEVC, RGB, INTERLEAVED = 1, 1, 10


class Error(Structure):
    _fields_ = [("code", c_int), ("subcode", c_int), ("message", c_char_p)]


class CodePoints(Structure):
    _fields_ = [("version", c_uint8), ("primaries", c_int), ("transfer", c_int), ("matrix", c_int), ("full_range", c_uint8),
                ("chromaticities", c_float * 8)]


class Options(Structure):
    _fields_ = [("version", c_uint8), ("alpha", c_uint8), ("macos", c_uint8), ("two_colr", c_uint8),
                ("code_points", POINTER(CodePoints)), ("macos_no_nclx", c_uint8), ("orientation", c_int)]


library = ctypes.CDLL("libheif.so.1")
library.heif_context_alloc.restype = c_void_p
library.heif_encoding_options_alloc.restype = POINTER(Options)
library.heif_nclx_color_profile_alloc.restype = POINTER(CodePoints)
library.heif_image_get_plane.restype = c_void_p


def call(name, *arguments):
    function = getattr(library, name)
    function.restype = Error
    error = function(*arguments)
    if error.code:
        raise RuntimeError(f"{name}: {error.message}")


def write(path, pixels, bits=8, quality=None, chroma="444", code_points=(1, 13, 6, 1), orientation=1, premultiplied=False):
    """RGB or RGBA; of more than 8 bits uint16. Without a quality nothing is lost. `code_points`: primaries, transfer, matrix, range."""
    height, width, channels = pixels.shape
    layout = {(3, 8): 10, (4, 8): 11, (3, 10): 14, (4, 10): 15, (3, 12): 14, (4, 12): 15}[channels, bits]
    context, encoder, image = c_void_p(library.heif_context_alloc()), c_void_p(), c_void_p()
    call("heif_context_get_encoder_for_format", context, HEVC, byref(encoder))
    if quality is None:
        call("heif_encoder_set_lossless", encoder, 1)
    else:
        call("heif_encoder_set_lossy_quality", encoder, quality)
    call("heif_encoder_set_parameter_string", encoder, b"chroma", chroma.encode())
    call("heif_image_create", width, height, RGB, layout, byref(image))
    call("heif_image_add_plane", image, INTERLEAVED, width, height, bits)
    library.heif_image_set_premultiplied_alpha(image, int(premultiplied))
    stride = c_int()
    plane = library.heif_image_get_plane(image, INTERLEAVED, byref(stride))
    rows = np.ascontiguousarray(pixels)
    for row in range(height):
        ctypes.memmove(plane + row * stride.value, rows[row].tobytes(), rows[row].nbytes)
    options, points = library.heif_encoding_options_alloc(), library.heif_nclx_color_profile_alloc()
    points.contents.primaries, points.contents.transfer, points.contents.matrix, points.contents.full_range = code_points
    call("heif_image_set_nclx_color_profile", image, points)
    options.contents.code_points = points
    options.contents.macos = 0
    options.contents.macos_no_nclx = 0
    options.contents.orientation = orientation
    call("heif_context_encode_image", context, image, encoder, options, c_void_p())
    call("heif_context_write_to_file", context, str(path).encode())
    conform(Path(path))


def conform(path):
    """Mends what 1.15.1 writes and 1.23 refuses. Where it crops, `ispe` has the size after that instead of the size as coded, and stands behind
    what changes the image."""
    file = bytearray(path.read_bytes())
    crop = file.find(b"clap") + 4
    if crop < 4:
        return
    width, _, height, _, x, x_by, y, y_by = struct.unpack_from(">8i", file, crop)
    place = -1
    while (place := file.find(b"ispe", place + 1)) >= 0:
        struct.pack_into(">2I", file, place + 8, width - 2 * x // x_by, height - 2 * y // y_by)
    properties, place = [b""], file.find(b"ipco")
    end = place - 4 + struct.unpack_from(">I", file, place - 4)[0]
    place += 4
    while place < end:
        length, kind = struct.unpack_from(">I4s", file, place)
        properties.append(kind)
        place += length
    place = file.find(b"ipma") + 12
    for _item in range(struct.unpack_from(">I", file, place - 4)[0]):
        count = file[place + 2]
        numbers = file[place + 3 : place + 3 + count]
        file[place + 3 : place + 3 + count] = sorted(numbers, key=lambda number: properties[number & 127] in (b"clap", b"irot", b"imir"))
        place += 3 + count
    path.write_bytes(file)
