"""High dynamic range: the definition in Sources/WebImageCodecs/README.md once more, in numpy and double precision, and fixtures of PQ and HLG
in AVIF, HEIC and JPEG XL and of PNG with 16 bits, whose expected values it computes from the numbers in the files as avifdec,
heif-convert and djxl give them (or that went in, where nothing is lost)."""
import sys
import tempfile
from pathlib import Path

import numpy as np

WHITE, PEAK = 203.0, 1000.0
PRIMARIES = {
    1: [(0.64, 0.33), (0.30, 0.60), (0.15, 0.06)],
    9: [(0.708, 0.292), (0.170, 0.797), (0.131, 0.046)],
    12: [(0.680, 0.320), (0.265, 0.690), (0.150, 0.060)],
}
D65 = (0.3127, 0.3290)


def rgb_to_xyz(primaries):
    xyz = np.array([[x / y, 1, (1 - x - y) / y] for x, y in primaries]).T
    white = np.array([D65[0] / D65[1], 1, (1 - D65[0] - D65[1]) / D65[1]])
    return xyz * np.linalg.solve(xyz, white)


def to_bt709(light, primaries):
    matrix = np.linalg.inv(rgb_to_xyz(PRIMARIES[1])) @ rgb_to_xyz(PRIMARIES[primaries])
    return light @ matrix.T


def pq_eotf(code):
    m1, m2, c1, c2, c3 = 2610 / 16384, 2523 / 32, 3424 / 4096, 2413 / 128, 2392 / 128
    power = np.maximum(code, 0) ** (1 / m2)
    return 10000 * (np.maximum(power - c1, 0) / (c2 - c3 * power)) ** (1 / m1)


def pq_inverse(light):
    m1, m2, c1, c2, c3 = 2610 / 16384, 2523 / 32, 3424 / 4096, 2413 / 128, 2392 / 128
    power = (np.maximum(light, 0) / 10000) ** m1
    return ((c1 + c2 * power) / (1 + c3 * power)) ** m2


def hlg_light(code, primaries):
    """BT.2100: inverse OETF, then the OOTF of a screen of 1000 cd/m2."""
    a = 0.17883277
    b, c = 1 - 4 * a, 0.5 - a * np.log(4 * a)
    scene = np.where(code <= 0.5, code**2 / 3, (np.exp((code - c) / a) + b) / 12)
    luminance = scene @ rgb_to_xyz(PRIMARIES[primaries])[1]
    return PEAK * scene * np.maximum(luminance, 1e-300)[..., None] ** 0.2


def srgb_oetf(light):
    return np.where(light <= 0.0031308, 12.92 * light, 1.055 * np.maximum(light, 0.0031308) ** (1 / 2.4) - 0.055)


def srgb_eotf(code):
    return np.where(code <= 0.04045, code / 12.92, ((np.maximum(code, 0.04045) + 0.055) / 1.055) ** 2.4)


def extended(light):
    return np.sign(light) * srgb_oetf(np.abs(light))


def tone(light):
    """BT.2390's EETF from 1000 to 203 cd/m2, black at 0."""
    top = pq_inverse(PEAK)
    limit = pq_inverse(WHITE) / top
    knee = 1.5 * limit - 0.5
    code = np.minimum(pq_inverse(light * WHITE) / top, 1)
    t = (code - knee) / (1 - knee)
    spline = (2 * t**3 - 3 * t**2 + 1) * knee + (t**3 - 2 * t**2 + t) * (1 - knee) + (-2 * t**3 + 3 * t**2) * limit
    return pq_eotf(np.where(code > knee, spline, code) * top) / WHITE


def to_light(code, primaries, transfer):
    """In the primaries of sRGB, 1 is reference white."""
    if transfer == 16:
        light = pq_eotf(code) / WHITE
    elif transfer == 18:
        light = hlg_light(code, primaries) / WHITE
    else:
        light = srgb_eotf(code) if transfer == 13 else code ** {4: 2.2, 8: 1}[transfer]
    return to_bt709(light, primaries)


def to_levels(light, tone_maps):
    if tone_maps:
        brightest = np.maximum(light.max(axis=-1, keepdims=True), 1e-12)
        light = light * tone(brightest) / brightest
    return (srgb_oetf(light.clip(0, 1)) * 255).round().astype(np.uint8)


def cicp_to_srgb(pixels, primaries, transfer):
    return to_levels(to_light(pixels / 255.0, primaries, transfer), False)


def test_codes(width, height, bits):
    """Greys from black to the end of the scale, and saturated colours at all strengths."""
    most = 2**bits - 1
    codes = np.zeros((height, width, 3))
    ramp = np.linspace(0, 1, width)
    weights = [(1, 1, 1), (1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 0.2), (0.3, 1, 1), (1, 0.5, 0.8), (0.9, 0.95, 1)]
    for row in range(height):
        codes[row] = ramp[:, None] * np.array(weights[row % len(weights)])
    return np.round(codes * most).astype(np.uint16)


def main():
    import libheif
    from picture import alpha, picture, write_anymap
    from reference import chunk, read_png16, run, write_png16

    out = Path(__file__).resolve().parents[2] / "Tests/WebImageFormatsTests/Fixtures/HDR"
    out.mkdir(parents=True, exist_ok=True)
    for old in out.iterdir():
        old.unlink()

    def expect(name, codes, primaries, transfer, mask=None, tone_maps=True):
        """Codes 0...1; writes the 8-bit picture, and the half floats (premultiplied, in extended sRGB)."""
        light = to_light(codes, primaries, transfer)
        levels = to_levels(light, tone_maps)
        numbers = extended(light)
        cover = np.ones(levels.shape[:2]) if mask is None else mask
        write_anymap(out / f"{name}.pam", levels if mask is None else np.dstack([levels, (cover * 255).round().astype(np.uint8)]))
        halves = np.dstack([numbers * cover[..., None], cover]).astype("<f2")
        (out / f"{name}.half").write_bytes(halves.tobytes())

    width, height = 32, 8
    mask = alpha(width, height) / 255.0
    with tempfile.TemporaryDirectory() as directory:
        png, back = f"{directory}/in.png", f"{directory}/out.png"

        def avif(name, bits, primaries, transfer, has_alpha=False):
            codes = test_codes(width, height, bits)
            stored = (codes.astype(np.float64) * 65535 / (2**bits - 1)).round().astype(np.uint16)
            if has_alpha:
                stored = np.dstack([stored, (mask * 65535).round().astype(np.uint16)])
            write_png16(png, stored)
            run("avifenc", "-s", "6", "-j", "1", "-d", bits, "-y", "444", "--cicp", f"{primaries}/{transfer}/0", "--min", 0, "--max", 0,
                "--minalpha", 0, "--maxalpha", 0, "-r", "full", png, out / f"{name}.avif")
            run("avifdec", "-d", 16, out / f"{name}.avif", back)
            decoded = read_png16(back, 4 if has_alpha else 3) / 65535.0
            cover = decoded[:, :, 3] if has_alpha else None
            expect(name, decoded[:, :, :3], primaries, transfer, cover, transfer in (16, 18))

        avif("pq-bt2020", 10, 9, 16)
        avif("pq-p3-alpha", 12, 12, 16, True)
        avif("hlg-bt2020", 10, 9, 18)
        avif("sdr-10bit", 10, 1, 13)
        avif("sdr-p3-10bit", 10, 12, 13)

        codes = test_codes(width, height, 16)
        write_png16(png, codes)
        for name, space, primaries, transfer in [("pq-jxl", "RGB_D65_202_Per_PeQ", 9, 16), ("hlg-jxl", "RGB_D65_202_Per_HLG", 9, 18),
                                                 ("linear-jxl", "RGB_D65_SRG_Per_Lin", 1, 8)]:
            run("cjxl", png, out / f"{name}.jxl", "-d", 0, "-e", 3, "-x", f"color_space={space}")
            expect(name, codes / 65535.0, primaries, transfer, tone_maps=transfer in (16, 18))
        run("cjxl", png, out / "pq-jxl-lossy.jxl", "-d", 0.5, "-e", 3, "-x", "color_space=RGB_D65_202_Per_PeQ")
        run("djxl", out / "pq-jxl-lossy.jxl", back, "--bits_per_sample", 16)
        expect("pq-jxl-lossy", read_png16(back, 3) / 65535.0, 9, 16)

        codes = test_codes(width, height, 10)
        libheif.write(out / "pq-heic.heic", codes, bits=10, code_points=(9, 16, 0, 1))
        expect("pq-heic", codes / 1023.0, 9, 16)

    codes = test_codes(width, height, 16)
    write_png16(out / "pq-png.png", codes, chunk(b"cICP", bytes([9, 16, 0, 1])))
    expect("pq-png", codes / 65535.0, 9, 16)

    # PNG of 16 bits is SDR: as it is, rounded to 8 bits or to half floats.
    deep = (picture(24, 18).astype(np.uint16) * 257 + np.random.default_rng(5).integers(-90, 90, (18, 24, 3))).clip(0, 65535)
    cover = alpha(24, 18).astype(np.uint16) * 257
    for name, pixels in [("png16-rgb", deep), ("png16-rgba", np.dstack([deep, cover])), ("png16-gray", deep[:, :, 1])]:
        write_png16(out / f"{name}.png", pixels.astype(np.uint16))
        values = np.dstack([pixels] * 3) / 65535.0 if pixels.ndim == 2 else pixels[:, :, :3] / 65535.0
        opacity = pixels[:, :, 3] / 65535.0 if pixels.ndim == 3 and pixels.shape[2] == 4 else np.ones(pixels.shape[:2])
        (out / f"{name}.half").write_bytes(np.dstack([values * opacity[..., None], opacity]).astype("<f2").tobytes())
        eight = (np.dstack([values, opacity]) * 255).round().astype(np.uint8)
        write_anymap(out / f"{name}.pam", eight)


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent))
    main()
