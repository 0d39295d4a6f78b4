import Glibc

/// `webimage serve`: becomes the program `webimage-server`, so that the other commands do not load what only a server needs.
enum ServeCommand {
    static let name = "serve"
    static let summary = "Starts webimage-server, which serves images over HTTP; see 'webimage serve --help'."

    /// Replaces the process by the server, with the same arguments; returns only if that fails, with the exit status.
    static func run(_ words: [String]) -> Int32 {
        var path = [CChar](repeating: 0, count: 4096)
        let length = readlink("/proc/self/exe", &path, path.count - 1)
        let own = String(decoding: path.prefix(max(length, 0)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let beside = own.lastIndex(of: "/").map { String(own[...$0]) + "webimage-server" }
        // The one beside this program is of the same version.
        for program in [beside, "webimage-server"].compactMap(\.self) {
            var arguments = (["webimage-server"] + words).map { strdup($0) } + [nil]
            execvp(program, &arguments)
            for argument in arguments { free(argument) }
        }
        Terminal.printError("webimage-server cannot be started: \(String(cString: strerror(errno)))")
        return ExitStatus.system
    }
}
