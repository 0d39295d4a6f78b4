"""How near thumbnails come to a full decode scaled with Lanczos."""

import concurrent.futures
import math
import os

import numpy
from PIL import Image


def luma(picture):
    return numpy.asarray(picture.convert("RGB").convert("L"), numpy.float64)


def of_one(arguments):
    folders, path = arguments
    with Image.open(path) as source:
        original = source.convert("RGB")
    results = []
    for folder in folders:
        with Image.open(folder / path.name) as thumbnail:
            reference = original.resize(thumbnail.size, Image.LANCZOS)
            error = ((luma(thumbnail) - luma(reference)) ** 2).mean()
        results.append(10 * math.log10(255**2 / max(error, 1e-9)))
    return results


def of_folders(folders, pictures):
    """The mean over the pictures, for each folder of thumbnails."""
    with concurrent.futures.ProcessPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(of_one, [(folders, path) for path in pictures], chunksize=8))
    return [float(numpy.mean(column)) for column in zip(*results)]
