"""The whole way: 200 URLs on loopback to 300 pixel JPEG thumbnails on disk, and 1000 little ones into the caches."""

import os
import shlex
import statistics

from . import cold, psnr
from .model import Contract, Row
from .workshop import BENCHMARKS, SYSTEM_PYTHON, call, column, nginx, parse

JPEG_QUALITY = 85
C_HIGH = "C: curl multi, DCT ≥ 2 ×, Lanczos"
C_FAST = "C: curl multi, DCT, box"
VIPS = "libvips: curl --parallel + vipsthumbnail"
PIXBUF = "GdkPixbuf (Python)"


def rows(shop):
    pictures = shop.pictures(200)[:40 if shop.quick else 200]
    with nginx(pictures[0].parent, shop.scratch / "nginx-pictures") as address:
        urls = shop.text_file("pictures.txt", [f"{address}/{path.name}" for path in pictures])
        yield from quality_rows(shop, "high", pictures, urls)
        yield from quality_rows(shop, "fast", pictures, urls)
    yield from cold.rows(shop)


def quality_rows(shop, quality, pictures, urls):
    cores = os.cpu_count()
    runs = {
        "ours": lambda: mean(shop, lambda: shop.ours("pipeline-bench", quality, JPEG_QUALITY, urls, shop.folder("ours"))),
        "C": lambda: mean(shop, lambda: shop.c("thumbnail-pipeline", quality, cores, JPEG_QUALITY, urls, shop.folder("C"))),
    }
    pillow = None
    if not shop.quick:
        simd = shop.pillow_simd()
        pillow = "Pillow-SIMD" if simd else "Pillow"
        runs["command"] = lambda: command_line(shop, quality, urls)
        runs["pillow"] = lambda: python_peer(shop, simd or SYSTEM_PYTHON, "pillow_peer.py", quality, urls)
        if quality == "high":
            runs["vips"] = lambda: curl_and_vips(shop, urls, cores)
        else:
            runs["pixbuf"] = lambda: python_peer(shop, SYSTEM_PYTHON, "pixbuf_peer.py", quality, urls)
    results = shop.in_turns(runs)

    name = "default quality" if quality == "high" else "fast quality"
    c = C_HIGH if quality == "high" else C_FAST
    peers, contracts = {c: column(results["C"], "pictures")}, [Contract(">=", 1.15 if quality == "high" else 0.97, c)]
    if pillow:
        peers[pillow] = column(results["pillow"], "pictures")
        peers["webimage get (the command)"] = column(results["command"], "pictures")
        if quality == "high":
            contracts.append(Contract(">", 1, pillow))
    if "vips" in results:
        peers[VIPS] = column(results["vips"], "pictures")
        contracts.append(Contract(">", 1, VIPS))
    if "pixbuf" in results:
        peers[PIXBUF] = column(results["pixbuf"], "pictures")
        contracts.append(Contract(">=", 1.1, PIXBUF))
    title = f"{len(pictures)} URLs to thumbnails on disk, {name}"
    yield Row(f"pipeline-{quality}", title, "pictures/s", column(results["ours"], "pictures"), peers=peers,
              contracts=contracts, more_is_better=True)
    yield Row(f"pipeline-{quality}-memory", f"{title}, peak memory", "MB", column(results["ours"], "peak"),
              peers={c: column(results["C"], "peak")}, contracts=[Contract("<=", 50)], in_chart=False)
    ours, theirs = psnr.of_folders([shop.last_folder("ours"), shop.last_folder("C")], pictures)
    yield Row(f"pipeline-{quality}-psnr", f"Thumbnails of {name}, luma PSNR", "dB", [ours], peers={c: [theirs]},
              contracts=[Contract(">=", 34.9 if quality == "high" else 33.4)], more_is_better=True, in_chart=False,
              note="mean over the pictures, against a full decode and Pillow's Lanczos")


def mean(shop, run):
    reports = shop.in_a_row(run)
    return {"pictures": statistics.harmonic_mean(column(reports, "pictures")), "peak": max(column(reports, "peak"))}


def python_peer(shop, python, script, quality, urls):
    folder = shop.folder("python")
    return parse(call([python, "-B", BENCHMARKS / "bench" / "peers" / script, quality, JPEG_QUALITY, urls, folder]))


def command_line(shop, quality, urls):
    """Our own command, with its start and end, its cache off."""
    sources = urls.read_text().split()
    report = shop.measured([shop.webimage, "get", "--no-cache", "--quiet", "--thumbnail", "300x300", "--scaling", quality,
                            "--format", "jpeg", "--quality", JPEG_QUALITY, "-j", 10, "-o", shop.folder("command"),
                            *sources])
    return {"pictures": len(sources) / report["wall"], "peak": report["peak"], "cpu": report["cpu"]}


def curl_and_vips(shop, urls, cores):
    """Download everything, then make the thumbnails, a process per core."""
    originals, folder = shop.folder("originals"), shop.folder("vips")
    sources = urls.read_text().split()
    fetch = shop.text_file("curl.txt", [f'url = "{url}"\nremote-name' for url in sources])
    share = -(-len(sources) // cores)
    script = (f"cd {shlex.quote(str(originals))} && curl --silent --fail --parallel --parallel-immediate --parallel-max 6"
              f" --config {shlex.quote(str(fetch))} && ls | VIPS_CONCURRENCY=1 xargs -n {share} -P {cores}"
              f" vipsthumbnail --size 300x300 --output {shlex.quote(str(folder))}/%s.jpg[Q={JPEG_QUALITY}]")
    report = shop.measured(["sh", "-c", script])
    return {"pictures": len(sources) / report["wall"], "peak": report["peak"], "cpu": report["cpu"]}
