"""How near thumbnails come to a full decode scaled with Lanczos."""

import concurrent.futures
import functools
import math
import os

import numpy
from PIL import Image


def values(picture, channels):
    return numpy.asarray(picture.convert("RGB").convert(channels), numpy.float64)


def of_one(folders, channels, path):
    with Image.open(path) as source:
        original = source.convert("RGB")
    results = []
    for folder in folders:
        with Image.open(folder / path.name) as thumbnail:
            reference = original.resize(thumbnail.size, Image.LANCZOS)
            error = ((values(thumbnail, channels) - values(reference, channels)) ** 2).mean()
        results.append(10 * math.log10(255**2 / max(error, 1e-9)))
    return results


def of_folders(folders, pictures, channels="L"):
    """The mean over the pictures, for each folder of thumbnails: of their luma, or of other channels such as RGB."""
    with concurrent.futures.ProcessPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(functools.partial(of_one, folders, channels), pictures, chunksize=8))
    return [float(numpy.mean(column)) for column in zip(*results)]
