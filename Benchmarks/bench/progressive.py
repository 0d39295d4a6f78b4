"""Decoding pictures while they arrive, previews included, beside decoding them at once.

A preview of a progressive JPEG or of a JPEG XL draws the whole picture: of these the library makes one where it makes three of others."""

from .model import Contract, Row
from .workshop import column

ONCE = "decoded at once"
KINDS = {
    "jpeg": ("JPEG", 3, 1.3),
    "progressive-jpeg": ("progressive JPEG", 1, 1.3),
    "png": ("PNG", 3, 1.3),
    "interlaced-png": ("interlaced PNG", 3, 1.3),
    "webp": ("WebP", 3, 1.3),
    "gif": ("GIF", 3, 1.3),
    "jxl": ("JPEG XL", 1, 1.3),
}


def rows(shop):
    for megapixels in (1,) if shop.quick else (1, 12):
        iterations = (10 if shop.quick else 30) // megapixels + 3
        results = shop.in_turns({
            kind: lambda kind=kind, previews=previews: shop.ours(
                "progressive-bench", iterations, previews, shop.picture(kind, megapixels))
            for kind, (_, previews, _) in KINDS.items()
        })
        for kind, (name, previews, limit) in KINDS.items():
            yield Row(f"progressive-{kind}-{megapixels}",
                      f"{megapixels}-megapixel {name} in pieces of 16 KiB, with {previews} preview{'s'[:previews > 1]}, CPU", "ms",
                      column(results[kind], "pieces"), peers={ONCE: column(results[kind], "whole")},
                      contracts=[Contract("<=", limit, ONCE)], in_chart=False)
