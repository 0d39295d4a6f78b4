import FoundationEssentials
import Glibc
import WebImageHTTP

/// Gets credentials from the places that have them. Blocks: a thread of its owner calls it.
///
/// Requests use a transport that nothing else uses and that has no source policy, because the metadata services have the addresses that no
/// untrusted URL may reach. Their addresses come from the environment only. Redirects are not followed, and no proxy is used.
final class AWSMetadata: Sendable {
    /// The largest file or document.
    private static let mostBytes = 1 << 20

    private let transport: any HTTPTransport
    /// The time for a request, in seconds.
    private let patience: Double

    init(transport: any HTTPTransport = CurlTransport(), patience: Double = 2) {
        (self.transport, self.patience) = (transport, patience)
    }

    /// Returns the first credentials that one of the places has.
    func credentials(from origins: [AWSCredentialOrigin]) -> AWSCredentials? {
        for origin in origins {
            if let credentials = credentials(from: origin) { return credentials }
        }
        return nil
    }

    private func credentials(from origin: AWSCredentialOrigin) -> AWSCredentials? {
        switch origin {
        case .fixed(let credentials): return credentials
        case .file(let path, let profile):
            return Self.text(ofFile: path).flatMap { AWSCredentials(profile: profile, inFile: $0) }
        case .container(let url, let token):
            var headers: HTTPHeaders = ["Accept": "application/json"]
            if let token {
                guard let value = Self.value(of: token) else { return nil }
                headers["Authorization"] = value
            }
            return response(url, headers: headers).flatMap { AWSCredentials(json: $0) }
        case .instance(let url): return instanceCredentials(url)
        }
    }

    private func instanceCredentials(_ base: URL) -> AWSCredentials? {
        let lifetime: HTTPHeaders = ["X-aws-ec2-metadata-token-ttl-seconds": "21600"]
        guard let answer = response(base.appending(path: "latest/api/token"), method: "PUT", headers: lifetime),
            let token = Self.field(String(decoding: answer, as: UTF8.self))
        else { return nil }
        let headers: HTTPHeaders = ["X-aws-ec2-metadata-token": token]
        let roles = base.appending(path: "latest/meta-data/iam/security-credentials/")
        guard let list = response(roles, headers: headers),
            let role = String(decoding: list, as: UTF8.self).split(whereSeparator: \.isNewline).first,
            // A name of a role, and not a path to something else.
            role.utf8.count <= 128, role.utf8.allSatisfy({ Self.roleCharacters.contains($0) }), role.first != ".",
            let document = response(roles.appending(path: String(role)), headers: headers)
        else { return nil }
        return AWSCredentials(json: document)
    }

    private static let roleCharacters = Set(
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+=,.@_-".utf8
    )

    private func response(_ url: URL, method: String = "GET", headers: HTTPHeaders) -> Data? {
        var request = HTTPTransferRequest(url: url, headers: headers)
        request.method = method
        request.proxy = .none
        request.maximumByteCount = 64 << 10
        request.connectTimeout = patience / 2
        request.totalTimeout = patience
        let end = Latch()
        let found = Lock<Data?>(nil)
        let sink = S3Exchange(byteLimit: request.maximumByteCount) { result in
            if case .success(let answer) = result, answer.statusCode == 200 { found.withLock { $0 = answer.body } }
            end.open()
        }
        let transfer = transport.start(request, sink: sink)
        // The transport has its own limit; this one is for a transport that has not.
        guard end.wait(seconds: 2 * patience) else {
            transfer.cancel()
            return nil
        }
        return found.withLock { $0 }
    }

    // MARK: Files

    private static func value(of token: AWSCredentialOrigin.Token) -> String? {
        switch token {
        case .text(let text): field(text)
        case .file(let path): text(ofFile: path).flatMap { field($0) }
        }
    }

    /// Returns a text that can be the value of a header field, without blanks around it.
    private static func field(_ text: String) -> String? {
        let words = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        return !words.isEmpty && words.utf8.count <= 16 << 10 && words.utf8.allSatisfy { $0 >= 32 && $0 < 127 }
            ? words : nil
    }

    private static func text(ofFile path: String) -> String? {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: mostBytes + 1)
        var count = 0
        while count < bytes.count {
            let step = bytes.withUnsafeMutableBytes {
                read(file, $0.baseAddress?.advanced(by: count), $0.count - count)
            }
            if step < 0, errno == EINTR { continue }
            guard step >= 0 else { return nil }
            if step == 0 { break }
            count += step
        }
        guard count <= mostBytes else { return nil }
        return String(decoding: bytes[..<count], as: UTF8.self)
    }
}
