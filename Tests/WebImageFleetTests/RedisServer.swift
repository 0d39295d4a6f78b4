import Foundation
import TestSupport
import WebImageSupport

@testable import WebImageFleet

/// A real `redis-server` on a free port of 127.0.0.1; it ends with the object.
final class RedisServer: Sendable {
    struct StartFailure: Error {}

    private static let path: String? = {
        let candidates: [String] = ["/usr/bin/redis-server", "/usr/local/bin/redis-server"]
        return candidates.first { FileManager.default.isExecutableFile(atPath: $0) }
    }()
    static var isInstalled: Bool { path != nil }

    let port: Int
    private let reservation: ReservedPort
    private let busReservation: ReservedPort
    private let directory = TemporaryDirectory()
    private let options: [String]
    /// The certificates of a server with TLS; nil for one without.
    private let certificates: Certificates?
    private let process: Lock<HelperProcess?>

    var endpoint: RedisEndpoint { RedisEndpoint(host: "127.0.0.1", port: UInt16(port)) }
    var configuration: RedisConfiguration { RedisConfiguration(endpoint: endpoint) }

    convenience init(_ options: String...) async throws { try await self.init(certificates: nil, options) }

    init(certificates: Certificates?, _ options: [String]) async throws {
        self.certificates = certificates
        reservation = try ReservedPort()
        busReservation = try ReservedPort()
        port = reservation.port
        self.options = options
        process = Lock(nil)
        try await start()
    }

    /// Starts it again after a kill.
    func start() async throws {
        guard let path = Self.path else { throw StartFailure() }
        let log = directory.path("log")
        unlink(log)
        var arguments = [
            certificates == nil ? "--port" : "--tls-port", String(port), "--bind", "127.0.0.1", "--dir", directory.path,
            "--logfile", log, "--save", "",
            "--appendonly", "no",
        ]
        if options.contains("--cluster-enabled") { arguments += ["--cluster-port", String(busReservation.port)] }
        if let certificates {
            arguments += [
                "--port", "0", "--tls-cert-file", certificates.path("server.pem"), "--tls-key-file",
                certificates.path("server.key"), "--tls-ca-cert-file", certificates.path("ca.pem"),
            ]
        }
        let process = try HelperProcess(path: path, arguments + options)
        let isReady = await process.wait(forChangesOf: directory.path) {
            FileManager.default.contents(atPath: log)
                .map { String(decoding: $0, as: UTF8.self).contains("Ready to accept connections") } ?? false
        }
        guard isReady else { throw StartFailure() }
        self.process.withLock { $0 = process }
    }

    func kill() async {
        let process = process.withLock { $0 }
        process?.kill()
        _ = await process?.wait()
    }

    func pause() { process.withLock { $0 }?.send(SIGSTOP) }
    func resume() { process.withLock { $0 }?.send(SIGCONT) }
    var busPort: Int { busReservation.port }
}

extension RedisClient {
    /// The reply to a command, or the failure.
    func reply(_ command: RedisCommand, key: String = "", patience: Double = 60) async -> Result<
        RESPValue, RedisFailure
    > {
        await withCheckedContinuation { continuation in
            send(command, key: key, patience: UInt64(patience * 1e9)) { continuation.resume(returning: $0) }
        }
    }

    func reply(_ words: String..., key: String = "", patience: Double = 60) async -> Result<RESPValue, RedisFailure> {
        var command = RedisCommand()
        command.arguments = words.map { Data($0.utf8) }
        return await reply(command, key: key, patience: patience)
    }
}
