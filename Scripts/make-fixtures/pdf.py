"""PDF fixtures, each made by another program, with the pixels that pdftoppm 22.12 (poppler's Splash renderer) draws of their pages: page 1 at its own size
as `NAME.ppm`, page N as `NAME-page-N.ppm`, at other sizes as `NAME-WxH.ppm`. All text is in embedded fonts, so it does not depend on the machine's.
Needs requirements.txt, and the Debian packages fonts-dejavu-core, ghostscript, poppler-utils and qpdf.

| file | made by |
|---|---|
| cairo.pdf | cairo: gradients, clips, dashes, transparency, text |
| reportlab.pdf | reportlab: three pages of different sizes, text, a link, a form field |
| fpdf.pdf | fpdf2: a JPEG, a PNG with alpha |
| ghostscript.pdf | Ghostscript's pdfwrite, from cairo.pdf |
| objects.pdf | qpdf, from reportlab.pdf: object streams, linearised |
| turned.pdf | qpdf, from reportlab.pdf: pages rotated by 90, 180 and 270 degrees |
| cropped.pdf | pypdf, from cairo.pdf: a crop box inside the media box, rotated |
| owner.pdf | qpdf, from cairo.pdf: encrypted, with an owner's password only |
| locked.pdf | qpdf, from cairo.pdf: encrypted, needs the password `secret` |
"""
import io
import subprocess
import tempfile
from datetime import datetime, timezone
from pathlib import Path

import cairo
import fpdf
import pypdf
from PIL import Image, ImageFilter
from reportlab.lib.colors import Color
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen import canvas

from picture import alpha, picture

OUT = Path(__file__).resolve().parents[2] / "Tests/WebImageFormatsTests/Fixtures/PDF"
FONT = "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf"


def run(*command):
    subprocess.run([str(part) for part in command], check=True)


def draw(name, suffix, page=1, *options):
    """Draws with Splash, a renderer of poppler that the library does not use."""
    with tempfile.TemporaryDirectory() as place:
        run("pdftoppm", "-cropbox", "-f", page, "-l", page, "-singlefile", *(options or ("-r", 72)), OUT / f"{name}.pdf", f"{place}/page")
        (OUT / f"{name}{suffix}.ppm").write_bytes(Path(f"{place}/page.ppm").read_bytes())


def with_cairo():
    surface = cairo.PDFSurface(str(OUT / "cairo.pdf"), 60.4, 80)
    surface.set_metadata(cairo.PDFMetadata.CREATE_DATE, "2026-01-01T00:00:00Z")
    context = cairo.Context(surface)
    slope = cairo.LinearGradient(0, 0, 60, 0)
    slope.add_color_stop_rgb(0, 1, 0.5, 0)
    slope.add_color_stop_rgba(1, 0, 0.5, 1, 0.4)
    context.set_source(slope)
    context.rectangle(4, 5, 50, 18)
    context.fill()
    context.save()
    context.arc(42, 42, 12, 0, 6.3)
    context.clip()
    context.set_source_rgb(0, 0.5, 0.2)
    context.rectangle(30, 30, 30, 14)
    context.fill()
    context.restore()
    context.set_source_rgba(0.8, 0, 0, 0.5)
    context.arc(16, 42, 10, 0, 6.3)
    context.fill_preserve()
    context.set_source_rgb(0, 0, 0)
    context.set_dash([3, 1])
    context.stroke()
    context.select_font_face("DejaVu Sans")
    context.set_font_size(11)
    context.move_to(4, 72)
    context.show_text("Grüße 12")
    surface.finish()


def with_reportlab():
    pdfmetrics.registerFont(TTFont("DejaVu", FONT))
    page = canvas.Canvas(str(OUT / "reportlab.pdf"), pagesize=(80, 50), invariant=1)
    page.setFont("DejaVu", 12)
    page.drawString(5, 30, "Seite 1")
    page.linkURL("https://example.com/", (5, 28, 60, 42))
    page.acroForm.textfield(name="name", x=5, y=5, width=60, height=15, value="", borderWidth=1)
    page.showPage()
    page.setPageSize((40, 90))
    page.setFillColor(Color(0, 0.3, 0.8))
    page.roundRect(5, 5, 30, 60, 6, fill=1)
    page.setFont("DejaVu", 9)
    page.drawString(4, 75, "Page 2")
    page.showPage()
    page.setPageSize((64, 64))
    page.setFillColor(Color(0.9, 0.1, 0.1, 0.4))
    page.circle(26, 32, 20, stroke=0, fill=1)
    page.setFillColor(Color(0.1, 0.1, 0.9, 0.4))
    page.circle(40, 32, 20, stroke=0, fill=1)
    page.showPage()
    page.save()


def with_fpdf():
    document = fpdf.FPDF(unit="pt", format=(72, 72))
    document.set_creation_date(datetime(2026, 1, 1, tzinfo=timezone.utc))
    document.add_page()
    document.set_fill_color(220, 220, 60)
    document.rect(0, 36, 72, 36, style="F")
    photo, logo = io.BytesIO(), io.BytesIO()
    # Soft, because renderers scale images by different filters.
    soft = ImageFilter.GaussianBlur(3)
    Image.fromarray(picture(96, 64)).filter(soft).save(photo, "JPEG", quality=90)
    transparent = Image.fromarray(picture(40, 40, 2)).filter(soft).convert("RGBA")
    transparent.putalpha(Image.fromarray(alpha(40, 40)))
    transparent.save(logo, "PNG")
    document.image(photo, 4, 4, 48, 32)
    document.image(logo, 28, 28, 40, 40)
    document.output(str(OUT / "fpdf.pdf"))


def rewritten():
    place = OUT
    run("gs", "-q", "-dNOPAUSE", "-dBATCH", "-sDEVICE=pdfwrite", f"-sOutputFile={place}/ghostscript.pdf", place / "cairo.pdf")
    qpdf = ("qpdf", "--deterministic-id")
    run(*qpdf, "--object-streams=generate", "--linearize", place / "reportlab.pdf", place / "objects.pdf")
    run(*qpdf, "--rotate=90:1", "--rotate=180:2", "--rotate=270:3", place / "reportlab.pdf", place / "turned.pdf")
    run("qpdf", "--static-id", "--static-aes-iv", "--encrypt", "", "owner", "256", "--", place / "cairo.pdf", place / "owner.pdf")
    run("qpdf", "--static-id", "--static-aes-iv", "--encrypt", "secret", "owner", "256", "--", place / "cairo.pdf", place / "locked.pdf")
    writer = pypdf.PdfWriter(clone_from=place / "cairo.pdf")
    page = writer.pages[0]
    page.mediabox = pypdf.generic.RectangleObject((0, 0, 60.4, 80))
    page.cropbox = pypdf.generic.RectangleObject((10, 20, 50, 76))
    page.rotate(90)
    writer.write(place / "cropped.pdf")


if __name__ == "__main__":
    OUT.mkdir(parents=True, exist_ok=True)
    for old in OUT.iterdir():
        old.unlink()
    with_cairo()
    with_reportlab()
    with_fpdf()
    rewritten()
    for name in ["cairo", "reportlab", "fpdf", "ghostscript", "objects", "turned", "cropped", "owner"]:
        draw(name, "")
    for name in ["reportlab", "objects", "turned"]:
        for page in 2, 3:
            draw(name, f"-page-{page}", page)
    # Bigger, smaller, and stretched.
    for name, width, height in [("cairo", 151, 200), ("cairo", 15, 20), ("cairo", 90, 60), ("fpdf", 200, 200), ("fpdf", 24, 24)]:
        draw(name, f"-{width}x{height}", 1, "-scale-to-x", width, "-scale-to-y", height)
