"""Checks what docc does not.

    check-documentation.py symbols FOLDER PAGE DIGEST [--update]
    check-documentation.py prose FOLDER...

`symbols` checks that every public declaration has a comment, that every public type has a place on the first page, and that the public
declarations are those of the digest, a committed file, so that a change of the public interface is seen in the diff. --update writes it.
`prose` counts habits in comments that make readers stumble, and fails if there are more than a few.

Prints what is wrong, and exits with 1 if anything is.
"""

import json
import pathlib
import re
import sys

# Sentences in which they are right are few.
MOST_HABITS = 60
HABITS = {
    "begins with a bare relative": re.compile(r"^\s*///?\s+(?:- \w+: )?(?:What|Who|Whether|Where|How|Which)\b(?!.*\?\s*$)"),
    "'is no' for 'is not a'": re.compile(r"//.*\b(?:is|are|was|were) no (?!longer|more|less|fewer|other|way|need\b)"),
    "'of its own' for 'separate'": re.compile(r"//.*\bof (?:its|their|his|one's) own\b"),
    "'let go of' for 'release'": re.compile(r"//.*\b(?:lets?|letting) (?:it |them )?go\b"),
    "'alone' for 'only'": re.compile(r"//.*\balone\b"),
    "'anew' for 'again'": re.compile(r"//.*\banew\b"),
}


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


def digest_line(symbol):
    """The full name and the declaration, on one line."""
    declaration = "".join(fragment["spelling"] for fragment in symbol.get("declarationFragments", []))
    return f"{'.'.join(symbol['pathComponents'])}: {' '.join(declaration.split())}"


def check_digest(declarations, path, update):
    """Yields a complaint for each declaration that the digest has and the library has not, or the other way round."""
    lines = sorted({digest_line(symbol) for symbol in declarations})
    if update:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(lines) + "\n")
    known = path.read_text().splitlines() if path.exists() else []
    for line in sorted(set(lines) - set(known)):
        yield f"{path.name}: public, and not in the digest (Scripts/docs --update-digest): {line}"
    for line in sorted(set(known) - set(lines)):
        yield f"{path.name}: in the digest, and not public any more (Scripts/docs --update-digest): {line}"


def check_symbols(folder, page, digest, update):
    declarations = list(symbols(folder))
    linked = set(re.findall(r"^- ``([A-Za-z]+)``$", page.read_text(), re.MULTILINE))
    types = {symbol["pathComponents"][0]: symbol for symbol in declarations if len(symbol["pathComponents"]) == 1}
    complaints = [
        f"{place(symbol)}: '{'.'.join(symbol['pathComponents'])}' is public and has no comment"
        for symbol in declarations
        if not has_comment(symbol)
    ]
    complaints += [
        f"{place(symbol)}: '{name}' has no place among the topics of {page.name}"
        for name, symbol in sorted(types.items())
        if name not in linked
    ]
    complaints += check_digest(declarations, digest, update)
    return complaints, f"Documented: {len(declarations)} public declarations."


def check_prose(folders):
    found = [
        f"{path}:{number}: {habit}: {line.strip()}"
        for folder in folders
        for path in sorted(folder.rglob("*.swift"))
        for number, line in enumerate(path.read_text().splitlines(), 1)
        for habit, pattern in HABITS.items()
        if pattern.search(line)
    ]
    return (found if len(found) > MOST_HABITS else []), f"Habits in comments: {len(found)} of {MOST_HABITS} at most."


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != "--update"]
    paths = [pathlib.Path(argument) for argument in arguments[1:]]
    if arguments[:1] == ["symbols"] and len(paths) == 3:
        complaints, summary = check_symbols(*paths, "--update" in sys.argv)
    elif arguments[:1] == ["prose"] and paths:
        complaints, summary = check_prose(paths)
    else:
        sys.exit(__doc__)
    for complaint in complaints:
        print(complaint, file=sys.stderr)
    if complaints:
        sys.exit(1)
    print(summary)


main()
