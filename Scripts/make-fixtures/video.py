"""Video fixtures, made by FFmpeg 5.1 (the Debian package ffmpeg), each with the frames that FFmpeg itself decodes and converts: the still at SECONDS as
`NAME-SECONDS.ppm`, upright and with square pixels. High dynamic range is tone-mapped by hdr.py.

| file | what it is |
|---|---|
| h264.mp4 | H.264 with B-frames, BT.709, index at the end |
| faststart.mp4 | the same with its index at the beginning |
| fragmented.mp4 | the same in fragments |
| h264.mov | H.264, BT.601, QuickTime |
| turned-90.mp4, turned-180.mp4, turned-270.mp4 | h264.mp4 with a display matrix |
| wide.mp4 | pixels 4:3, as of old televisions |
| black.mp4 | half a second of black at the beginning |
| dark.mp4 | nothing but black |
| one-group.mp4 | black at the beginning, and one keyframe only |
| full.mp4 | H.264 in full range, 4:4:4 |
| hevc.mp4 | HEVC, 8 bits |
| pq.mp4, hlg.mp4 | HEVC of 10 bits, BT.2020, PQ or HLG |
| av1.mp4, av1.webm | AV1 |
| vp8.webm, vp9.webm | VP8, VP9 |
| vp9.mkv, h264.mkv | Matroska |
| mpeg4.mp4, prores.mov, mjpeg.mov | older codecs |
| sound.mp4 | H.264 with sound and a cover |
"""
import subprocess
import tempfile
from pathlib import Path

import numpy as np

from hdr import to_levels, to_light
from picture import write_anymap

OUT = Path(__file__).resolve().parents[2] / "Tests/WebImageFormatsTests/Fixtures/Video"
SMOOTH = "gradients=s=96x64:r=10:d=2:c0=0x2040c0:c1=0xe0a020:x0=0:y0=0:x1=95:y1=63:nb_colors=2:seed=3:speed=0.1"
FLAGS = "flags=bicubic+accurate_rnd+full_chroma_int+full_chroma_inp"
H264 = ["-c:v", "libx264", "-preset", "slow", "-crf", "22", "-threads", "1", "-pix_fmt", "yuv420p"]
BT709 = ["-colorspace", "bt709", "-color_primaries", "bt709", "-color_trc", "bt709", "-color_range", "tv"]
BT601 = ["-colorspace", "smpte170m", "-color_primaries", "smpte170m", "-color_trc", "smpte170m", "-color_range", "tv"]


def ffmpeg(*words):
    command = ["ffmpeg", "-hide_banner", "-loglevel", "error", "-y", "-fflags", "+bitexact", *map(str, words)]
    subprocess.run(command, check=True)


def make(name, *options, source=SMOOTH, filters="", matrix="bt709", more=()):
    """Converts the source, whose colours are sRGB numbers, by a matrix."""
    full = "full" if "pc" in options else "limited"
    steps = f"drawbox=x=0:y=0:w=12:h=8:c=yellow:t=fill{filters},scale=out_color_matrix={matrix}:out_range={full}"
    ffmpeg("-f", "lavfi", "-i", source, *more, "-vf", steps, "-flags:v", "+bitexact", *options, OUT / name)


def copied(source, name, *options, before=()):
    ffmpeg(*before, "-i", OUT / source, "-c", "copy", "-flags:v", "+bitexact", *options, OUT / name)


def still(name, seconds, filters="", transfer=None):
    """The frame that is shown at a time at which it begins."""
    steps = f"{filters}scale=in_color_matrix=auto:{FLAGS}"
    path = OUT / f"{name}-{seconds}.ppm"
    ffmpeg("-i", OUT / name, "-ss", seconds, "-frames:v", 1, "-vf", steps, "-pix_fmt", "rgb48be" if transfer else "rgb24", "-f", "image2", "-c:v", "ppm", path)
    if transfer:
        _, size, _, numbers = path.read_bytes().split(b"\n", 3)
        width, height = map(int, size.split())
        codes = np.frombuffer(numbers, ">u2").reshape(height, width, 3) / 65535
        write_anymap(path, to_levels(to_light(codes, 9, transfer), True))


if __name__ == "__main__":
    OUT.mkdir(parents=True, exist_ok=True)
    for old in OUT.iterdir():
        old.unlink()
    make("h264.mp4", *H264, *BT709)
    copied("h264.mp4", "faststart.mp4", "-movflags", "+faststart")
    copied("h264.mp4", "fragmented.mp4", "-movflags", "+frag_keyframe+empty_moov+default_base_moof")
    make("h264.mov", *H264, *BT601, matrix="smpte170m")
    for turn in 90, 180, 270:
        copied("h264.mp4", f"turned-{turn}.mp4", "-metadata:s:v:0", f"rotate={turn}")
    make("wide.mp4", *H264, *BT709, filters=",setsar=4/3")
    black = ",fade=in:st=0.5:d=0.001"
    make("black.mp4", *H264, *BT709, "-g", 6, "-sc_threshold", 0, filters=black)
    make("one-group.mp4", *H264, *BT709, "-g", 999, "-sc_threshold", 0, filters=black)
    ffmpeg("-f", "lavfi", "-i", "color=c=black:s=96x64:r=10:d=2", "-flags:v", "+bitexact", *H264, OUT / "dark.mp4")
    make("full.mp4", *H264, "-pix_fmt", "yuv444p", "-colorspace", "bt709", "-color_primaries", "bt709", "-color_trc", "bt709", "-color_range", "pc")
    x265 = ["-c:v", "libx265", "-crf", "22", "-tag:v", "hvc1"]
    make("hevc.mp4", *x265, "-pix_fmt", "yuv420p", *BT709, "-x265-params", "log-level=none:pools=none:frame-threads=1")
    for name, code in ("pq", "smpte2084"), ("hlg", "arib-std-b67"):
        make(f"{name}.mp4", *x265, "-pix_fmt", "yuv420p10le", "-colorspace", "bt2020nc", "-color_primaries", "bt2020", "-color_trc", code, "-color_range", "tv",
             "-x265-params", "log-level=none:pools=none:frame-threads=1", matrix="bt2020")
    av1 = ["-c:v", "libaom-av1", "-crf", "28", "-cpu-used", "6", "-threads", "1", "-pix_fmt", "yuv420p", *BT709]
    make("av1.mp4", *av1)
    copied("av1.mp4", "av1.webm")
    make("vp8.webm", "-c:v", "libvpx", "-crf", "10", "-b:v", "1M", "-threads", "1", "-pix_fmt", "yuv420p", *BT601, matrix="smpte170m")
    make("vp9.webm", "-c:v", "libvpx-vp9", "-crf", "24", "-b:v", "0", "-threads", "1", "-pix_fmt", "yuv420p", *BT709)
    copied("vp9.webm", "vp9.mkv")
    copied("h264.mp4", "h264.mkv")
    make("mpeg4.mp4", "-c:v", "mpeg4", "-qscale:v", "3", *BT601, matrix="smpte170m")
    make("prores.mov", "-c:v", "prores_ks", "-profile:v", "proxy", "-vendor", "apl0", *BT709, "-t", "0.4")
    make("mjpeg.mov", "-c:v", "mjpeg", "-qscale:v", "3", "-pix_fmt", "yuvj420p", "-color_range", "pc", "-colorspace", "smpte170m", "-t", "0.4", matrix="smpte170m")
    with tempfile.TemporaryDirectory() as place:
        ffmpeg("-f", "lavfi", "-i", "color=c=lime:s=40x40", "-frames:v", 1, f"{place}/cover.png")
        ffmpeg("-i", OUT / "h264.mp4", "-f", "lavfi", "-i", "sine=d=2", "-i", f"{place}/cover.png", "-map", "2", "-map", "1", "-map", "0", "-c", "copy", "-c:a", "aac", "-b:a",
               "24k", "-disposition:v:0", "attached_pic", "-flags", "+bitexact", OUT / "sound.mp4")
    for name in ["h264.mp4", "faststart.mp4", "fragmented.mp4", "hevc.mp4", "av1.mp4", "av1.webm", "vp9.webm", "vp9.mkv", "h264.mkv"]:
        for seconds in "0", "1.1":
            still(name, seconds)
    for name in ["h264.mov", "vp8.webm", "mpeg4.mp4"]:
        still(name, "1.1")
    for name in ["turned-90.mp4", "turned-180.mp4", "turned-270.mp4"]:
        still(name, "1.1")
    still("sound.mp4", "1.1")
    still("wide.mp4", "1.1", filters=f"scale=iw*sar:ih:in_color_matrix=auto:{FLAGS},")
    for name in ["black.mp4", "one-group.mp4"]:
        still(name, "0.6")
    still("full.mp4", "1.1")
    for name in ["prores.mov", "mjpeg.mov"]:
        still(name, "0.2")
    still("pq.mp4", "1.1", transfer=16)
    still("hlg.mp4", "1.1", transfer=18)
