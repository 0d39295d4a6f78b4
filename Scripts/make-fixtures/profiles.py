"""Small ICC profiles that are not sRGB: RGB and grey with a gamma, CMYK with a table."""
import struct

import numpy as np

D50 = (0.9642, 1.0, 0.8249)


def s15(value):
    return struct.pack(">i", round(value * 65536))


def xyz(values):
    return b"XYZ \0\0\0\0" + b"".join(s15(v) for v in values)


def gamma(value):
    return b"curv\0\0\0\0" + struct.pack(">IH", 1, round(value * 256)) + b"\0\0"


def description(text):
    ascii_text = text.encode() + b"\0"
    return b"desc\0\0\0\0" + struct.pack(">I", len(ascii_text)) + ascii_text + bytes(8 + 3 + 67)


def profile(space, kind, tags, pcs=b"XYZ "):
    offset = 128 + 4 + 12 * len(tags)
    table, body = struct.pack(">I", len(tags)), b""
    for signature, data in tags:
        data += bytes(-len(data) % 4)
        table += signature + struct.pack(">II", offset + len(body), len(data))
        body += data
    header = struct.pack(">I4sI4s4s4s", offset + len(body), b"none", 0x02400000, kind, space, pcs)
    header += struct.pack(">6H", 2026, 1, 1, 0, 0, 0) + b"acsp" + bytes(28)
    header += b"".join(s15(v) for v in D50)
    return header + bytes(128 - len(header)) + table + body


def wide_rgb(padding=0):
    """Primaries of Display P3 with gamma 2.2; `padding` bytes in a private tag make it long."""
    tags = [
        (b"desc", description("Test wide RGB")), (b"cprt", b"text\0\0\0\0none\0"), (b"wtpt", xyz(D50)),
        (b"rXYZ", xyz((0.5151, 0.2412, -0.0011))), (b"gXYZ", xyz((0.2919, 0.6922, 0.0419))),
        (b"bXYZ", xyz((0.1572, 0.0666, 0.7841))),
        (b"rTRC", gamma(2.2)), (b"gTRC", gamma(2.2)), (b"bTRC", gamma(2.2)),
    ]
    if padding:
        noise = np.random.default_rng(3).integers(0, 256, padding, dtype=np.uint8).tobytes()
        tags.append((b"prvt", b"data\0\0\0\0\0\0\0\1" + noise))
    return profile(b"RGB ", b"mntr", tags)


def linear_rgb():
    """sRGB's primaries with a gamma of 1: of dark tones 8 bits keep nearly nothing."""
    tags = [
        (b"desc", description("Test linear RGB")), (b"cprt", b"text\0\0\0\0none\0"), (b"wtpt", xyz(D50)),
        (b"rXYZ", xyz((0.4360, 0.2225, 0.0139))), (b"gXYZ", xyz((0.3851, 0.7169, 0.0971))),
        (b"bXYZ", xyz((0.1431, 0.0606, 0.7141))),
        (b"rTRC", gamma(1.0)), (b"gTRC", gamma(1.0)), (b"bTRC", gamma(1.0)),
    ]
    return profile(b"RGB ", b"mntr", tags)


def gray():
    tags = [(b"desc", description("Test gray 1.6")), (b"cprt", b"text\0\0\0\0none\0"), (b"wtpt", xyz(D50)),
            (b"kTRC", gamma(1.6))]
    return profile(b"GRAY", b"mntr", tags)


def cmyk():
    """An 8-bit table from CMYK to Lab: inks multiply, and are a little dirty."""
    grid = np.linspace(0, 1, 6)
    c, m, y, k = np.meshgrid(grid, grid, grid, grid, indexing="ij")
    inks = np.array([[0.0, 0.55, 0.90], [0.85, 0.10, 0.50], [0.98, 0.92, 0.10], [0.12, 0.11, 0.10]])
    rgb = np.ones(c.shape + (3,))
    for amount, ink in zip((c, m, y, k), inks):
        rgb *= 1 - amount[..., None] * (1 - ink)
    linear = rgb ** 2.2
    to_xyz = np.array([[0.4361, 0.3851, 0.1431], [0.2225, 0.7169, 0.0606], [0.0139, 0.0971, 0.7141]])
    t = np.cbrt(np.maximum(linear @ to_xyz.T / np.array(D50), 0.008856))
    lab = np.stack([116 * t[..., 1] - 16, 500 * (t[..., 0] - t[..., 1]), 200 * (t[..., 1] - t[..., 2])], axis=-1)
    table = np.stack([lab[..., 0] * 2.55, lab[..., 1] + 128, lab[..., 2] + 128], axis=-1)
    table = table.round().clip(0, 255).astype(np.uint8).tobytes()
    identity = b"".join(s15(v) for v in (1, 0, 0, 0, 1, 0, 0, 0, 1))
    ramp = bytes(range(256))
    lut = b"mft1\0\0\0\0" + bytes([4, 3, 6, 0]) + identity + ramp * 4 + table + ramp * 3
    tags = [(b"desc", description("Test CMYK")), (b"cprt", b"text\0\0\0\0none\0"), (b"wtpt", xyz(D50)), (b"A2B0", lut)]
    return profile(b"CMYK", b"prtr", tags, pcs=b"Lab ")
