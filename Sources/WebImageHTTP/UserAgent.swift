import FoundationEssentials
import Glibc

/// The default `User-Agent` header.
enum UserAgent {
    /// "Executable/Version (Linux; x86_64)", in ASCII. The kernel version is left out because it would reveal vulnerabilities.
    static let standard: String = {
        var system = utsname()
        let isKnown = uname(&system) == 0
        return make(
            executable: executableName,
            version: LibraryVersion.current,
            machine: isKnown ? text(&system.machine) : ""
        )
    }()

    static func make(executable: String, version: String, machine: String) -> String {
        let system = ["Linux", machine].map(ascii).filter { !$0.isEmpty }.joined(separator: "; ")
        let name = token(executable)
        return "\(name.isEmpty ? "WebImage" : name)/\(token(version)) (\(system))"
    }

    private static var executableName: String {
        let path = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        return path?.split(separator: "/").last.map(String.init) ?? ""
    }

    /// Returns the printable ASCII characters of `text` without parentheses, and without blanks at the ends.
    private static func ascii(_ text: String) -> String {
        let parentheses = "()".utf8
        var bytes = text.utf8.filter { (32..<127).contains($0) && !parentheses.contains($0) }.drop { $0 == 32 }
        while bytes.last == 32 { bytes.removeLast() }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func token(_ text: String) -> String {
        String(ascii(text).map { $0 == " " || $0 == "/" ? "-" : $0 })
    }

    private static func text<Field>(_ field: inout Field) -> String {
        withUnsafeBytes(of: &field) { bytes in String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self) }
    }
}
