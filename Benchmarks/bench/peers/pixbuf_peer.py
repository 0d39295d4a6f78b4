"""pixbuf_peer.py fast QUALITY URLS DIRECTORY: thumbnails with GdkPixbuf, which uses DCT scaling and a bilinear filter."""

import sys

import gi

gi.require_version("GdkPixbuf", "2.0")
from gi.repository import GdkPixbuf, Gio, GLib  # noqa: E402
import workers  # noqa: E402

_, quality, urls, directory = sys.argv[1:]


def make(body, name):
    stream = Gio.MemoryInputStream.new_from_bytes(GLib.Bytes.new(body))
    picture = GdkPixbuf.Pixbuf.new_from_stream_at_scale(stream, 300, 300, True, None)
    picture.savev(f"{directory}/{name}", "jpeg", ["quality"], [quality])


workers.run(urls, make)
