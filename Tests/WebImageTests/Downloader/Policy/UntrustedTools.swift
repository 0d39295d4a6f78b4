import FoundationEssentials
import TestSupport
import Testing
import WebImage

@testable import WebImageHTTP

extension SourcePolicy {
    /// The untrusted policy with exceptions.
    static func allowing(_ rules: String...) throws -> SourcePolicy {
        var policy = SourcePolicy.untrusted
        // Decoded here, without workers.
        policy.isolatedFormats = DecodeIsolation.riskyFormats
        policy.allowed = try rules.map { try #require(SourceRule($0)) }
        return policy
    }

    /// The untrusted policy, with exceptions for the servers' own addresses and ports.
    static func allowing(_ servers: LoopbackServer...) throws -> SourcePolicy {
        var policy = SourcePolicy.untrusted
        policy.isolatedFormats = DecodeIsolation.riskyFormats
        policy.allowed = try servers.map { try #require(SourceRule("127.0.0.1:\($0.port)")) }
        return policy
    }
}

extension WebImageDownloader {
    /// A downloader under a policy.
    convenience init(
        _ policy: SourcePolicy,
        resolver: HostResolver? = nil,
        change: (inout WebImageDownloaderConfig) -> Void = { _ in }
    ) {
        var config = WebImageDownloaderConfig()
        config.sourcePolicy = policy
        change(&config)
        self.init(config: config, transport: CurlTransport(resolver: resolver))
    }
}

/// Says where hosts are, something else each time; the last answer stays.
final class ChangingResolver: Sendable {
    private let state: Lock<(answers: [[IPAddress]], asked: [String])>

    init(_ answers: String...) {
        state = Lock((answers.map { $0.split(separator: " ").compactMap { IPAddress(String($0)) } }, []))
    }

    var asked: [String] { state.withLock { $0.asked } }

    @Sendable func addresses(_ host: String, _ port: Int) -> [IPAddress] {
        state.withLock { state in
            state.asked.append(host)
            return state.answers.count > 1 ? state.answers.removeFirst() : state.answers.first ?? []
        }
    }
}

/// The bytes of a small picture.
func smallPicture() throws -> [UInt8] { [UInt8](try Fixtures.data("JPEG/gray.jpg")) }

/// A fake that says that it looks where it connects to.
final class CheckingTransport: HTTPTransport {
    let base = FakeTransport()

    var checksAddresses: Bool { true }

    func start(_ request: HTTPTransferRequest, sink: any HTTPTransferSink) -> any HTTPTransfer {
        base.start(request, sink: sink)
    }

    func invalidate() { base.invalidate() }
}
