import Foundation
import TestSupport
import WebImage
import WebImageSupport

@testable import WebImageFleet

/// A real server of S3 that checks signatures, `Servers/s3-server.py`; it ends with the object, or with this process.
final class S3Server: Sendable {
    struct StartFailure: Error {}

    /// Made by `Scripts/setup`.
    private static let python = Fixtures.path("../../.build/moto/bin/python3")
    static let isInstalled = FileManager.default.isExecutableFile(
        atPath: Fixtures.path("../../.build/moto/bin/moto_server")
    )
    /// The reason for which tests are skipped.
    static let absence = "moto is not installed from PyPI; Scripts/setup does it"

    /// One server for all tests that neither stop nor end it: its start takes seconds.
    static let shared = Task { try await S3Server() }

    let port: Int
    private let process: HelperProcess

    init() async throws {
        let process = try HelperProcess(path: Self.python, ["-B", Fixtures.path("../Servers/s3-server.py")])
        guard let port = await process.readLine().flatMap({ Int($0) }) else { throw StartFailure() }
        (self.process, self.port) = (process, port)
    }

    func kill() async {
        process.kill()
        await process.wait()
    }

    func pause() { process.send(SIGSTOP) }
    func resume() { process.send(SIGCONT) }

    /// A client with a key of the server, and its own prefix of names.
    func client(
        _ settings: [String: String] = S3Server.settings,
        bucket: String = "fleet",
        prefix: String = UUID().uuidString,
        style: String = "path",
        health: NodeHealth.Rules = NodeHealth.Rules()
    ) throws -> S3Client {
        let settings = AWSSettings(settings)
        let host = style == "path" ? "127.0.0.1" : "localhost"
        let url = "s3://\(bucket)/\(prefix)?endpoint=http://\(host):\(port)&region=eu-west-1&style=\(style)"
        return S3Client(
            try S3Configuration(url: url, settings: settings),
            credentials: AWSCredentialCache(settings),
            health: health
        )
    }

    static let settings = ["AWS_ACCESS_KEY_ID": "AKIDTEST", "AWS_SECRET_ACCESS_KEY": "secret/with+signs"]
}

extension S3Client {
    /// A client of a server that a test scripts.
    convenience init(port: Int, health: NodeHealth.Rules = NodeHealth.Rules()) throws {
        let settings = AWSSettings(S3Server.settings)
        let url = "s3://fleet/p?endpoint=http://127.0.0.1:\(port)"
        self.init(
            try S3Configuration(url: url, settings: settings),
            credentials: AWSCredentialCache(settings),
            health: health
        )
    }

    /// The body of the response, or the failure. The time is long, because the machine that runs the tests is busy.
    func result(
        _ method: String,
        _ name: String,
        _ body: Data? = nil,
        fields: [String: String] = [:],
        patience: Double = 20
    ) async -> Result<Data, Failure> {
        let operation = Operation(
            method: method,
            name: name,
            body: body,
            fields: fields,
            patience: UInt64(patience * 1e9)
        )
        let result: Result<S3Exchange.Answer, Failure> = await awaitCompletion { perform(operation, completion: $0) }
        return result.map(\.body)
    }
}

extension S3Store {
    func value(_ name: String) async -> RemoteRead { await awaitCompletion { read(name, completion: $0) } }

    func write(_ value: Data, as name: String) async -> Bool {
        await awaitCompletion { write(value, as: name, seconds: 10, completion: $0) }
    }
}
