import Foundation
import TestSupport
import WebImage

@testable import WebImageFleet

/// A service with the interface of S3 as far as a store uses it, in memory, with the gaps and faults of a test. It checks no signatures.
final class FakeBucket: Sendable {
    struct Object: Sendable {
        var body: [UInt8]
        var tag: String
        var metadata: [(String, String)] = []
    }

    let server: LoopbackServer
    private let objects: Lock<[String: Object]>

    /// - Parameters:
    ///   - ignored: header fields that the service does not know, in lower case.
    ///   - fault: the response to a request in place of the right one; nil for the right one.
    init(
        ignoring ignored: Set<String> = [],
        fault: @escaping @Sendable (LoopbackRequest) -> LoopbackResponse? = { _ in nil }
    ) throws {
        let objects = Lock<[String: Object]>([:])
        self.objects = objects
        server = try LoopbackServer { request in
            fault(request) ?? objects.withLock { Self.response(to: request, ignoring: ignored, &$0) }
        }
    }

    func object(_ name: String) -> Object? { objects.withLock { $0["/fleet/p/" + name] } }

    func client(health: NodeHealth.Rules = NodeHealth.Rules()) throws -> S3Client {
        try S3Client(port: server.port, health: health)
    }

    /// A store in it. The timeout is long, because the machine that runs the tests is busy.
    func store(patience: UInt64 = 20_000_000_000) throws -> S3Store { S3Store(try client(), patience: patience) }

    private static func response(
        to request: LoopbackRequest,
        ignoring ignored: Set<String>,
        _ objects: inout [String: Object]
    ) -> LoopbackResponse {
        func field(_ name: String) -> String? { ignored.contains(name) ? nil : request.header(name) }
        let former = objects[request.path]
        switch request.method {
        case "PUT":
            if field("if-none-match") == "*", former != nil { return .response(412) }
            if let tag = field("if-match"), former?.tag != tag { return .response(former == nil ? 404 : 412) }
            var object = Object(body: request.body, tag: "\"\(UUID().uuidString)\"")
            object.metadata = request.headers.filter { $0.name.lowercased().hasPrefix("x-amz-meta-") }
            guard let source = field("x-amz-copy-source") else {
                objects[request.path] = object
                return .response()
            }
            guard let copied = objects[source] else { return .response(404) }
            object.body = copied.body
            objects[request.path] = object
            return .response(body: Array("<CopyObjectResult><ETag>x</ETag></CopyObjectResult>".utf8))
        case "DELETE":
            objects[request.path] = nil
            return .response(204)
        default:
            guard let former else { return .response(404) }
            guard let range = request.header("range"), range.hasPrefix("bytes=-"), let count = Int(range.dropFirst(7))
            else { return .response(headers: former.metadata + [("ETag", former.tag)], body: former.body) }
            let (end, total) = (former.body.suffix(count), former.body.count)
            let place = "bytes \(total - end.count)-\(total - 1)/\(total)"
            return .response(206, headers: former.metadata + [("Content-Range", place)], body: Array(end))
        }
    }
}
