import FoundationEssentials
import Glibc

/// The program that workers run.
struct WorkerProgram: Sendable, Equatable {
    var path: String

    /// The first word of a worker's arguments.
    static let argument = "--webimage-decode-worker"
    /// The program's name where it is a file of its own.
    static let name = "webimage-decoder"

    /// Whether this program can be its own worker.
    static let isOwnWorker = Lock(false)

    /// Finds the program.
    ///
    /// - Parameters:
    ///   - wanted: the one that was asked for.
    ///   - variable: what the environment says.
    ///   - own: this program's file.
    /// - Throws: ``WebImageError/Code/decoderUnavailable``.
    static func find(
        _ wanted: String?,
        variable: String?,
        own: String,
        isOwnWorker: Bool
    ) throws(WebImageError) -> WorkerProgram {
        for path in [wanted, variable].compactMap({ $0 }) where !path.isEmpty {
            guard isProgram(path) else {
                throw WebImageError(.decoderUnavailable, "\(path) is no program that could decode")
            }
            return WorkerProgram(path: path)
        }
        if isOwnWorker { return WorkerProgram(path: "/proc/self/exe") }
        let directory = own.lastIndex(of: "/").map { String(own[..<$0]) } ?? "."
        let places = ["\(directory)/\(name)", "\(directory)/../libexec/\(name)"]
        if let path = places.first(where: isProgram) { return WorkerProgram(path: path) }
        throw WebImageError(
            .decoderUnavailable,
            "there is no program to decode in: \(name) lies neither beside this one nor in ../libexec, and this one does not call DecodeWorker.runIfRequested()"
        )
    }

    /// The same for this process.
    static func find(_ wanted: String?) throws(WebImageError) -> WorkerProgram {
        try find(
            wanted,
            variable: getenv("WEBIMAGE_DECODER").map { String(cString: $0) },
            own: ownPath,
            isOwnWorker: isOwnWorker.withLock { $0 }
        )
    }

    private static func isProgram(_ path: String) -> Bool { access(path, X_OK) == 0 }

    private static var ownPath: String {
        var path = [CChar](repeating: 0, count: 4096)
        let length = readlink("/proc/self/exe", &path, path.count - 1)
        return String(decoding: path.prefix(max(length, 0)).map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// What a worker's environment has of this one's: what the loader needs to find libraries, what decides on fonts, and the languages that
    /// a drawing may choose by.
    static let variables: Set<String> = [
        "LD_LIBRARY_PATH", "HOME", "XDG_DATA_HOME", "XDG_DATA_DIRS", "XDG_CONFIG_HOME", "XDG_CONFIG_DIRS",
        "XDG_CACHE_HOME",
        "FONTCONFIG_FILE", "FONTCONFIG_PATH", "FONTCONFIG_SYSROOT", "LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE",
        "LC_MESSAGES",
    ]

    static var environment: [String] {
        // Modules for files of networks would begin threads.
        ["GIO_USE_VFS=local"]
            + variables.sorted().compactMap { name in getenv(name).map { "\(name)=\(String(cString: $0))" } }
    }
}

/// What walls workers have.
enum WorkerKind: String, Sendable, Hashable, CaseIterable {
    /// No files at all.
    case sealed
    /// The directories of fonts can be read: for drawings with text.
    case fonts

    init(_ format: ImageFormat) { self = format == .svg ? .fonts : .sealed }

    /// Directories that may be read.
    var readable: [String] {
        guard self == .fonts else { return [] }
        let home = getenv("HOME").map { String(cString: $0) } ?? "/nonexistent"
        let own = getenv("XDG_DATA_HOME").map { String(cString: $0) } ?? home + "/.local/share"
        return [
            "/usr/share/fonts", "/usr/local/share/fonts", "/usr/share/fontconfig", "/etc/fonts",
            "/var/cache/fontconfig",
            own + "/fonts", home + "/.fonts", home + "/.cache/fontconfig", home + "/.config/fontconfig",
        ]
    }
}
