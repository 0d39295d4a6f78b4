"""Checks what docc does not.

    check-documentation.py symbols FOLDER PAGE DIGEST [--update] [FILE...]
    check-documentation.py prose FOLDER...

`symbols` checks that every public declaration has a comment, that every public type has a place on the first page, and that the public
declarations are those of the digest, a committed file, so that a change of the public interface is seen in the diff. --update writes it.
A type's line names the protocols it conforms to. That says what implements their requirements, too: such members have lines only if they
offer more, a setter or a default argument. If FILEs are given, each name of the digest must occur in one of them, apart from cases of
enumerations: what no guide, example or other module mentions need not be public.
`prose` counts habits in comments that make readers stumble, and fails if there are more than a few.

Prints what is wrong, and exits with 1 if anything is.
"""

import collections
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


# Nearly every type conforms to these.
IMPLIED_PROTOCOLS = {"Copyable", "Escapable", "SendableMetatype"}

TYPES = {f"swift.{kind}" for kind in ("struct", "class", "enum", "protocol", "typealias", "associatedtype")}


class Library:
    """The public declarations of a module, from its symbol graphs."""

    def __init__(self, folder):
        graphs = [json.loads(path.read_text()) for path in sorted(folder.glob("*.symbols.json"))]
        if not graphs:
            sys.exit(f"no symbol graph in {folder}")
        symbols = [symbol for graph in graphs for symbol in graph["symbols"]]
        relationships = [relationship for graph in graphs for relationship in graph.get("relationships", [])]
        by_identifier = {identifier(symbol): symbol for symbol in symbols}
        # Every declaration that somebody wrote: those that the compiler makes have no place in a file.
        self.declarations = [symbol for symbol in symbols if "location" in symbol]
        # The protocols that each type conforms to, by the type's identifier.
        self.conformances = {}
        # The declarations that do nothing but implement a requirement of a protocol in a type of this library. Types of other
        # libraries have no line that could name the protocol.
        self.witnesses = set()
        for relationship in relationships:
            source, target = relationship["source"], relationship["target"]
            if relationship["kind"] == "conformsTo":
                protocol = by_identifier.get(target)
                name = protocol["pathComponents"][-1] if protocol else relationship.get("targetFallback", target).split(".")[-1]
                if name not in IMPLIED_PROTOCOLS:
                    self.conformances.setdefault(source, set()).add(name)
            elif relationship["kind"] == "memberOf" and "sourceOrigin" in relationship and target in by_identifier:
                requirement = by_identifier.get(relationship["sourceOrigin"]["identifier"])
                if not requirement or implementation(by_identifier[source]) == implementation(requirement):
                    self.witnesses.add(source)

    def digest(self):
        """A line for each declaration that is not a witness, sorted."""
        lines = {self.line(symbol) for symbol in self.declarations if identifier(symbol) not in self.witnesses}
        return sorted(lines)

    def line(self, symbol):
        """The full name and the declaration, with the protocols that a type conforms to. Those of a protocol are in its declaration."""
        line = f"{'.'.join(symbol['pathComponents'])}: {declaration(symbol)}"
        conformances = self.conformances.get(identifier(symbol), set())
        if not conformances or symbol["kind"]["identifier"] == "swift.protocol":
            return line
        return f"{line} : {', '.join(sorted(conformances))}"


def identifier(symbol):
    return symbol["identifier"]["precise"]


def declaration(symbol):
    return " ".join("".join(fragment["spelling"] for fragment in symbol.get("declarationFragments", [])).split())


def implementation(symbol):
    """The declaration, with a constant as what it is for callers: a property without a setter."""
    return re.sub(r"^((?:static )?)let (.*)", r"\1var \2 { get }", declaration(symbol).removeprefix("convenience "))


def words(text):
    return set(re.findall(r"\w+", text))


def check_mentions(library, paths):
    """Yields a complaint for each public declaration with a word in its name, or a label, that none of the files has."""
    mentioned = set().union(*(words(path.read_text()) for path in paths))
    uses = collections.Counter(word for symbol in library.declarations for word in words(declaration(symbol)))
    for symbol in library.declarations:
        kind, name = symbol["kind"]["identifier"], symbol["pathComponents"][-1]
        # A reader meets a type in the declarations that use it; a case, in the enumeration.
        is_known = identifier(symbol) in library.witnesses or kind == "swift.enum.case" or kind in TYPES and uses[name] > 1
        if not is_known and not words(name) - {"init", "subscript", "_"} <= mentioned:
            yield f"{place(symbol)}: '{'.'.join(symbol['pathComponents'])}' is public, and no guide or example mentions it"


def place(symbol):
    location = symbol["location"]
    path = re.sub(r"^file://", "", location["uri"])
    return f"{path}:{location['position']['line'] + 1}"


def has_comment(symbol):
    lines = symbol.get("docComment", {}).get("lines", [])
    return any(line["text"].strip() for line in lines)


def check_digest(lines, path, update):
    """Yields a complaint for each declaration that the digest has and the library has not, or the other way round."""
    if update:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(lines) + "\n")
    known = path.read_text().splitlines() if path.exists() else []
    for line in sorted(set(lines) - set(known)):
        yield f"{path.name}: public, and not in the digest (Scripts/docs --update-digest): {line}"
    for line in sorted(set(known) - set(lines)):
        yield f"{path.name}: in the digest, and not public any more (Scripts/docs --update-digest): {line}"


def check_symbols(folder, page, digest, *guides, update):
    library = Library(folder)
    declarations = library.declarations
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
    complaints += check_digest(library.digest(), digest, update)
    if guides:
        complaints += check_mentions(library, guides)
    return complaints, f"Documented: {len(declarations)} public declarations, {len(library.digest())} in the digest."


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
    if arguments[:1] == ["symbols"] and len(paths) >= 3:
        complaints, summary = check_symbols(*paths, update="--update" in sys.argv)
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
