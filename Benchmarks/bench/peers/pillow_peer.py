"""pillow_peer.py high|fast QUALITY URLS DIRECTORY: thumbnails with Pillow's draft mode (DCT scaling) and its resampler."""

import io
import sys

from PIL import Image
import workers

mode, quality, urls, directory = sys.argv[1:]
FILTER, GAP = (Image.LANCZOS, 2.0) if mode == "high" else (Image.BOX, 1.0)


def make(body, name):
    picture = Image.open(io.BytesIO(body))
    picture.thumbnail((300, 300), FILTER, reducing_gap=GAP)
    picture.convert("RGB").save(f"{directory}/{name}", "JPEG", quality=int(quality))


workers.run(urls, make)
