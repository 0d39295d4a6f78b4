"""Pictures of 120 x 90 pixels for the tests that try every decode option on every format; PNG, GIF and WebP have theirs."""
from pathlib import Path

from PIL import Image

from picture import picture

OUT = Path(__file__).resolve().parents[2] / "Tests/Fixtures/Options"

OUT.mkdir(parents=True, exist_ok=True)
photo = Image.fromarray(picture(120, 90))
photo.save(OUT / "photo.jpg", quality=85)
photo.save(OUT / "photo-progressive.jpg", quality=85, progressive=True)
photo.convert("L").save(OUT / "photo-gray.jpg", quality=85)
photo.convert("CMYK").save(OUT / "photo-cmyk.jpg", quality=85)
