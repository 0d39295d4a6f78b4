import Dispatch
import FoundationEssentials
import Glibc
import Synchronization

struct Request: Sendable {
    var method: String
    var path: String
    var query: [String: String] = [:]
    /// Names are in lower case.
    var headers: [String: String] = [:]
}

struct Response: Sendable {
    var status: Int
    var headers: [String: String] = [:]
    var body = Data()
}

struct HTTPServerError: Error {
    var call: String
    var number: Int32
}

/// A small HTTP/1.1 server on 127.0.0.1, to run behind a reverse proxy: one request per connection, no request bodies.
///
/// The example depends on no other package. In a service of yours this is Hummingbird, Vapor or what you have; nothing in this file uses WebImage.
final class HTTPServer: Sendable {
    typealias Handler = @Sendable (Request) async -> Response

    let port: UInt16
    private let listener: Int32
    private let threads = DispatchGroup()

    /// Starts to listen.
    ///
    /// - Parameters:
    ///   - port: 0 for a free one.
    ///   - maxConnections: the number of threads that accept and answer. Further clients wait in the kernel's queue.
    ///   - handler: answers a request. Its task is cancelled when the client hangs up.
    init(port: UInt16, maxConnections: Int, handler: @escaping Handler) throws {
        // Close-on-exec: decode workers are child processes and must not inherit the port.
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var (yes, address, length) = (Int32(1), sockaddr_in(), socklen_t(MemoryLayout<sockaddr_in>.size))
        setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        let listener = listener
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, length) == 0 && listen(listener, 256) == 0 && getsockname(listener, $0, &length) == 0
            }
        }
        guard isBound else { throw HTTPServerError(call: "bind", number: errno) }
        self.port = UInt16(bigEndian: address.sin_port)
        for _ in 0..<maxConnections {
            // A serial queue has its own thread, which may block. A thread of Swift's concurrency may not.
            DispatchQueue(label: "http").async(group: threads) { Self.accept(on: listener, handler) }
        }
    }

    /// Stops accepting, and waits until the requests under way are answered.
    ///
    /// - Returns: whether all of them were, in so many seconds.
    func stop(within seconds: Double) -> Bool {
        shutdown(listener, Int32(SHUT_RDWR))
        return threads.wait(timeout: .now() + seconds) == .success
    }

    private static func accept(on listener: Int32, _ handler: @escaping Handler) {
        while true {
            let connection = Glibc.accept(listener, nil, nil)
            if connection >= 0 {
                serve(connection, handler)
            } else if errno == EINVAL {
                return  // stop() was called.
            } else if errno != EINTR, errno != ECONNABORTED {
                usleep(50_000)  // No descriptor is free at the moment.
            }
        }
    }

    private static func serve(_ connection: Int32, _ handler: @escaping Handler) {
        defer { close(connection) }
        _ = fcntl(connection, F_SETFD, FD_CLOEXEC)
        var limit = timeval(tv_sec: 5, tv_usec: 0)
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            setsockopt(connection, SOL_SOCKET, option, &limit, socklen_t(MemoryLayout<timeval>.size))
        }
        guard let head = readHead(from: connection) else { return }
        let request = Request(head: head)
        var response = Response(status: 400)
        if let request {
            response = request.method == "GET" ? answer(request, connection, handler) : Response(status: 405)
        }
        var text = "HTTP/1.1 \(response.status) \r\nConnection: close\r\nContent-Length: \(response.body.count)\r\n"
        for (name, value) in response.headers { text += "\(name): \(value)\r\n" }
        send(Data("\(text)\r\n".utf8) + response.body, to: connection)
    }

    /// Runs the handler in a task while this thread waits. Cancels the task when the client closes the connection.
    private static func answer(_ request: Request, _ connection: Int32, _ handler: @escaping Handler) -> Response {
        final class Answer: Sendable { let value = Mutex(Response(status: 500)) }
        let (answer, isDone) = (Answer(), DispatchSemaphore(value: 0))
        let task = Task {
            let response = await handler(request)
            answer.value.withLock { $0 = response }
            isDone.signal()
        }
        while isDone.wait(timeout: .now() + 0.2) == .timedOut {
            var byte: UInt8 = 0
            if recv(connection, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT)) == 0 { task.cancel() }
        }
        return answer.value.withLock { $0 }
    }

    /// The request line and the fields; nil when the client takes too long, sends too much, or leaves.
    private static func readHead(from connection: Int32) -> String? {
        let deadline = ContinuousClock.now + .seconds(10)
        var (head, buffer) = ([UInt8](), [UInt8](repeating: 0, count: 4096))
        while head.count < 16 << 10, ContinuousClock.now < deadline {
            let count = recv(connection, &buffer, buffer.count, 0)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return nil }
            head += buffer[..<count]
            if let end = head.firstRange(of: Array("\r\n\r\n".utf8)) {
                return String(decoding: head[..<end.lowerBound], as: UTF8.self)
            }
        }
        return nil
    }

    private static func send(_ data: Data, to connection: Int32) {
        data.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = Glibc.send(
                    connection,
                    UnsafeRawBufferPointer(rebasing: rest).baseAddress,
                    rest.count,
                    Int32(MSG_NOSIGNAL)
                )
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return }
                rest = rest.dropFirst(count)
            }
        }
    }
}

extension Request {
    /// Reads the head of a request; nil if it is malformed.
    init?(head: String) {
        let lines = head.split(separator: "\r\n")
        let words = lines.first?.split(separator: " ") ?? []
        guard words.count == 3, words[2].hasPrefix("HTTP/1."), words[1].hasPrefix("/"),
            let target = URLComponents(string: String(words[1]))
        else { return nil }
        (method, path) = (String(words[0]), target.path)
        for item in target.queryItems ?? [] { query[item.name] = item.value }
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":") else { return nil }
            headers[line[..<colon].lowercased()] = String(line[line.index(after: colon)...].drop { $0 == " " })
        }
    }
}
