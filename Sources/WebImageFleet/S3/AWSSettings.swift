import FoundationEssentials

/// The settings of S3 and its credentials in the environment, with the names of AWS' tools.
struct AWSSettings: Sendable {
    private let variable: @Sendable (String) -> String?

    /// - Parameter variable: returns the value of an environment variable.
    init(_ variable: @escaping @Sendable (String) -> String?) { self.variable = variable }

    init(_ values: [String: String]) { self.init { values[$0] } }

    /// The environment of this process now.
    static var process: AWSSettings { AWSSettings(ProcessInfo.processInfo.environment) }

    /// A variable that is not empty.
    subscript(_ name: String) -> String? { variable(name).flatMap { $0.isEmpty ? nil : $0 } }

    var region: String? { self["AWS_REGION"] ?? self["AWS_DEFAULT_REGION"] }
    var endpoint: String? { self["AWS_ENDPOINT_URL_S3"] ?? self["AWS_ENDPOINT_URL"] }

    /// The places that may have credentials, in the order in which they are tried.
    var credentialOrigins: [AWSCredentialOrigin] {
        if let keyID = self["AWS_ACCESS_KEY_ID"], let secret = self["AWS_SECRET_ACCESS_KEY"] {
            let credentials = AWSCredentials(keyID: keyID, secret: secret, token: self["AWS_SESSION_TOKEN"])
            return credentials.map { [.fixed($0)] } ?? []
        }
        var origins: [AWSCredentialOrigin] = []
        if let path = self["AWS_SHARED_CREDENTIALS_FILE"] ?? self["HOME"].map({ $0 + "/.aws/credentials" }) {
            origins.append(.file(path: path, profile: self["AWS_PROFILE"] ?? "default"))
        }
        if let container = containerOrigin { origins.append(container) }
        // Only one of these two exists on a machine, and a missing metadata service costs its timeout.
        let isInContainer =
            self["AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"] != nil || self["AWS_CONTAINER_CREDENTIALS_FULL_URI"] != nil
        if !isInContainer, self["AWS_EC2_METADATA_DISABLED"]?.lowercased() != "true", let url = instanceURL {
            origins.append(.instance(url))
        }
        return origins
    }

    private var containerOrigin: AWSCredentialOrigin? {
        let address: String
        if let path = self["AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"] {
            guard path.hasPrefix("/") else { return nil }
            address = "http://169.254.170.2\(path)"
        } else if let url = self["AWS_CONTAINER_CREDENTIALS_FULL_URI"] {
            address = url
        } else {
            return nil
        }
        guard let url = URL(string: address), Self.mayAskContainer(url) else { return nil }
        if let path = self["AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"] { return .container(url, .file(path)) }
        return .container(url, self["AWS_CONTAINER_AUTHORIZATION_TOKEN"].map { AWSCredentialOrigin.Token.text($0) })
    }

    /// Returns whether credentials may be asked for there: over TLS anywhere, else only from this machine, and from the addresses of the
    /// agents of ECS and EKS.
    static func mayAskContainer(_ url: URL) -> Bool {
        let parts = URLComponents(url: url, resolvingAgainstBaseURL: false)
        guard let scheme = parts?.scheme?.lowercased(), let host = parts?.host?.lowercased(), !host.isEmpty,
            parts?.user == nil, parts?.password == nil
        else { return false }
        let agents: Set<String> = [
            "127.0.0.1", "localhost", "::1", "[::1]", "169.254.170.2", "169.254.170.23", "fd00:ec2::23",
            "[fd00:ec2::23]",
        ]
        return scheme == "https" || scheme == "http" && agents.contains(host)
    }

    private var instanceURL: URL? {
        if let text = self["AWS_EC2_METADATA_SERVICE_ENDPOINT"] {
            return URL(string: text).flatMap { ["http", "https"].contains($0.scheme?.lowercased()) ? $0 : nil }
        }
        let isIPv6 = self["AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE"]?.lowercased() == "ipv6"
        return URL(string: isIPv6 ? "http://[fd00:ec2::254]" : "http://169.254.169.254")
    }
}

/// A place that has credentials.
enum AWSCredentialOrigin: Sendable, Hashable {
    enum Token: Sendable, Hashable {
        case text(String)
        /// The path of a file that is read for each request: the system replaces it.
        case file(String)
    }

    case fixed(AWSCredentials)
    /// A shared credentials file.
    case file(path: String, profile: String)
    /// The agent of a container, with the value of the field `Authorization`.
    case container(URL, Token?)
    /// The metadata service of an instance, version 2.
    case instance(URL)
}
