import FoundationEssentials
import ModelTestSupport
import TestSupport
import WebImage

@testable import WebImageCodecs

/// A server that interrupts each first response, and then behaves in one of many ways.
final class CutServer: Sendable {
    /// The server's handling of range requests, and its description of images.
    enum Behaviour: String, CaseIterable, Sendable {
        // Correct partial responses.
        case strongTag, dates, chunkedFirst
        // Responses of which nothing is kept.
        case weakTag, noValidator, gzip, noStore
        // Servers without range support.
        case wholeInstead, notSatisfiable
        // The image has been replaced.
        case changed, shortened
        // The image has been replaced, on a server that ignores conditions and sends no validators.
        case changedUntagged
        // Wrong responses.
        case wrongStart, wrongTotal, noContentRange, severalParts, gzippedRest, otherBytes, tooMany, breaksOffAgain

        /// A Boolean value that indicates whether a resume can succeed at all, with the limit on its cost.
        var isResumable: Bool { [.strongTag, .dates, .chunkedFirst, .breaksOffAgain].contains(self) }
        /// A Boolean value that indicates whether a range is requested.
        var isKept: Bool { ![.weakTag, .noValidator, .gzip, .noStore].contains(self) }
        /// A Boolean value that indicates whether the image is another from the second request on.
        var changes: Bool { [.changed, .shortened, .otherBytes, .changedUntagged].contains(self) }
    }

    static let byteCount = 64 << 10
    static let first = noise(byteCount)
    static let second = noise(byteCount, seed: 2)
    /// The first image with other bytes at both ends: only there can they be told apart.
    static let touched: [UInt8] = {
        var bytes = first
        for index in [0, byteCount - 1] { bytes[index] ^= 1 }
        return bytes
    }()
    fileprivate static let modified = "Sun, 06 Nov 1994 08:49:37 GMT"

    private struct Seen {
        /// Requests by path.
        var counts: [String: Int] = [:]
        /// Bytes of sent bodies, by path.
        var sent: [String: Int] = [:]
        /// Requested ranges, by path.
        var ranges: [String: [String]] = [:]
    }

    private let behaviour: Behaviour
    private let seen: Lock<Seen>
    private let server: LoopbackServer

    init(_ behaviour: Behaviour) throws {
        self.behaviour = behaviour
        let seen = Lock(Seen())
        self.seen = seen
        server = try LoopbackServer { request in
            let number = seen.withLock { seen -> Int in
                seen.counts[request.path, default: 0] += 1
                if let range = request.header("Range") { seen.ranges[request.path, default: []].append(range) }
                return seen.counts[request.path] ?? 0
            }
            let answer = Answer(behaviour: behaviour, request: request, number: number)
            return .script { _, connection in
                seen.withLock { $0.sent[request.path, default: 0] += answer.body.count }
                return answer.send(to: connection)
            }
        }
    }

    /// The image whose first response is interrupted after `count` bytes.
    func url(_ count: Int) -> URL { server.url("/\(count)") }
    func sentByteCount(_ url: URL) -> Int { seen.withLock { $0.sent[url.path()] ?? 0 } }
    func ranges(_ url: URL) -> [String] { seen.withLock { $0.ranges[url.path()] ?? [] } }
    /// The server's current image.
    var current: [UInt8] {
        switch behaviour {
        case .shortened: Array(Self.second[..<3000])
        case .changedUntagged: Self.touched
        case _ where behaviour.changes: Self.second
        default: Self.first
        }
    }

    /// A response: the body that is sent, and what it announces.
    fileprivate struct Answer {
        var status = 200
        var headers: [(String, String)] = []
        var body: [UInt8]
        var breaksOff = false
        var isChunked = false

        func send(to connection: LoopbackConnection) -> Bool {
            guard connection.sendHead(status, headers) else { return false }
            if isChunked {
                connection.sendChunk(body)
                return !breaksOff && connection.send("0\r\n\r\n")
            }
            return connection.send(body) && !breaksOff
        }
    }
}

extension CutServer.Answer {
    fileprivate typealias Behaviour = CutServer.Behaviour

    fileprivate init(behaviour: Behaviour, request: LoopbackRequest, number: Int) {
        let cut = Int(request.path.dropFirst()) ?? 0
        if number == 1 {
            self.init(first: behaviour, cut: cut)
        } else if let range = request.header("Range") {
            self.init(
                rest: behaviour,
                request,
                start: Int(range.dropFirst(6).prefix { $0 != "-" }) ?? 0,
                number: number
            )
        } else {
            self.init(whole: behaviour)
        }
    }

    private static func validators(_ behaviour: Behaviour, isSecond: Bool) -> [(String, String)] {
        switch behaviour {
        case .weakTag: [("ETag", "W/\"one\"")]
        case .dates: [("Last-Modified", CutServer.modified), ("Date", "Sun, 06 Nov 1994 09:49:37 GMT")]
        case .noValidator: []
        case .noStore: [("ETag", "\"one\""), ("Cache-Control", "no-store")]
        // A server that changes bytes under the same tag is the worst case.
        case .otherBytes: [("ETag", "\"one\"")]
        default: [("ETag", isSecond && behaviour.changes ? "\"two\"" : "\"one\"")]
        }
    }

    private init(first behaviour: Behaviour, cut: Int) {
        let bytes = behaviour == .gzip ? gzipStored(CutServer.first) : CutServer.first
        let cut = min(cut, bytes.count)
        self.init(body: Array(bytes[..<cut]), breaksOff: cut < bytes.count)
        headers = Self.validators(behaviour, isSecond: false)
        if behaviour == .gzip { headers.append(("Content-Encoding", "gzip")) }
        isChunked = behaviour == .chunkedFirst
        headers.append(isChunked ? ("Transfer-Encoding", "chunked") : ("Content-Length", "\(bytes.count)"))
        // A chunked body cut at its end is complete.
        if isChunked, cut == bytes.count { breaksOff = false }
    }

    private init(whole behaviour: Behaviour) {
        switch behaviour {
        case .shortened: self.init(body: Array(CutServer.second[..<3000]))
        case .changedUntagged: self.init(body: CutServer.touched)
        case _ where behaviour.changes: self.init(body: CutServer.second)
        case .gzip: self.init(body: gzipStored(CutServer.first))
        default: self.init(body: CutServer.first)
        }
        headers = Self.validators(behaviour, isSecond: true) + [("Content-Length", "\(body.count)")]
        if behaviour == .gzip { headers.append(("Content-Encoding", "gzip")) }
    }

    private init(rest behaviour: Behaviour, _ request: LoopbackRequest, start: Int, number: Int) {
        let total = CutServer.byteCount
        let source =
            switch behaviour {
            case .otherBytes: CutServer.second
            case .changedUntagged: CutServer.touched
            default: CutServer.first
            }
        self.init(status: 206, body: Array(source[min(start, total)...]))
        var range = "bytes \(start)-\(total - 1)/\(total)"
        switch behaviour {
        case .wholeInstead, .changed, .shortened:
            self = Self(whole: behaviour)
            return
        case .notSatisfiable:
            self = Self(status: 416, headers: [("Content-Length", "0")], body: [])
            return
        case .wrongStart:
            range = "bytes \(start + 1)-\(total - 1)/\(total)"
            body = Array(body.dropFirst())
        case .wrongTotal: range = "bytes \(start)-\(total - 1)/\(total + 1)"
        case .gzippedRest: headers.append(("Content-Encoding", "gzip"))
        case .severalParts: headers.append(("Content-Type", "multipart/byteranges; boundary=x"))
        case .tooMany:
            body += [1, 2, 3]
            isChunked = true
        case .breaksOffAgain where number == 2:
            breaksOff = true
            let length = body.count
            body = Array(body[..<min(6000, length - 1)])
            headers.append(("Content-Length", "\(length)"))
        default: break
        }
        if behaviour == .gzippedRest { body = gzipStored(body) }
        if behaviour != .changedUntagged { headers += Self.validators(behaviour, isSecond: true) }
        if ![.severalParts, .noContentRange].contains(behaviour) { headers.append(("Content-Range", range)) }
        if isChunked { headers.append(("Transfer-Encoding", "chunked")) }
        if !isChunked, !breaksOff { headers.append(("Content-Length", "\(body.count)")) }
    }
}

/// Returns a gzip stream of stored blocks.
func gzipStored(_ bytes: [UInt8]) -> [UInt8] {
    func little(_ number: Int, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }
    var output: [UInt8] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]
    var rest = bytes[...]
    repeat {
        let block = rest.prefix(65_535)
        rest = rest.dropFirst(block.count)
        output += [rest.isEmpty ? 1 : 0] + little(block.count, 2) + little(~block.count, 2) + block
    } while !rest.isEmpty
    return output + little(Int(CRC32.of(bytes)), 4) + little(bytes.count, 4)
}
