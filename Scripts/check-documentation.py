"""Checks what docc does not: that every public declaration has a comment, and every public type a place on the first page.

Arguments: the folder of the symbol graphs, and the page. Says what is missing, and exits with 1 if anything is.
"""

import json
import pathlib
import re
import sys


def symbols(folder):
    """Every declaration that somebody wrote: those that the compiler makes have no place in a file."""
    graphs = sorted(folder.glob("*.symbols.json"))
    if not graphs:
        sys.exit(f"no symbol graph in {folder}")
    for graph in graphs:
        for symbol in json.loads(graph.read_text())["symbols"]:
            if "location" in symbol:
                yield symbol


def place(symbol):
    location = symbol["location"]
    path = re.sub(r"^file://", "", location["uri"])
    return f"{path}:{location['position']['line'] + 1}"


def has_comment(symbol):
    lines = symbol.get("docComment", {}).get("lines", [])
    return any(line["text"].strip() for line in lines)


def main():
    folder, page = (pathlib.Path(argument) for argument in sys.argv[1:])
    declarations = list(symbols(folder))
    complaints = [
        f"{place(symbol)}: '{'.'.join(symbol['pathComponents'])}' is public and has no comment"
        for symbol in declarations
        if not has_comment(symbol)
    ]
    linked = set(re.findall(r"^- ``([A-Za-z]+)``$", page.read_text(), re.MULTILINE))
    types = {symbol["pathComponents"][0]: symbol for symbol in declarations if len(symbol["pathComponents"]) == 1}
    complaints += [
        f"{place(symbol)}: '{name}' has no place among the topics of {page.name}"
        for name, symbol in sorted(types.items())
        if name not in linked
    ]
    for complaint in complaints:
        print(complaint, file=sys.stderr)
    if complaints:
        sys.exit(1)
    print(f"Documented: {len(declarations)} public declarations.")


main()
