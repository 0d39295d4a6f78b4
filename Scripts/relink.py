"""Links the test program of a build again, with the library's objects of another build in place of its own: those that a sanitizer instruments.
Tests are most of the code and take most of the time of a build, and are the same for all of them.

    relink.py BUILD INSTRUMENTED SANITIZER    prints the path of the program, which lies beside that of BUILD, where the programs are that it runs
"""
import json
import os
import subprocess
import sys

NAME = "WebImagePackageTests"


def command_of(build, program):
    """The arguments by which the build has linked its test program."""
    with open(f"{build}/../../debug.yaml", encoding="utf-8") as manifest:
        for line in manifest:
            if line.lstrip().startswith("args: [") and f'"-o","{program}"' in line and '"-emit-executable"' in line:
                return json.loads(line.split(":", 1)[1])
    sys.exit(f"relink: the build in {build} has linked no {NAME}.xctest")


def main():
    build, instrumented = (os.path.realpath(path) for path in sys.argv[1:3])
    sanitizer = sys.argv[3]
    program = f"{build}/{NAME}.xctest"
    result = f"{build}/{NAME}-{sanitizer}.xctest"
    listing = f"{instrumented}/{NAME}.LinkFileList"
    arguments = command_of(build, program)
    [place] = [index for index, argument in enumerate(arguments) if argument.startswith("@")]
    replaced = 0
    with open(arguments[place][1:], encoding="utf-8") as original, open(listing, "w", encoding="utf-8") as changed:
        for line in original:
            other = instrumented + line[len(build) :]
            # A target is taken whole from one of the two; without what only a debugger reads.
            if line.startswith(build) and os.path.isdir(os.path.dirname(other)):
                replaced += 1
                line = "" if line.endswith(".swiftmodule.o\n") else other
            changed.write(line)
    if not replaced:
        sys.exit(f"relink: there are no objects in {instrumented}")
    arguments[place] = f"@{listing}"
    arguments[arguments.index(program)] = result
    # gold warns of each function of the address sanitizer.
    arguments += [f"-sanitize={sanitizer}", "-use-ld=lld"]
    if subprocess.run(arguments, stdout=sys.stderr, check=False).returncode:
        sys.exit("relink: not linked")
    print(result)


main()
