import FoundationEssentials
import Glibc

/// A URL or a file named by the user.
struct Source: Sendable {
    /// The text as typed.
    var text: String
    var url: URL

    /// A word with a supported scheme is a URL, `-` is standard input; everything else is the path of a file.
    ///
    /// - Parameter mayBeStandardInput: False if a list of sources was read from it.
    init(_ text: String, mayBeStandardInput: Bool = true) throws {
        self.text = text
        guard !text.isEmpty else { throw UsageError("empty source") }
        if text == "-", mayBeStandardInput, let url = URL(string: "\(StandardInput.scheme):picture") {
            self.url = url
        } else if Source.isURL(text) {
            guard let url = URL(string: text) else { throw UsageError("invalid URL '\(text)'") }
            self.url = url
        } else {
            url = URL(filePath: text, directoryHint: .notDirectory).absoluteURL
        }
    }

    /// Returns whether a word is meant as a URL: it starts with a supported scheme, or with any scheme and "://".
    static func isURL(_ text: String) -> Bool {
        let start = text.prefix(64).lowercased()
        if start.hasPrefix("file:") || start.hasPrefix("data:") { return true }
        guard let colon = start.firstIndex(of: ":"), start[colon...].hasPrefix("://") else { return false }
        return start[..<colon].first?.isLetter ?? false
            && start[..<colon].allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) }
    }

    /// True if it is a local file.
    var isFile: Bool { url.scheme?.lowercased() == "file" }

    /// The text for messages: on one line, without terminal control characters, and with data URLs shortened.
    var shortText: String {
        let start = url.scheme?.lowercased() == "data" && text.utf8.count > 60 ? text.prefix(60) + "…" : text[...]
        return Terminal.plain(String(start))
    }

    /// True if disk caches are used; local sources are read directly.
    var isRemote: Bool { ["http", "https"].contains(url.scheme?.lowercased()) }

    /// A short name for progress bars.
    var label: String {
        if url.scheme?.lowercased() == "data" { return "data:" }
        if url.scheme == StandardInput.scheme { return text }
        let name = url.lastPathComponent
        return name.isEmpty || name == "/" ? (url.host() ?? text) : name
    }

    /// A name without extension for an output file: the URL's last path component, made safe.
    var outputStem: String {
        guard !["data", StandardInput.scheme].contains(url.scheme?.lowercased()) else { return "image" }
        var name = url.lastPathComponent
        if let dot = name.lastIndex(of: "."), dot != name.startIndex { name = String(name[..<dot]) }
        name = String(String.UnicodeScalarView(name.unicodeScalars.map { $0.isControl || $0 == "/" ? "_" : $0 }))
        while name.hasPrefix(".") { name.removeFirst() }
        while name.utf8.count > 200 { name.removeLast() }
        return name.isEmpty ? "image" : name
    }
}

/// Reads a list of sources: one per line; blank lines and lines that start with # are skipped.
enum SourceList {
    /// An invalid line.
    struct BadLine: Error {
        var text: String
        var message: String
    }

    static func read(_ path: String) throws -> [Result<Source, BadLine>] {
        let descriptor = path == "-" ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw UsageError("\(path): \(String(cString: strerror(errno)))") }
        defer { if descriptor != STDIN_FILENO { close(descriptor) } }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw UsageError("\(path): \(String(cString: strerror(errno)))") }
            if count == 0 { break }
            bytes += buffer[..<count]
        }
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { bytes.removeFirst(3) }
        return String(decoding: bytes, as: UTF8.self)
            .split(whereSeparator: \.isNewline)
            .map { $0.drop(while: \.isWhitespace) }
            .map { String($0.reversed().drop(while: \.isWhitespace).reversed()) }
            .filter { !$0.isEmpty && !$0.hasPrefix("#") }
            .map(source)
    }
    private static func source(_ line: String) -> Result<Source, BadLine> {
        do {
            return .success(try Source(line, mayBeStandardInput: false))
        } catch {
            return .failure(BadLine(text: line, message: (error as? UsageError)?.message ?? "\(error)"))
        }
    }
}
