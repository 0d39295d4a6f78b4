"""Tells the results: on the terminal, as a table for people, as JSON for programs, as a chart."""

import json
import os
import platform
import re
import subprocess

from . import chart
from .model import number
from .workshop import PROJECT

PAGE = PROJECT / "Documentation" / "Performance.md"
DATA = PROJECT / "Documentation" / "performance.json"
PICTURE = PROJECT / "Documentation" / "performance.svg"
BEGIN, END = "<!-- results: written by Scripts/bench -->", "<!-- end of results -->"


def lines(row):
    """A row as text: our figure, each peer's, and what was promised."""
    text = [f"  {row.title}: {number(row.median)} {row.unit}"]
    for contract in row.contracts:
        if contract.peer is None:
            text[0] += f"   contract {contract.text(row.unit)}: {verdict(row, contract)}"
    for peer in row.peers:
        line = f"      {peer}: {number(row.peer_median(peer))} {row.unit}, ratio {row.ratio(peer):.3f}"
        for contract in row.contracts:
            if contract.peer == peer:
                line += f"   contract {contract.text(row.unit)}: {verdict(row, contract)}"
        text.append(line)
    return "\n".join(text)


def verdict(row, contract):
    return "holds" if row.holds_one(contract) else "DOES NOT HOLD"


def write(rows, shop):
    document = {
        "command": "Scripts/bench",
        "rounds": shop.rounds,
        "machine": machine(),
        "loadAverageBefore": shop.load_before,
        "rows": [
            {
                "key": row.key, "title": row.title, "unit": row.unit, "moreIsBetter": row.more_is_better,
                "ours": row.ours, "median": row.median, "holds": row.holds, "note": row.note,
                "peers": [{"name": peer, "values": values, "median": row.peer_median(peer), "ratio": row.ratio(peer)}
                          for peer, values in row.peers.items()],
                "contracts": [{"peer": contract.peer, "comparison": contract.comparison, "limit": contract.limit,
                               "value": row.value(contract), "holds": row.holds_one(contract)}
                              for contract in row.contracts],
            } for row in rows
        ],
    }
    DATA.write_text(json.dumps(document, indent=1) + "\n")
    PICTURE.write_text(chart.draw([row for row in rows if row.in_chart and row.peers]))
    PAGE.write_text(page(rows, shop))
    shown = ", ".join(str(path.relative_to(PROJECT)) for path in (PAGE, DATA, PICTURE))
    print(f"\nWritten: {shown}")


def page(rows, shop):
    results = "\n".join([BEGIN, "", *table(rows), "", *conditions(shop), "", END])
    if PAGE.exists() and BEGIN in PAGE.read_text():
        old = PAGE.read_text()
        return re.sub(re.escape(BEGIN) + ".*" + re.escape(END), lambda _: results, old, flags=re.DOTALL)
    return f"# Performance\n\n{results}\n"


def table(rows):
    yield "| what | runs | WebImage | peer | | ratio | contract | |"
    yield "|---|--:|--:|---|--:|--:|--:|---|"
    for row in rows:
        note = f" ({row.note})" if row.note else ""
        title = f"{row.title}{note}"
        runs, ours = len(row.ours), f"{number(row.median)} {row.unit}"
        for contract in row.contracts:
            if contract.peer is None:
                yield f"| {title} | {runs} | {ours} | | | | {contract.text(row.unit)} | {mark(row, contract)} |"
                title, runs, ours = "", "", ""
        for peer in row.peers:
            promised = [contract for contract in row.contracts if contract.peer == peer]
            limit = promised[0].text(row.unit) if promised else ""
            holds = mark(row, promised[0]) if promised else ""
            yield (f"| {title} | {runs} | {ours} | {peer} | {number(row.peer_median(peer))} | {row.ratio(peer):.2f} "
                   f"| {limit} | {holds} |")
            title, runs, ours = "", "", ""


def mark(row, contract):
    return "yes" if row.holds_one(contract) else "**no**"


def conditions(shop):
    facts = machine()
    yield ("Figures are medians of the number of runs in the row. Runs of WebImage and its peers alternate, and the ratio is the median of "
           "the ratios of each turn, WebImage divided by the peer. Command: `Scripts/bench`.")
    yield ""
    yield (f"Machine: {facts['processor']}, {facts['cores']} cores, {facts['memory']}, {facts['system']}; {facts['swift']}; "
           f"load average before the run {shop.load_before:.1f}.")
    yield "Peers: " + ", ".join(f"{name} {version}" for name, version in facts["packages"].items()) + "."


def machine():
    packages = [
        "libjpeg62-turbo", "libcurl4", "libvips42", "libgdk-pixbuf-2.0-0", "libyuv0", "nginx", "libpng16-16", "libwebp7", "libgif7",
        "libavif15", "libdav1d6", "libheif1", "libde265-0", "libjxl0.7", "libtiff6", "librsvg2-2",
    ]
    versions = {}
    for package in packages:
        done = subprocess.run(["dpkg-query", "--show", "--showformat=${Version}", package], capture_output=True, text=True)
        if done.returncode == 0 and done.stdout:
            versions[package] = done.stdout
    return {
        "processor": field("/proc/cpuinfo", "model name"),
        "cores": os.cpu_count(),
        "memory": f"{int(field('/proc/meminfo', 'MemTotal').split()[0]) / 2**20:.0f} GiB",
        "system": f"{field('/etc/os-release', 'PRETTY_NAME', '=').strip(chr(34))}, Linux {platform.release()}",
        "swift": swift_version(),
        "packages": versions,
    }


def swift_version():
    done = subprocess.run(["swift", "--version"], capture_output=True, text=True)
    found = re.search(r"Swift version [0-9.]+", done.stdout)
    return found.group(0) if found else "Swift"


def field(path, name, separator=":"):
    with open(path, encoding="utf-8") as file:
        for line in file:
            key, _, value = line.partition(separator)
            if key.strip() == name:
                return value.strip()
    return "unknown 0"
