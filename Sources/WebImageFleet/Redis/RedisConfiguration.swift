import FoundationEssentials
import WebImageCache

/// The address of a server, or of any node of a cluster, and the way in which it is used.
struct RedisConfiguration: Sendable, Hashable {
    /// The error of an address that cannot be used, as a part of a sentence. It contains no part of the address, which may have a password.
    struct Problem: Error, Hashable {
        let description: String
    }

    var endpoint: RedisEndpoint
    /// True if connections are encrypted. Needs ``tls`` then.
    var usesTLS = false
    /// The certificates; nil for connections that are not encrypted.
    var tls = IgnoredInEquality<TLSContext?>(value: nil)
    /// The ACL user; nil for the default user.
    var user: String?
    var password: String?
    /// The number of the database. Clusters have only 0.
    var database = 0
    /// The time for a connection to be made, in nanoseconds.
    var connectTimeout: UInt64 = 1_000_000_000
    /// The time after which a connection without a reply is closed, in nanoseconds.
    var silence: UInt64 = 1_000_000_000
    var limits = RESPReader.Limits()
    var health = NodeHealth.Rules()

    init(endpoint: RedisEndpoint) { self.endpoint = endpoint }

    /// Parses `redis://[[user]:password@]host[:port][/database]`, or `rediss:` for TLS. User and password are percent-decoded.
    init(url text: String) throws(Problem) {
        guard let url = URLComponents(string: text), let scheme = url.scheme?.lowercased() else {
            throw Problem(description: "it is not a URL")
        }
        guard ["redis", "rediss"].contains(scheme) else { throw Problem(description: "its scheme is not redis") }
        guard url.query == nil, url.fragment == nil else {
            throw Problem(description: "it has a query or a fragment")
        }
        let port = url.port.map { UInt16(exactly: $0) ?? 0 } ?? 6379
        guard let host = url.host, !host.isEmpty, let endpoint = RedisEndpoint(hostAndPort: "\(host):\(port)") else {
            throw Problem(description: "it has no valid host and port")
        }
        self.init(endpoint: endpoint)
        usesTLS = scheme == "rediss"
        password = url.password
        user = url.user.flatMap { $0.isEmpty ? nil : $0 }
        // Some clients take it for a password and others for a user.
        guard user == nil || password != nil else { throw Problem(description: "it has a user without a password") }
        let path = url.path.drop { $0 == "/" }
        guard !path.isEmpty else { return }
        guard let number = Int(path), (0...65535).contains(number) else {
            throw Problem(description: "its path is not the number of a database")
        }
        database = number
    }

    /// The commands that a new connection begins with.
    var handshake: [RedisCommand] {
        var commands: [RedisCommand] = []
        if let password {
            commands.append(user.map { RedisCommand("AUTH", $0, password) } ?? RedisCommand("AUTH", password))
        }
        if database != 0 { commands.append(RedisCommand("SELECT", String(database))) }
        return commands
    }
}
