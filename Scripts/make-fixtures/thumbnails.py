"""Thumbnails as programs of desktops write them, for the same photo: GNOME's library (tEXt), and Qt as KDE calls it (zTXt for texts of 40
characters and more). Made with gnome-desktop 43.2 and Qt 5.15.8, by Debian's /usr/bin/python3 (python3-gi, gir1.2-gnomedesktop-4.0,
python3-pyqt5)."""
import os
import pathlib
import shutil
import tempfile

OUT = pathlib.Path(__file__).resolve().parents[2] / "Tests/Fixtures/Thumbnails"
PHOTO = OUT.parent / "JPEG/photo.jpg"
# In the texts. The file is there only while this runs.
PLACE = pathlib.Path("/tmp/webimage fixtures/A photo; (1) [\u00f6].jpg")
TIME = 1_700_000_000


def by_gnome(cache):
    os.environ["XDG_CACHE_HOME"] = cache
    import gi
    gi.require_version("GnomeDesktop", "4.0")
    from gi.repository import GdkPixbuf, Gio, GnomeDesktop
    factory = GnomeDesktop.DesktopThumbnailFactory.new(GnomeDesktop.DesktopThumbnailSize.LARGE)
    pixels = GdkPixbuf.Pixbuf.new_from_file_at_size(str(PLACE), 256, 256)
    uri = Gio.File.new_for_path(str(PLACE)).get_uri()
    factory.save_thumbnail(pixels, uri, TIME)
    (made,) = pathlib.Path(cache, "thumbnails/large").iterdir()
    print(uri, made.name)
    shutil.copy(made, OUT / "gnome.png")
    factory.create_failed_thumbnail(uri, TIME)
    (failed,) = pathlib.Path(cache, "thumbnails/fail").glob("*/*")
    print(failed.parent.name)
    return uri


def by_qt(uri):
    from PyQt5.QtCore import Qt
    from PyQt5.QtGui import QImage
    image = QImage(str(PLACE)).scaled(256, 256, Qt.KeepAspectRatio, Qt.SmoothTransformation)
    # As KIO's PreviewJob does.
    image.setText("Thumb::URI", uri)
    image.setText("Thumb::MTime", str(TIME))
    image.setText("Thumb::Size", str(PLACE.stat().st_size))
    image.setText("Thumb::Mimetype", "image/jpeg")
    image.setText("Software", "KDE Thumbnail Generator Images (GIF, PNG, BMP, ...)")
    image.save(str(OUT / "kde.png"), "png")


if __name__ == "__main__":
    OUT.mkdir(exist_ok=True)
    PLACE.parent.mkdir(exist_ok=True)
    shutil.copy(PHOTO, PLACE)
    os.utime(PLACE, (TIME, TIME))
    with tempfile.TemporaryDirectory() as cache:
        by_qt(by_gnome(cache))
    shutil.rmtree(PLACE.parent)
