import FoundationEssentials
import TestSupport
import WebImage

@testable import WebImageServer

/// Paths such as `/w:400/h:300/fill/ext:webp/http://…`, without signatures: for tests of what is behind the grammars.
struct TestGrammar: URLGrammar {
    func request(
        forPath path: String,
        defaults: VariantOptions,
        now: Int64
    ) throws(ServerError) -> VariantRequest {
        var (options, rest) = (defaults, path.dropFirst())
        while let slash = rest.firstIndex(of: "/"), !rest.hasPrefix("http:") {
            let word = rest[..<slash]
            rest = rest[rest.index(after: slash)...]
            let value = word.split(separator: ":").last.map(String.init) ?? ""
            switch word.prefix(while: { $0 != ":" }) {
            // The rest is the source, of any scheme.
            case "source": return VariantRequest(source: String(rest), options: options)
            case "w": options.width = .pixels(Int(value) ?? 1)
            case "h": options.height = .pixels(Int(value) ?? 1)
            case "ext": options.format = ImageFormat(fileExtension: value)
            case "q": options.quality = Int(value) ?? 0
            case "cb": options.cacheBuster = value
            case "watermark": options.watermark.opacity = 1
            case "exp":
                options.expires = Int64(value)
                if let end = options.expires, end < now { throw .expired }
            default:
                guard let type = VariantResizingType(rawValue: String(word)) else {
                    throw .unknownOption(String(word))
                }
                options.resizingType = type
            }
        }
        guard rest.hasPrefix("http://") else { throw .invalidURL("no source") }
        return VariantRequest(source: String(rest), options: options)
    }
}

/// A server on loopback with a cache directory for itself, and an origin.
struct ServerUnderTest: Sendable {
    let server: ImageServer
    let origin: LoopbackServer
    private let directory: TemporaryDirectory
    private let configuration: ImageServerConfiguration

    init(
        change: (inout ImageServerConfiguration) -> Void = { _ in },
        origin handler: @escaping LoopbackServer.Handler
    ) throws {
        let (origin, directory) = (try LoopbackServer(handler), TemporaryDirectory())
        var configuration = ImageServerConfiguration(grammar: TestGrammar())
        configuration.address = .tcp(host: "127.0.0.1", port: 0)
        configuration.allowsAnyVariant = true
        configuration.cacheDirectory = directory.path
        // Machines that run tests are slow.
        configuration.timeout = 120
        configuration.policy.allowed = [SourceRule("127.0.0.1:\(origin.port)")].compactMap { $0 }
        change(&configuration)
        try self.init(ImageServer(configuration), origin, directory, configuration)
    }

    private init(
        _ server: ImageServer,
        _ origin: LoopbackServer,
        _ directory: TemporaryDirectory,
        _ configuration: ImageServerConfiguration
    ) {
        (self.server, self.origin, self.directory, self.configuration) = (server, origin, directory, configuration)
    }

    /// Stops the server, and returns another one with the same cache directory.
    func restarted() async throws -> ServerUnderTest {
        await onThread { server.stop() }
        await (server.service.manager.imageCache as? ImageCache)?.flush()
        return ServerUnderTest(try ImageServer(configuration), origin, directory, configuration)
    }

    /// Returns the answer to a request for an image of the origin.
    func get(
        _ options: String = "",
        of path: String = "/photo.jpg",
        method: String = "GET",
        _ headers: [(String, String)] = []
    ) async -> RawAnswer {
        await RawAnswer.get(server.port, target(options, path), method: method, headers)
    }

    /// The target of an image of the origin.
    func target(_ options: String = "", _ path: String = "/photo.jpg") -> String {
        "\(options)/\(origin.url(path).absoluteString)"
    }
}

/// An answer as its bytes arrived.
struct RawAnswer: Sendable {
    var status: Int
    var headers = HTTPHeaders()
    var body: [UInt8] = []

    /// Sends a request and returns the answer. The connection is closed by the server.
    static func get(
        _ port: UInt16,
        _ target: String,
        method: String = "GET",
        _ headers: [(String, String)] = []
    ) async -> RawAnswer {
        var text = "\(method) \(target) HTTP/1.1\r\nHost: images.example\r\nConnection: close\r\n"
        for (name, value) in headers { text += "\(name): \(value)\r\n" }
        return await exchange(port, text + "\r\n")
    }

    /// Sends text, and parses everything that arrives until the end as one answer. The status is 0 if there was none.
    static func exchange(_ port: UInt16, _ request: String) async -> RawAnswer {
        RawAnswer(await valueOnThread { LoopbackAnswer(request, port: Int(port)) })
    }

    init(_ answer: LoopbackAnswer) {
        status = answer.status
        for line in answer.head.split(separator: "\r\n").dropFirst() {
            guard let colon = line.firstIndex(of: ":") else { continue }
            headers.add(
                name: String(line[..<colon]),
                value: String(line[line.index(after: colon)...].drop { $0 == " " })
            )
        }
        body = answer.body
    }
}
