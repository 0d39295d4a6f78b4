public import FoundationEssentials
import Glibc

/// A real nginx on free loopback ports, over http and over https with HTTP/2, that serves a directory; it ends with the object.
public final class NginxServer: Sendable {
    /// The error of its start.
    public struct StartFailure: Error, CustomStringConvertible {
        /// The reason.
        public let description: String
    }

    /// A Boolean value that indicates whether the programs it needs are installed.
    public static var isInstalled: Bool { program("nginx") != nil && program("openssl") != nil }

    /// Below `root`: the served files.
    public let directory = TemporaryDirectory()
    /// The directory that is served.
    public var root: String { directory.path("root") }
    /// The file of the certificate, which is its own authority.
    public var certificate: String { directory.path("cert.pem") }
    private let httpPort: ReservedPort
    private let httpsPort: ReservedPort
    private let process: pid_t

    /// Starts nginx.
    ///
    /// - Parameters:
    ///   - files: The served files: names and contents.
    ///   - locations: Further lines for its `server` block.
    ///   - logFormat: A line of the access log, in nginx's notation.
    public init(
        files: [String: [UInt8]] = [:],
        locations: String = "",
        logFormat: String = "$connection $connection_requests $server_protocol $uri $status"
    ) async throws {
        guard let nginx = Self.program("nginx"), let openssl = Self.program("openssl") else {
            throw StartFailure(description: "nginx or openssl is not installed")
        }
        (httpPort, httpsPort) = (try ReservedPort(), try ReservedPort())
        mkdir(directory.path("root"), 0o755)
        for (name, bytes) in files {
            try Data(bytes).write(to: URL(filePath: directory.path("root") + "/" + name))
        }
        let ports = (http: httpPort.port, https: httpsPort.port)
        try await Self.makeCertificate(openssl, directory)
        let configuration = Self.configuration(directory, ports, locations: locations, logFormat: logFormat)
        let file = directory.path("nginx.conf")
        try Data(configuration.utf8).write(to: URL(filePath: file))
        guard let watch = DirectoryWatch(directory.path) else {
            throw StartFailure(description: "\(directory.path) cannot be watched")
        }
        process = try Self.spawn([nginx, "-p", directory.path, "-e", directory.path("error.log"), "-c", file])
        // It writes its process id when it listens.
        let name = directory.path("nginx.pid")
        guard
            await watch.wait(orEndOf: process, until: { FileManager.default.contents(atPath: name)?.isEmpty == false })
        else {
            throw StartFailure(description: "nginx does not listen")
        }
    }

    deinit {
        kill(process, SIGTERM)
        var status: Int32 = 0
        waitpid(process, &status, 0)
    }

    /// The URL of a path, which starts with a slash.
    public func url(_ path: String, scheme: String = "http") -> URL {
        let port = scheme == "https" ? httpsPort.port : httpPort.port
        guard let url = URL(string: "\(scheme)://127.0.0.1:\(port)\(path)") else {
            preconditionFailure("\(path) is not a path")
        }
        return url
    }

    /// The lines of the access log: connection number, requests on it so far, protocol, path and status, if it has no format of
    /// its own.
    public var log: [String] {
        guard let data = FileManager.default.contents(atPath: directory.path("access.log")) else { return [] }
        return String(decoding: data, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    /// Suspends until the log has `count` lines, which nginx writes after it has responded.
    public func log(count: Int) async -> [String] {
        _ = await DirectoryWatch(directory.path)?.wait(orEndOf: process) { self.log.count >= count }
        return log
    }

    private static func configuration(
        _ directory: TemporaryDirectory,
        _ ports: (http: Int, https: Int),
        locations: String,
        logFormat: String
    ) -> String {
        """
        daemon off;
        master_process off;
        worker_processes 1;
        pid \(directory.path("nginx.pid"));
        error_log \(directory.path("error.log"));
        events { worker_connections 1024; }
        http {
            types { image/jpeg jpg; image/png png; image/svg+xml svg; text/html html; }
            log_format short '\(logFormat)';
            access_log \(directory.path("access.log")) short;
            client_body_temp_path \(directory.path("body"));
            proxy_temp_path \(directory.path("proxy"));
            fastcgi_temp_path \(directory.path("fastcgi"));
            uwsgi_temp_path \(directory.path("uwsgi"));
            scgi_temp_path \(directory.path("scgi"));
            keepalive_requests 1000000;
            gzip on;
            gzip_min_length 1;
            gzip_types image/svg+xml;
            server {
                listen 127.0.0.1:\(ports.http) backlog=1024;
                listen 127.0.0.1:\(ports.https) ssl http2 backlog=1024;
                ssl_certificate \(directory.path("cert.pem"));
                ssl_certificate_key \(directory.path("key.pem"));
                root \(directory.path("root"));
                location = /moved { return 302 /a.jpg; }
                location = /to-http { return 302 http://127.0.0.1:\(ports.http)/a.jpg; }
                location = /to-https { return 302 https://127.0.0.1:\(ports.https)/a.jpg; }
                \(locations)
            }
        }
        """
    }

    static func makeCertificate(_ openssl: String, _ directory: TemporaryDirectory) async throws {
        let process = try spawn([
            openssl, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days",
            "2", "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost", "-keyout",
            directory.path("key.pem"), "-out", directory.path("cert.pem"),
        ])
        let status = await valueOnThread {
            var status: Int32 = 0
            waitpid(process, &status, 0)
            return status
        }
        guard status == 0 else { throw StartFailure(description: "openssl made no certificate") }
    }

    /// Starts a program with its output discarded.
    private static func spawn(_ arguments: [String]) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for descriptor in [Int32(0), 1, 2] {
            posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_RDWR, 0)
        }
        // Threads of the test runner may block signals, and the program would inherit that and never end.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        var pointers = arguments.map { strdup($0) } + [nil]
        defer { for pointer in pointers { free(pointer) } }
        var process = pid_t()
        guard posix_spawn(&process, arguments[0], &actions, &attributes, &pointers, environ) == 0 else {
            throw StartFailure(description: "\(arguments[0]) cannot be started")
        }
        return process
    }

    static func program(_ name: String) -> String? {
        ["/usr/sbin", "/usr/bin", "/usr/local/sbin", "/usr/local/bin"].map { "\($0)/\(name)" }
            .first { access($0, X_OK) == 0 }
    }
}
