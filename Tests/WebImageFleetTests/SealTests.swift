import Foundation
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageCache
@testable import WebImageFleet

@Suite(.tags(.addressSanitizer)) struct RemoteSealTests {
    private let seal = RemoteSeal([Data("0123456789abcdef".utf8)])
    private let key = "https://example.com/a.jpg"

    private func file(etag: String? = "\"x\"") throws -> Data {
        let validators = CacheValidators(etag: etag, lastModified: nil)
        let entry = CachedImageData(
            data: Data((0..<5000).map { UInt8(truncatingIfNeeded: $0 &* 13) }),
            validators: validators
        )
        return try #require(EntryFile.encode(entry, forKey: key, created: 1))
    }

    @Test(arguments: ["\"x\"", nil])
    func `What was sealed is opened under its name`(etag: String?) throws {
        let file = try file(etag: etag)
        let value = try #require(seal.seal(file, as: "a"))
        #expect(value.count == file.count + RemoteSeal.byteCount && value.prefix(file.count) == file)
        #expect(seal.open(value, as: "a") == .file(file))
        #expect(seal.open(value, as: "b") == .refused)
        #expect(seal.open(file, as: "a") == .refused)
        #expect(RemoteSeal([Data("another secret..".utf8)]).open(value, as: "a") == .refused)
        #expect(RemoteSeal().open(value, as: "a") == .file(file))
        #expect(RemoteSeal().seal(file, as: "a") == file)
    }

    @Test func `While a secret is replaced, both are accepted`() throws {
        let (old, new) = (Data("0123456789abcdef".utf8), Data("fedcba9876543210".utf8))
        let file = try file()
        for sealing in [[old, new], [new, old]] {
            let value = try #require(RemoteSeal(sealing).seal(file, as: "a"))
            for opening in [[old, new], [new, old]] { #expect(RemoteSeal(opening).open(value, as: "a") == .file(file)) }
            #expect(RemoteSeal([sealing[1]]).open(value, as: "a") == .refused)
        }
    }

    @Test func `Every changed byte is refused`() throws {
        let value = try #require(seal.seal(file(), as: "a"))
        let layout = try #require(EntryFile.layout(of: file()))
        let (first, second) = (layout.slots[0], layout.slots[1])
        for index in value.indices {
            var damaged = value
            damaged[index] ^= 1
            // What follows the used bytes of a slot is nowhere read.
            let isUnused =
                (first.upperBound..<second.lowerBound).contains(index)
                || (second.upperBound..<layout.recordsOffset).contains(index)
            #expect((seal.open(damaged, as: "a") == .refused) != isUnused, "byte \(index)")
        }
        for count in [0, 1, RemoteSeal.byteCount - 1, RemoteSeal.byteCount, value.count - 1] {
            #expect(seal.open(value.suffix(count), as: "a") == .refused)
            #expect(seal.open(value.prefix(count), as: "a") == .refused)
        }
    }

    @Test func `An amended value is still sealed`() throws {
        var value = try #require(seal.seal(file(), as: "a"))
        for etag in ["\"y\"", "\"z\"", "\"w\""] {
            let validators = CacheValidators(etag: etag, lastModified: nil)
            let end = seal.end(of: value.suffix(EntryFile.endByteCount))
            let count = value.count - RemoteSeal.byteCount
            let change = try #require(
                EntryFile.amendment(ofFileWithEnd: end.file, byteCount: count, forKey: key, to: validators)
            )
            let pieces = try #require(seal.pieces(of: change, end: value, byteCount: count))
            #expect(pieces.count == 2)
            for piece in pieces {
                value.replaceSubrange(piece.offset..<(piece.offset + piece.bytes.count), with: piece.bytes)
            }
            guard case .file(let file) = seal.open(value, as: "a") else {
                Issue.record("it was refused")
                return
            }
            #expect(EntryFile.decode(file, forKey: key)?.validators == validators)
        }
    }
}

@Suite(
    .timeLimit(.minutes(2)),
    .enabled(if: RedisServer.isInstalled, "redis-server is not installed")
)
struct SecretTests {
    private let secret = Data("0123456789abcdef".utf8)
    private let other = Data("fedcba9876543210".utf8)
    private let directory = TemporaryDirectory()

    @Test func `Values with another secret, or with none, are misses and counted`() async throws {
        let (server, fleet) = (try await RedisServer(), try Fleet())
        let url = fleet.origin.url("/a.jpg")
        let stores = [[], [secret], [other], [other, secret], [other]]
        var refused: [Int] = []
        for (number, secrets) in stores.enumerated() {
            let machine = fleet.machine("\(number)", try server.store().sealed(with: secrets))
            _ = try await machine.load(url)
            await machine.cache.flush()
            refused.append(machine.cache.statistics.refusedCount)
        }
        // The first, second and third replace the value; the fourth and the fifth find that of the third.
        #expect(refused == [0, 1, 1, 0, 0])
        #expect(fleet.origin.requestCount() == 3)
    }

    @Test func `The command reads secrets from a file and from the environment`() async throws {
        let (server, fleet) = (try await RedisServer(), try Fleet())
        let file = directory.path("secret")
        try (secret + Data("\n".utf8)).write(to: URL(filePath: file))
        let text = String(decoding: secret, as: UTF8.self)
        let runs: [(arguments: [String], environment: [String: String], requests: Int)] = [
            (["--remote-secret-file", file], [:], 1), ([], ["WEBIMAGE_REMOTE_SECRET": text], 1),
            ([], ["WEBIMAGE_REMOTE_SECRET": "another secret of 16"], 2),
        ]
        for (number, run) in runs.enumerated() {
            let arguments = [
                "get", fleet.origin.url("/a.jpg").absoluteString, "-o", directory.path("\(number).png"), "--cache-dir",
                directory.path("\(number)"), "--remote-cache", "redis://127.0.0.1:\(server.port)",
            ]
            let result = try await ProgramRun.run(
                ProgramRun.product("webimage"),
                arguments + run.arguments,
                environment: run.environment
            )
            #expect(result.status == 0, "\(result.errors)")
            #expect(fleet.origin.requestCount() == run.requests)
        }
        for secrets in [["--remote-secret-file", directory.path("absent")], ["--remote-secret-file", "/dev/null"]] {
            let arguments = ["get", "a.jpg", "--remote-cache", "redis://127.0.0.1"] + secrets
            #expect(try await ProgramRun.run(ProgramRun.product("webimage"), arguments).status == 64)
        }
    }
}
