import FoundationEssentials
import Glibc

/// The program that workers run.
struct WorkerProgram: Sendable, Equatable {
    var path: String

    /// The first argument of a worker.
    static let argument = "--webimage-decode-worker"

    /// Indicates whether this program can be its own worker.
    static let isOwnWorker = Lock(false)

    /// Finds the program.
    ///
    /// - Parameters:
    ///   - wanted: the path in the settings.
    ///   - variable: the value of the environment variable.
    ///   - neighbour: the path of the program for the other formats, in the settings. The programs for PDF and videos are also searched beside it.
    ///   - own: the path of this program.
    /// - Throws: ``WebImageError/Code/decoderUnavailable``.
    static func find(
        _ wanted: String?,
        _ kind: WorkerKind = .sealed,
        variable: String?,
        neighbour: String? = nil,
        own: String,
        isOwnWorker: Bool
    ) throws(WebImageError) -> WorkerProgram {
        for path in [wanted, variable].compactMap({ $0 }) where !path.isEmpty {
            guard isProgram(path) else {
                throw WebImageError(.decoderUnavailable, "\(path) is not an executable program")
            }
            return WorkerProgram(path: path)
        }
        if isOwnWorker, !kind.hasOwnProgram { return WorkerProgram(path: "/proc/self/exe") }
        let name = kind.programName
        let directory = directory(of: own)
        var places = ["\(directory)/\(name)", "\(directory)/../libexec/\(name)"]
        if let neighbour { places.insert("\(Self.directory(of: neighbour))/\(name)", at: 0) }
        if let path = places.first(where: isProgram) { return WorkerProgram(path: path) }
        if let task = kind.ownTask {
            throw WebImageError(
                .decoderUnavailable,
                "\(task) by a separate program, \(name), which is neither beside this program nor in ../libexec: install the package \(kind.package), or build that product of WebImage"
            )
        }
        throw WebImageError(
            .decoderUnavailable,
            "no worker program found: \(name) is neither beside this program nor in ../libexec, and this program does not call DecodeWorker.runIfRequested()"
        )
    }

    private static func directory(of path: String) -> String {
        path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
    }

    /// Finds the program for this process.
    static func find(_ isolation: DecodeIsolation, _ kind: WorkerKind) throws(WebImageError) -> WorkerProgram {
        try find(
            kind.path(in: isolation),
            kind,
            variable: getenv(kind.variable).map { String(cString: $0) },
            neighbour: kind.hasOwnProgram ? isolation.workerPath : nil,
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

    /// The environment variables that a worker inherits: those by which the loader finds libraries, those that determine fonts, and
    /// the languages that a drawing may select by.
    static let variables: Set<String> = [
        "LD_LIBRARY_PATH", "HOME", "XDG_DATA_HOME", "XDG_DATA_DIRS", "XDG_CONFIG_HOME", "XDG_CONFIG_DIRS",
        "XDG_CACHE_HOME",
        "FONTCONFIG_FILE", "FONTCONFIG_PATH", "FONTCONFIG_SYSROOT", "LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE",
        "LC_MESSAGES",
    ]

    static var environment: [String] {
        // GIO modules for network files would start threads.
        ["GIO_USE_VFS=local"]
            + variables.sorted().compactMap { name in getenv(name).map { "\(name)=\(String(cString: $0))" } }
    }
}

/// The kind of a worker: its program and its sandbox.
enum WorkerKind: String, Sendable, Hashable, CaseIterable {
    /// No access to files.
    case sealed
    /// Read access to the font directories: for drawings with text.
    case fonts
    /// The same and the tables of poppler, in another program: for PDF.
    case pdf
    /// No access to files, in another program: for videos.
    case video
    /// No access to files, in the same program: for raw files of cameras, so that workers for other formats need not load LibRaw.
    case raw

    init(_ format: ImageFormat) {
        self =
            switch format {
            case .svg: .fonts
            case .pdf: .pdf
            case _ where format.isVideo: .video
            case .raw: .raw
            default: .sealed
            }
    }

    /// The part of names for formats that have a separate program, because of its licence; empty for others.
    private var suffix: String {
        switch self {
        case .sealed, .fonts, .raw: ""
        case .pdf: "pdf"
        case .video: "video"
        }
    }

    /// Indicates whether the format has a separate worker program.
    var hasOwnProgram: Bool { !suffix.isEmpty }

    /// The beginning of a sentence about what a separate program does; nil without one.
    var ownTask: String? {
        switch self {
        case .sealed, .fonts, .raw: nil
        case .pdf: "PDF is drawn"
        case .video: "videos are decoded"
        }
    }

    /// The name of the worker program.
    var programName: String { hasOwnProgram ? "webimage-decoder-" + suffix : "webimage-decoder" }

    /// The name of the package with the worker program.
    var package: String { hasOwnProgram ? "webimage-" + suffix : "webimage" }

    /// The environment variable with the program's path.
    var variable: String { hasOwnProgram ? "WEBIMAGE_DECODER_" + suffix.uppercased() : "WEBIMAGE_DECODER" }

    func path(in isolation: DecodeIsolation) -> String? {
        switch self {
        case .sealed, .fonts, .raw: isolation.workerPath
        case .pdf: isolation.pdfWorkerPath
        case .video: isolation.videoWorkerPath
        }
    }

    /// Indicates whether the worker may read the directories of ``readable``.
    var readsFiles: Bool { self == .fonts || self == .pdf }

    /// The bytes of memory that parsing may take for each encoded byte. A drawing is parsed into a tree of elements, much larger than
    /// its text; the objects of a PDF document are compressed.
    var headerFactor: Int {
        switch self {
        case .sealed, .video, .raw: 2
        case .fonts: 32
        case .pdf: 8
        }
    }

    /// The directories that may be read.
    var readable: [String] {
        guard readsFiles else { return [] }
        let home = getenv("HOME").map { String(cString: $0) } ?? "/nonexistent"
        let own = getenv("XDG_DATA_HOME").map { String(cString: $0) } ?? home + "/.local/share"
        let fonts = [
            "/usr/share/fonts", "/usr/local/share/fonts", "/usr/share/fontconfig", "/etc/fonts",
            "/var/cache/fontconfig",
            own + "/fonts", home + "/.fonts", home + "/.cache/fontconfig", home + "/.config/fontconfig",
        ]
        // The character tables of poppler, for East Asian fonts that are not embedded.
        return self == .pdf ? fonts + ["/usr/share/poppler"] : fonts
    }
}
