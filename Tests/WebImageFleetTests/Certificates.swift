import Foundation
import TestSupport

@testable import WebImageFleet

/// An authority, and the certificates of a server and of a client that it has signed, made by openssl.
final class Certificates: Sendable {
    struct Failure: Error {}

    static var areAvailable: Bool { FileManager.default.isExecutableFile(atPath: openssl) }

    private static let openssl = "/usr/bin/openssl"
    private let directory = TemporaryDirectory()

    /// - Parameter names: the server's names and addresses, in the notation of openssl.
    init(of names: String = "IP:127.0.0.1,DNS:localhost") async throws {
        try await run(
            ["req", "-x509"] + newKey("ca") + ["-subj", "/CN=authority", "-days", "2", "-out", path("ca.pem")]
        )
        for (name, extensions) in [("server", ["-addext", "subjectAltName=\(names)"]), ("client", [])] {
            let request = ["-subj", "/CN=\(name)", "-out", path("\(name).csr")]
            try await run(["req", "-new"] + newKey(name) + extensions + request)
            try await run([
                "x509", "-req", "-in", path("\(name).csr"), "-CA", path("ca.pem"), "-CAkey", path("ca.key"),
                "-CAcreateserial", "-days", "2", "-copy_extensions", "copy", "-out", path("\(name).pem"),
            ])
        }
    }

    func path(_ name: String) -> String { directory.path(name) }

    /// What a client needs.
    func clientFiles(withCertificate: Bool = false) -> RemoteStoreCertificates {
        var files = RemoteStoreCertificates(authorityFile: path("ca.pem"))
        if withCertificate { (files.certificateFile, files.keyFile) = (path("client.pem"), path("client.key")) }
        return files
    }

    private func newKey(_ name: String) -> [String] {
        ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", path("\(name).key")]
    }

    private func run(_ arguments: [String]) async throws {
        let run = try await ProgramRun.run(Self.openssl, arguments)
        guard run.status == 0 else { throw Failure() }
    }
}
