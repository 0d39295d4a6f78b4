"""SVG fixtures, with the pixels that rsvg-convert 2.54 draws of them: at their own size as `NAME.pam`, at others as
`NAME-WxH.pam`. No text, which would look as the machine's fonts do."""
import base64
import io
import subprocess
from pathlib import Path

import numpy as np
from PIL import Image

from picture import alpha, picture, write_anymap

OUT = Path(__file__).resolve().parents[2] / "Tests/WebImageFormatsTests/Fixtures/SVG"
SHAPES = """
  <defs>
    <linearGradient id="g"><stop offset="0" stop-color="#f80"/><stop offset="1" stop-color="#08f" stop-opacity="0.4"/></linearGradient>
    <radialGradient id="r"><stop offset="0" stop-color="white"/><stop offset="1" stop-color="navy"/></radialGradient>
    <clipPath id="c"><circle cx="45" cy="12" r="9"/></clipPath>
    <filter id="b"><feGaussianBlur stdDeviation="1.5"/></filter>
    <symbol id="s" viewBox="0 0 10 10"><path d="M0 10 L5 0 L10 10 Z" fill="green"/></symbol>
  </defs>
  <rect x="3" y="4" width="25" height="14" rx="3" fill="url(#g)"/>
  <g clip-path="url(#c)"><rect x="30" width="30" height="30" fill="url(#r)"/></g>
  <circle cx="14" cy="29" r="8" fill="red" fill-opacity="0.5" stroke="black" stroke-width="1.5" stroke-dasharray="3 1"/>
  <rect x="28" y="24" width="10" height="10" fill="purple" filter="url(#b)"/>
  <use href="#s" x="42" y="22" width="14" height="14" transform="rotate(10 49 29)"/>
  <path d="M2 38 C 15 20, 40 50, 58 36" fill="none" stroke="#444" stroke-width="0.7"/>
"""


def document(attributes, body=SHAPES, before=""):
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{before}<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" {attributes}>{body}</svg>\n'


def draw(data, *options):
    made = subprocess.run(["rsvg-convert", "-d", "96", "-p", "96", *options], input=data, capture_output=True, check=True).stdout
    return np.asarray(Image.open(io.BytesIO(made)).convert("RGBA"))


def save(name, text, sizes=(), expected=None):
    data = text.encode()
    (OUT / f"{name}.svg").write_bytes(data)
    write_anymap(OUT / f"{name}.pam", draw(data) if expected is None else expected)
    for width, height, keeps in sizes:
        options = ["-w", str(width), "-h", str(height)] + (["-a"] if keeps else [])
        pixels = draw(data, *options)
        write_anymap(OUT / f"{name}-{width}x{height}{'' if keeps else '-stretched'}.pam", pixels)


def uri(kind, pixels, **options):
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, kind, **options)
    return f"data:image/{kind};base64," + base64.b64encode(buffer.getvalue()).decode()


if __name__ == "__main__":
    OUT.mkdir(parents=True, exist_ok=True)
    for old in OUT.iterdir():
        old.unlink()
    box = 'viewBox="0 0 60 40"'
    save("shapes", document(f'width="60" height="40" {box}'), [(120, 90, True), (30, 30, True), (45, 70, False)])
    save("no-view-box", document('width="60" height="40"'), [(90, 90, True), (25, 50, False)])
    save("view-box-only", document(box), [(30, 30, True)])
    save("per-cent", document(f'width="100%" height="100%" {box}'))
    save("millimetres", document(f'width="15mm" height="10mm" {box}'))
    save("shape-of-its-own", document(f'width="50" height="50" {box} preserveAspectRatio="xMinYMax slice"'))
    # rsvg-convert has another idea of what is missing; these are drawn at what browsers take.
    data = document(f'width="30" {box}')
    save("width-only", data, expected=draw(data.encode(), "-w", "30", "-h", "20"))
    data = document(f'height="60" {box}')
    save("height-only", data, expected=draw(data.encode(), "-w", "90", "-h", "60"))
    entities = '<!DOCTYPE svg [\n<!ENTITY ns "http://www.w3.org/2000/svg"><!ENTITY tone "#369"><!ENTITY part "<rect width=\'9\' height=\'7\' fill=\'&tone;\'/>">\n]>\n'
    body = f'<rect width="20" height="20" fill="&tone;"/><g transform="translate(5 6)">&part;</g>'
    save("entities", document('width="20" height="20"', body.replace("#369", "#369"), entities))
    photo = picture(24, 16)
    soft = np.dstack([photo, alpha(24, 16)])
    images = f'<image width="24" height="16" xlink:href="{uri("png", soft)}"/>'
    images += f'<image x="26" y="4" width="12" height="8" href="{uri("jpeg", photo, quality=90)}"/>'
    save("embedded", document('width="40" height="20"', images))
    inner = base64.b64encode(document('width="8" height="8"', '<circle cx="4" cy="4" r="3" fill="teal"/>').encode()).decode()
    save("embedded-svg", document('width="20" height="20"', f'<image width="16" height="16" href="data:image/svg+xml;base64,{inner}"/>'))
