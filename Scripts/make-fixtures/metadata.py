#!/usr/bin/env python3
"""Makes Tests/Fixtures/Metadata with Pillow and exiftool: a JPEG, a PNG and a WebP with EXIF (with a thumbnail), XMP and, in JPEG, IPTC.

Needs requirements.txt, and the Debian package libimage-exiftool-perl.
"""

import io
import subprocess
import tempfile
from pathlib import Path

from PIL import Image

place = Path(__file__).resolve().parents[2] / "Tests/Fixtures/Metadata"


def picture(width, height):
    image = Image.new("RGB", (width, height))
    image.putdata([(4 * x % 256, 5 * y % 256, 80) for y in range(height) for x in range(width)])
    return image


def main():
    place.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        thumbnail = Path(folder) / "thumbnail.jpg"
        picture(16, 12).save(thumbnail, quality=80)
        for name, options in [("all.jpg", {"quality": 90}), ("all.png", {}), ("all.webp", {"quality": 90})]:
            path = place / name
            buffer = io.BytesIO()
            picture(40, 30).save(buffer, path.suffix[1:].replace("jpg", "jpeg"), **options)
            path.write_bytes(buffer.getvalue())
            arguments = [
                "-EXIF:Artist=Exif Artist", "-EXIF:Copyright=Exif Copyright", "-EXIF:Make=Exif Make", "-n", "-EXIF:Orientation=6",
                "-EXIF:ExifImageWidth=40", "-EXIF:ExifImageHeight=30", "-EXIF:GPSLatitude=12.5", "-EXIF:GPSLatitudeRef=N",
                "-XMP-dc:Rights=Xmp Rights", "-XMP-dc:Creator=Xmp Creator", "-XMP-dc:Title=Xmp Title",
                "-XMP-xmpRights:WebStatement=https://example.com/rights", "-XMP-photoshop:City=Xmp City", "-XMP-tiff:Orientation=6",
            ]
            if name == "all.jpg":
                arguments += [
                    f"-ThumbnailImage<={thumbnail}", "-IPTC:CodedCharacterSet=UTF8", "-IPTC:CopyrightNotice=Iptc Copyright",
                    "-IPTC:By-line=Iptc Byline", "-IPTC:Credit=Iptc Credit", "-IPTC:Caption-Abstract=Iptc Caption",
                ]
            subprocess.run(["exiftool", "-q", "-overwrite_original", *arguments, str(path)], check=True)


if __name__ == "__main__":
    main()
