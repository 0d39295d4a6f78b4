#!/usr/bin/python3
"""Loads the demo's pictures through `webimage prefetch`, pass by pass, and prints what each pass took and fetched.

A part of Scripts/demo. Bytes are counted by the server, not by the program that is shown.
"""

import argparse
import collections
import json
import pathlib
import subprocess
import sys
import time


class Pass:
    """What one pass over the list did."""

    def __init__(self, name):
        self.name = name
        self.seconds = 0.0
        self.cache_types = collections.Counter()
        self.failures = []
        self.downloaded = 0

    @property
    def count(self):
        return sum(self.cache_types.values())

    def row(self):
        rate = self.count / self.seconds if self.seconds else 0
        return [self.name, str(self.count), f"{self.seconds * 1000:,.1f}", f"{rate:,.0f}",
                f"{self.downloaded / 1e6:,.1f}"] + [
                    str(self.cache_types[kind]) for kind in ("none", "disk", "memory")]


def server_bytes(log):
    return sum(int(line.split()[1]) for line in log.read_text().splitlines())


def run(options, names):
    """Runs one process; it makes a pass for each name. A pass lasts from the end of the one before (the first: from
    the start of the process) to its last picture."""
    command = [options.webimage, "prefetch", str(options.urls), "--thumbnail", options.size, "-j", "8", "--json",
               "--cache-dir", str(options.cache), "--repeat", str(len(names))]
    passes = [Pass(name) for name in names]
    before = server_bytes(options.log)
    last = [time.monotonic()] * (len(names) + 1)
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout:
            now = time.monotonic()
            answer = json.loads(line)
            number = answer["pass"]
            current = passes[number - 1]
            last[number] = now
            if "error" in answer:
                current.failures.append(f"{answer['source']}: {answer['error']['message']}")
            else:
                current.cache_types[answer["cacheType"]] += 1
    for number, current in enumerate(passes, 1):
        current.seconds = last[number] - last[number - 1]
        for failure in current.failures:
            print(failure, file=sys.stderr)
    if process.returncode != 0:
        sys.exit(f"'{' '.join(command)}' ended with status {process.returncode}")
    passes[0].downloaded = server_bytes(options.log) - before
    return passes


def table(rows):
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [row[0].ljust(widths[0])] + [cell.rjust(width) for cell, width in zip(row[1:], widths[1:])]
        lines.append("  ".join(cells).rstrip())
    lines.insert(1, "  ".join("-" * width for width in widths))
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--webimage", required=True)
    parser.add_argument("--urls", required=True, type=pathlib.Path)
    parser.add_argument("--size", required=True)
    parser.add_argument("--cache", required=True, type=pathlib.Path)
    parser.add_argument("--log", required=True, type=pathlib.Path)
    parser.add_argument("--table", required=True, type=pathlib.Path)
    options = parser.parse_args()

    expected = len(options.urls.read_text().split())
    passes = run(options, ["cold, over the network"])
    passes += run(options, ["new process, from disk"])
    passes += run(options, ["new process again, from disk", "its second pass, from memory"])
    header = ["pass", "pictures", "ms", "pictures/s", "MB downloaded", "network", "disk", "memory"]
    text = table([header] + [one.row() for one in passes])
    options.table.write_text(text + "\n")
    print("\n" + text + "\n")

    wanted = ["none", "disk", "disk", "memory"]
    for one, kind in zip(passes, wanted):
        if one.cache_types[kind] != expected:
            sys.exit(f"the pass '{one.name}' should have found {expected} pictures at level '{kind}', "
                     f"and found {dict(one.cache_types)}")
    if any(one.downloaded for one in passes[1:]):
        sys.exit("a pass that should have come from the cache went to the server")


if __name__ == "__main__":
    main()
