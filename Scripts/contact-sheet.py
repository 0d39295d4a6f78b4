#!/usr/bin/python3
"""Lays out pictures in a grid on one PNG: contact-sheet.py OUTPUT PICTURE… [--columns 10] [--cell 150]"""

import argparse

from PIL import Image


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("output")
    parser.add_argument("pictures", nargs="+")
    parser.add_argument("--columns", type=int, default=10)
    parser.add_argument("--cell", type=int, default=150)
    options = parser.parse_args()
    gap = max(4, options.cell // 25)
    step = options.cell + gap
    columns = min(options.columns, len(options.pictures))
    rows = -(-len(options.pictures) // columns)
    sheet = Image.new("RGB", (columns * step + gap, rows * step + gap), (38, 38, 40))
    for index, path in enumerate(options.pictures):
        with Image.open(path) as source:
            picture = source.convert("RGBA")
        picture.thumbnail((options.cell, options.cell), Image.LANCZOS)
        left = gap + index % columns * step + (options.cell - picture.width) // 2
        top = gap + index // columns * step + (options.cell - picture.height) // 2
        sheet.paste(picture, (left, top), picture)
    sheet.save(options.output)


if __name__ == "__main__":
    main()
