#!/usr/bin/python3
"""The driver of the benchmarks; Scripts/bench installs what it needs and calls it."""

import argparse
import sys

from bench import (disk, downloads, fleet, formats, gtk, isolation, jpeg, memory, pipeline, progressive, regions, report, server, start,
                   workshop)

GROUPS = {
    "start": start.rows,
    "memory": memory.rows,
    "disk": disk.rows,
    "jpeg": jpeg.rows,
    "formats": formats.rows,
    "regions": regions.rows,
    "isolation": isolation.rows,
    "progressive": progressive.rows,
    "pipeline": pipeline.rows,
    "downloads": downloads.rows,
    "fleet": fleet.rows,
    "gtk": gtk.rows,
    "server": server.rows,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("groups", nargs="*", help="the same as --only")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", default="", help="groups, separated by commas: " + ", ".join(GROUPS))
    parser.add_argument("--rounds", type=int)
    options = parser.parse_args()
    wanted = options.groups + [name for name in options.only.split(",") if name]
    chosen = wanted or list(GROUPS)
    for name in chosen:
        if name not in GROUPS:
            parser.error(f"unknown group '{name}': there are {', '.join(GROUPS)}")
    shop = workshop.Workshop(quick=options.quick, rounds=options.rounds or (3 if options.quick else 7))
    shop.build()
    rows = []
    for name in chosen:
        print(f"Measuring: {name} …", flush=True)
        for row in GROUPS[name](shop):
            print(report.lines(row), flush=True)
            rows.append(row)
    if not options.quick and not wanted:
        report.write(rows, shop)
    failed = [row.title for row in rows if not row.holds]
    if failed:
        print("\nNot held: " + "; ".join(failed))
    else:
        print("\nEvery contract measured here holds.")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
