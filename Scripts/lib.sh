# Shell functions that the scripts share; sourced, not run.

readonly project="$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)"
readonly system_python=/usr/bin/python3

# find_parallel COUNT: sets `parallel`, how `swift test` runs so many tests at a time for each processor; tests wait for servers and programs. Swift
# before 6.3 takes no number and would begin them all at once, so there one runs at a time.
find_parallel() {
    parallel=(--no-parallel)
    if [[ "$(swift test --help-hidden)" == *experimental-maximum-parallelization-width* ]]; then
        parallel=(--parallel --experimental-maximum-parallelization-width "$(($1 * $(nproc)))")
    fi
}

# The folders of the tests of modules and topics: all but those of views, formats, the command and the documentation.
unit_tests() {
    local folder
    for folder in "$project"/Tests/*Tests; do
        case "${folder##*/}" in CommandLineTests | DocumentationTests | WebImageFormatsTests | WebImageGTKTests) ;; *) echo "Tests/${folder##*/}" ;; esac
    done
}

# beside NAME COMMAND…: runs it beside what follows. `join NAME` waits for it, and shows the end of its output if it failed. `logs` is a folder.
declare -A besides
beside() {
    trap 'for group in "${besides[@]}"; do kill -- "-$group" 2>/dev/null || true; done' EXIT
    set -m
    ("${@:2}") >"$logs/$1-output.txt" 2>&1 </dev/null &
    besides[$1]=$!
    set +m
}
join() {
    wait "${besides[$1]}" || { tail -n 300 "$logs/$1-output.txt" && die "$1: failed; the output is in $logs/$1-output.txt"; }
    unset "besides[$1]"
}
join_all() { for name in "${!besides[@]}"; do join "$name"; done; }

# Reads paths, and prints a pattern of the tests in these files, which is empty if there are none.
tests_in() {
    local files
    files="$(sed -E 's,.*/(.*)\.swift$,\1,;s,\+,\\+,' | paste -sd '|')"
    [ -z "$files" ] || echo "/($files)\.swift:"
}

# tagged SANITIZER FOLDER…: prints the files with its tag.
tagged() { { grep -rl "\.tags(.*\.$1Sanitizer" --include='*.swift' "${@:2}" || true; } | sort; }

# only_sanitized FOLDER…: prints a pattern of the tests in files with a sanitizer's tag that repeat no work less often under it.
only_sanitized() {
    { grep -rl '\.tags(.*Sanitizer' --include='*.swift' "$@" || true; } | xargs -r grep -LE 'TestEffort|WEBIMAGE_MODEL_SEEDS' | tests_in
}

# How `swift build` builds what only runs once: a compiler is handed a whole module, writes its interface in the same process, and describes nothing to
# a debugger; lld links. Together that takes two thirds of the time. Failed expectations name their lines all the same.
readonly quickly=(-debug-info-format none -Xswiftc -wmo -Xswiftc -no-emit-module-separately-wmo -Xswiftc -use-ld=lld)

# Prints the comment at the top of the script.
show_help() { sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0"; }

say() { printf '%s\n' "$*"; }

die() {
    printf '%s: %s\n' "$(basename -- "$0")" "$*" >&2
    exit 1
}

# Whether as_root can work.
can_be_root() { [ "$(id -u)" -eq 0 ] || command -v sudo >/dev/null; }

# Runs a command as root: directly if we are, else through sudo.
as_root() { if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo -- "$@"; fi; }

# Sets `linking`: how `swift build` links the programs that are installed, so that they start quickly and take little memory.
#
# lld places the functions that a start runs side by side, as Scripts/order-functions lists them: around each page that a program touches, the
# kernel maps 64 KiB or more. Names in the list that no longer exist are ignored. No library looks for symbols in the programs, but Swift's static
# library makes the linker export them. The programs contain what they use of libstdc++: its relocations would be most of those of a start. libgcc,
# which unwinds the stack, stays shared, so that exceptions of C++ libraries can be caught. Packed relocations take 10 KB instead of 1.2 MB, and need
# glibc 2.36, released in 2022.
#
# $1 is a folder for a link to the archive of libstdc++.
find_linking() {
    local resources archive libc
    linking=(-Xlinker -z -Xlinker now)
    resources="$(swiftc -print-target-info 2>/dev/null | sed -n 's/.*"runtimeResourcePath" *: *"\(.*\)".*/\1/p' || true)"
    [ -n "$resources" ] && [ -x "$resources/../../bin/ld.lld" ] || return 0
    linking+=(
        -Xswiftc -use-ld=lld -Xlinker --no-export-dynamic
        -Xlinker "--symbol-ordering-file=$project/Packaging/start-functions.txt" -Xlinker --no-warn-symbol-ordering
    )
    archive="$("$resources/../../bin/clang" -print-file-name=libstdc++.a || true)"
    # Only position-independent code can be linked.
    if [[ "$archive" == /* ]] && "$resources/../../bin/clang" -fuse-ld=lld -nostdlib -shared -o /dev/null -Wl,--whole-archive "$archive" 2>/dev/null; then
        mkdir -p "$1"
        ln -sfn "$archive" "$1/libstdc++.a"
        linking+=(-Xswiftc "-L$1")
    fi
    libc="$(getconf GNU_LIBC_VERSION || true)"
    [ "$(printf 'glibc 2.36\n%s\n' "$libc" | sort -V | sed -n 1p)" = "glibc 2.36" ] || return 0
    linking+=(-Xlinker -z -Xlinker pack-relative-relocs)
}

require_swift() {
    # What the manifest says, and the tests (names in words, tests of exits) need.
    local needed="Swift 6.2 or newer is needed" version
    command -v swift >/dev/null || die "no swift on the PATH: $needed, from https://www.swift.org/install/linux/"
    # Without -frontend it would leave a folder where TMPDIR says.
    version="$(swift -frontend -version 2>/dev/null | grep -oE 'Swift version [0-9]+(\.[0-9]+)*' | sed -n 1p || true)"
    version="${version#Swift version }"
    [ -n "$version" ] || die "'swift -frontend -version' does not say which version it is: $needed"
    [ "$(printf '6.2\n%s\n' "$version" | sort -V | sed -n 1p)" = 6.2 ] || die "Swift $version is too old: $needed"
}
