"""The results as a picture: a group of bars for each row, in SVG that is readable on light and on dark pages."""

from xml.sax.saxutils import escape

from .model import number

WIDTH = 900
LABEL = 300  # where bars begin
ROOM = 130  # right of the longest bar, for its figure
BAR, GAP, TITLE, SPACE = 17, 5, 26, 18

STYLE = """
    text { font: 13px system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; fill: #1f2328; }
    .title { font-weight: 600; }
    .quiet { fill: #59636e; }
    .ours { fill: #0969da; }
    .peer { fill: #b6bec8; }
    .axis { stroke: #d1d9e0; }
    @media (prefers-color-scheme: dark) {
      text { fill: #f0f6fc; }
      .quiet { fill: #9198a1; }
      .ours { fill: #4493f8; }
      .peer { fill: #4b5563; }
      .axis { stroke: #3d444d; }
    }
"""


def draw(rows):
    parts = []
    y = 14
    for row in rows:
        direction = "more is better" if row.more_is_better else "less is better"
        parts.append(f'<text class="title" x="0" y="{y + 10}">{escape(row.title)}</text>')
        parts.append(f'<text class="quiet" x="{WIDTH}" y="{y + 10}" text-anchor="end">{escape(row.unit)}, {direction}</text>')
        y += TITLE
        top = y
        bars = [("WebImage", row.median, "ours")]
        bars += [(peer, row.peer_median(peer), "peer") for peer in row.peers]
        longest = max(value for _, value, _ in bars)
        for label, value, kind in sorted(bars, key=lambda bar: bar[1], reverse=row.more_is_better):
            length = max(1.0, (WIDTH - LABEL - ROOM) * value / longest)
            middle = y + BAR / 2 + 4.5
            weight = ' class="title"' if kind == "ours" else ""
            parts.append(f'<text{weight} x="{LABEL - 10}" y="{middle}" text-anchor="end">{escape(label)}</text>')
            parts.append(f'<rect class="{kind}" x="{LABEL}" y="{y}" width="{length:.1f}" height="{BAR}" rx="2"/>')
            parts.append(f'<text class="quiet" x="{LABEL + length + 8:.1f}" y="{middle}">{figure(row, value, kind, label)}</text>')
            y += BAR + GAP
        parts.append(f'<line class="axis" x1="{LABEL}" x2="{LABEL}" y1="{top - 3}" y2="{y - GAP + 3}"/>')
        y += SPACE
    parts.append(f'<text class="quiet" x="0" y="{y + 8}">(×): WebImage\'s figure as a multiple of this one, by runs in turns'
                 '</text>')
    height = y + 18
    title = "WebImage beside its peers"
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
            f'role="img" aria-label="{title}">\n  <title>{title}</title>\n  <style>{STYLE}  </style>\n  '
            + "\n  ".join(parts) + "\n</svg>\n")


def figure(row, value, kind, label):
    if kind == "ours":
        return number(value)
    return f"{number(value)}  ({row.ratio(label):.2f} ×)"
