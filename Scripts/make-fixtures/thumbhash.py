"""ThumbHash vectors from the Rust reference implementation: picture, hash in hex, and the picture made of the hash."""
from pathlib import Path

import fast_thumbhash as reference
import numpy as np
from PIL import Image

from picture import alpha, picture, write_anymap

OUT = Path(__file__).resolve().parents[2] / "Tests/Fixtures/ThumbHash"


def save(name, pixels, hashed=None):
    hashed = pixels if hashed is None else hashed
    if hashed.shape[2] == 3:
        hashed = np.dstack([hashed, np.full(hashed.shape[:2], 255, np.uint8)])
    height, width = hashed.shape[:2]
    code = bytes(reference.rgba_to_thumb_hash(width, height, hashed.tobytes()))
    write_anymap(OUT / f"{name}.pam", pixels)
    (OUT / f"{name}.txt").write_text(code.hex() + "\n")
    shown_width, shown_height, shown = reference.thumb_hash_to_rgba(code)
    write_anymap(OUT / f"{name}-shown.ppm", np.frombuffer(bytes(shown), np.uint8).reshape(shown_height, shown_width, 4))


OUT.mkdir(parents=True, exist_ok=True)
for old in OUT.iterdir():
    old.unlink()
save("landscape", picture(70, 40))
save("portrait", picture(30, 77))
save("square", picture(48, 48))
save("strip", picture(100, 3))
save("pixel", picture(16, 16)[8:9, 8:9])
save("plain", np.full((20, 30, 3), (200, 31, 90), np.uint8))
hard = np.where(alpha(50, 40) > 127, 255, 0).astype(np.uint8)
save("hard-alpha", np.dstack([picture(50, 40) * (hard[..., None] > 0), hard]))
save("soft-alpha", np.dstack([picture(40, 55), alpha(40, 55)]))
large = picture(200, 150)
save("large", large, np.asarray(Image.fromarray(large).resize((100, 75), Image.Resampling.LANCZOS)))
