import FoundationEssentials
package import TestSupport
import Testing
package import WebImageHTTP

extension DownloadRetryPolicy {
    /// Three retries after 1, 2 and 4 seconds, without jitter.
    package static var exact: DownloadRetryPolicy {
        var policy = DownloadRetryPolicy()
        policy.maximumRetryCount = 3
        policy.baseDelay = 1
        policy.jitter = 0
        return policy
    }
}

extension HostBackOffPolicy {
    /// After three failures for 1, 2, 4 and at most 8 seconds, without jitter.
    package static var exact: HostBackOffPolicy {
        var policy = HostBackOffPolicy()
        policy.failureThreshold = 3
        policy.maximumDelay = 8
        policy.jitter = 0
        policy.askThreshold = 1
        return policy
    }
}

extension SourcePolicy {
    /// The untrusted policy with exceptions.
    package static func allowing(_ rules: String...) throws -> SourcePolicy {
        var policy = SourcePolicy.untrusted
        // Decoded here, without workers.
        policy.isolatedFormats = DecodeIsolation.riskyFormats
        policy.allowed = try rules.map { try #require(SourceRule($0)) }
        return policy
    }

    /// The untrusted policy, with exceptions for the servers' own addresses and ports.
    package static func allowing(_ servers: LoopbackServer...) throws -> SourcePolicy {
        var policy = SourcePolicy.untrusted
        policy.isolatedFormats = DecodeIsolation.riskyFormats
        policy.allowed = try servers.map { try #require(SourceRule("127.0.0.1:\($0.port)")) }
        return policy
    }
}
