"""BlurHash vectors from Wolt's C implementation: strings of the images that ThumbHash's vectors have, and images made of strings."""
from pathlib import Path

import blurhash as reference
import numpy as np
from PIL import Image

from picture import write_anymap

FIXTURES = Path(__file__).resolve().parents[2] / "Tests/Fixtures"
OUT = FIXTURES / "BlurHash"
# Opaque, and small enough to be hashed without scaling.
IMAGES = ["landscape", "portrait", "square", "strip", "pixel", "plain"]
COMPONENTS = [(4, 3), (4, 4), (1, 1), (9, 9), (9, 1), (1, 9), (3, 5)]
# From the documentation of BlurHash and of Mastodon's API.
STRINGS = {
    "wolt-1": "LEHV6nWB2yk8pyo0adR*.7kCMdnj",
    "wolt-2": "LGF5]+Yk^6#M@-5c,1J5@[or[Q6.",
    "wolt-3": "L6PZfSi_.AyE_3t7t7R**0o#DgR4",
    "mastodon": "UFBWY:8_0Jxv4mx]t8t64.%M-:IUWGWAt6M}",
    "one": "00TSUA",
}


def show(name, code, width, height, punch=1):
    image = reference.decode(code, width, height, punch=punch)
    write_anymap(OUT / f"{name}.ppm", np.asarray(image))
    return f"{name} {code} {width} {height} {punch}\n"


OUT.mkdir(parents=True, exist_ok=True)
for old in OUT.iterdir():
    old.unlink()
encoded = ""
for name in IMAGES:
    for x, y in COMPONENTS:
        encoded += f"{name} {x} {y} {reference.encode(Image.open(FIXTURES / f'ThumbHash/{name}.pam'), x, y)}\n"
(OUT / "encoded.txt").write_text(encoded)
shown = ""
for name, code in STRINGS.items():
    shown += show(name, code, 32, 32)
shown += show("wolt-1-wide", STRINGS["wolt-1"], 50, 20)
shown += show("wolt-1-punch-3", STRINGS["wolt-1"], 32, 32, 3)
nine = reference.encode(Image.open(FIXTURES / "ThumbHash/square.pam"), 9, 9)
shown += show("nine", nine, 40, 40)
shown += show("pixel", STRINGS["mastodon"], 1, 1)
(OUT / "shown.txt").write_text(shown)
