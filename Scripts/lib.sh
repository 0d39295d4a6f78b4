# Shell functions that the scripts share; sourced, not run.

readonly project="$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)"
readonly system_python=/usr/bin/python3

say() { printf '%s\n' "$*"; }

die() {
    printf '%s: %s\n' "$(basename -- "$0")" "$*" >&2
    exit 1
}

# Runs a command as root: directly if we are, else through sudo.
as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    elif command -v sudo >/dev/null; then
        sudo -- "$@"
    else
        die "installing packages needs root, and there is no sudo; as root, run: $*"
    fi
}

require_swift() {
    command -v swift >/dev/null ||
        die "no swift on the PATH: Swift 6 or newer is needed, from https://www.swift.org/install/linux/"
    local version
    version="$(swift --version 2>/dev/null | grep -oE 'Swift version [0-9]+(\.[0-9]+)*' | head -n 1 || true)"
    version="${version#Swift version }"
    [ -n "$version" ] || die "'swift --version' does not say which version it is: Swift 6 or newer is needed"
    [ "${version%%.*}" -ge 6 ] || die "Swift $version is too old: Swift 6 or newer is needed"
}
