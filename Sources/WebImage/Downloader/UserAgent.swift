import Glibc

/// Names the program to servers.
enum UserAgent {
    /// "Executable/Version (Linux; x86_64)", in ASCII. Servers are not told which kernel runs, and so what it is open to.
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
        var path = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let length = path.withUnsafeMutableBytes { buffer -> Int in
            guard let base = buffer.baseAddress else { return 0 }
            return readlink("/proc/self/exe", base.assumingMemoryBound(to: CChar.self), buffer.count)
        }
        guard length > 0 else { return "" }
        let name = path[..<length].split(separator: UInt8(ascii: "/")).last ?? []
        return String(decoding: name, as: UTF8.self)
    }

    /// Printable ASCII of `text`, parentheses and the rest replaced.
    private static func ascii(_ text: String) -> String {
        String(
            decoding: text.unicodeScalars.compactMap { scalar -> UInt8? in
                guard scalar.isASCII, scalar.value >= 32, scalar.value < 127, scalar != "(", scalar != ")" else {
                    return nil
                }
                return UInt8(scalar.value)
            },
            as: UTF8.self
        ).trimmed
    }

    private static func token(_ text: String) -> String {
        String(ascii(text).map { $0 == " " || $0 == "/" ? "-" : $0 })
    }

    private static func text<Field>(_ field: inout Field) -> String {
        withUnsafeBytes(of: &field) { bytes in String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self) }
    }
}

extension String {
    /// Without blanks at the ends.
    fileprivate var trimmed: String {
        var rest = self[...]
        while rest.first == " " { rest.removeFirst() }
        while rest.last == " " { rest.removeLast() }
        return String(rest)
    }
}
