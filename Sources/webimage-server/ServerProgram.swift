import CMicrohttpd
import CommandHelp
import Glibc
import WebImage
import WebImageServer

/// The program, from its arguments to its exit status.
enum ServerProgram {
    /// Answers `--help`, `--version` and `--generate`; nil for everything else.
    static func runAtOnce(_ words: [String]) -> Int32? {
        switch words.first {
        case "--help", "-h", "help":
            write(help)
            return 0
        case "--version":
            write("webimage-server \(Release.version)\n")
            return 0
        case "--generate":
            guard let text = description.generate(Array(words.dropFirst())) else { return 64 }
            write(text)
            return 0
        default: return nil
        }
    }

    /// Serves until SIGTERM or SIGINT. Blocks the thread.
    static func run(_ words: [String], environment: [String: String]) -> Int32 {
        // Taken by `sigwait`. All threads inherit the mask, so it is set before there are any.
        var signals = sigset_t()
        sigemptyset(&signals)
        for number in [SIGTERM, SIGINT] { sigaddset(&signals, number) }
        pthread_sigmask(SIG_BLOCK, &signals, nil)
        raiseDescriptorLimit()
        do {
            let arguments = try ArgumentParser(specs: specs).parse(words)
            let settings = try ServerSettings(arguments, environment: environment)
            let (time, delay) = try settings.drainSeconds()
            let given = webimage_http_given_sockets()
            if given > 1 { throw UsageError("the service manager has opened \(given) sockets; one is served") }
            let configuration = try settings.configuration(given: given == 1 ? 3 : nil)
            for warning in settings.warnings { complain(warning) }
            let server = try ImageServer(configuration)
            complain("serving on \(place(of: configuration.address, port: server.port))")
            _ = webimage_http_notify("READY=1")
            let watchdog = Watchdog(server, environment: environment)
            var number: Int32 = 0
            sigwait(&signals, &number)
            _ = webimage_http_notify("STOPPING=1")
            complain("ending")
            let isDone = server.drain(within: time, after: delay)
            watchdog?.stop()
            // The server has the cache whose writes are waited for.
            withExtendedLifetime(server) { _ = WebImageLifecycle.willTerminate(within: 5) }
            if !isDone { complain("requests were cut off after \(time) s") }
            return 0
        } catch let error as UsageError {
            complain("\(error.message)\nTry 'webimage-server --help'.")
            return 64
        } catch {
            complain("\(error)")
            return 71
        }
    }

    static let specs = ServerOption.allCases.map(\.spec) + [OptionSpec("--version", "print the version")]

    private static func place(of address: ImageServerConfiguration.Address, port: UInt16) -> String {
        switch address {
        case .tcp(let host, _): "http://\(host.contains(":") ? "[\(host)]" : host):\(port)"
        case .unix(let path): "unix:\(path)"
        case .descriptor: port == 0 ? "the given socket" : "port \(port)"
        }
    }

    /// Each connection takes a descriptor.
    private static func raiseDescriptorLimit() {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        limit.rlim_cur = limit.rlim_max
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }

    static func complain(_ text: String) { write("webimage-server: \(text)\n", to: 2) }

    private static func write(_ text: String, to descriptor: Int32 = 1) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 || errno == EINTR else { return }
            rest = rest.dropFirst(max(count, 0))
        }
    }
}

/// Tells the service manager regularly that the server answers in time, if it wants to know (`WatchdogSec=`).
final class Watchdog: Sendable {
    private let isStopped = ConditionLock(false)

    /// Nil if the service manager does not ask.
    init?(_ server: ImageServer, environment: [String: String]) {
        guard let microseconds = environment["WATCHDOG_USEC"].flatMap({ Double($0) }), microseconds > 0 else {
            return nil
        }
        let isStarted = DetachedThread.start(name: "webimage-watch") { [isStopped] in
            while isStopped.wait(seconds: microseconds / 2e6, until: { $0 ? true : nil }) == nil {
                if server.isResponsive { _ = webimage_http_notify("WATCHDOG=1") }
            }
        }
        guard isStarted else { return nil }
    }

    func stop() {
        isStopped.withLock { $0 = true }
        isStopped.broadcast()
    }
}

extension ServerProgram {
    private static let introduction =
        "webimage-server serves images from the web, resized and converted, under the URLs of imgproxy or thumbor."

    private static var help: String {
        "\(introduction)\n\nUsage: webimage-server [options]\n\nOptions:\n"
            + OptionSpec.listing(specs + [.help])
                + """

                Each option is also an environment variable: --max-age is WEBIMAGE_MAX_AGE. Variables of imgproxy that mean the same are
                used, too; others are named in a warning. Exit status: 0 ended by a signal, 64 invalid options, 71 cannot serve.

                """
    }

    static var description: ProgramDescription {
        var program = ProgramDescription(
            name: "webimage-server",
            title: "serve images resized and converted",
            usage: "[options]",
            description: [
                introduction,
                "Results are kept in memory and on disk. Equal requests share the download, the decode and the encode.",
                "It speaks HTTP/1.1 without TLS: put a proxy such as nginx(8) in front of it.",
            ],
            options: specs
        )
        program.sections = [
            ManualSection(
                "EXIT STATUS",
                [
                    ManualItem("0", "The server was ended by SIGTERM or SIGINT."),
                    ManualItem("64", "The options are invalid."),
                    ManualItem("71", "The address is in use, or the system has no threads or descriptors."),
                ]
            ),
            ManualSection(
                "ENVIRONMENT",
                [
                    ManualItem(
                        "WEBIMAGE_OPTION",
                        "The value of an option that the command line does not have: WEBIMAGE_MAX_AGE for --max-age."
                    ),
                    ManualItem(
                        "IMGPROXY_…",
                        "Variables of imgproxy that mean the same, if there is no other value: "
                            + ServerOption.allCases.compactMap(\.imgproxyVariable).joined(separator: ", ") + "."
                    ),
                    ManualItem("LISTEN_FDS, NOTIFY_SOCKET, WATCHDOG_USEC", "Set by systemd(1)."),
                ]
            ),
        ]
        program.examples = [
            ManualItem(
                "webimage-server --sizes 320,640,1280",
                "Serve all public images in three sizes on 127.0.0.1:8080"
            ),
            ManualItem(
                "curl http://127.0.0.1:8080/_/rs:fit:640/plain/https://example.com/photo.jpg@webp",
                "Get one of them"
            ),
        ]
        program.seeAlso = ["webimage(1)", "nginx(8)", "systemd.socket(5)"]
        return program
    }
}
