import FoundationEssentials
import Glibc
import TestSupport
import Testing
import WebImage

@testable import WebImageServer

/// Overload, origins that hang, and the end of a process under load. `Scripts/bench --only server` measures the same with more clients.
@Suite(.tags(.threadSanitizer), .timeLimit(.minutes(5))) struct OverloadTests {
    private static let jpeg = try? Array(Fixtures.data("Options/photo.jpg"))

    private func photo() throws -> LoopbackResponse {
        .response(headers: [("Cache-Control", "max-age=600")], body: try #require(Self.jpeg))
    }

    @Test func `More requests than can be made are refused at once or answered, and then all is as before`()
        async throws
    {
        let photo = try photo()
        let server = try ServerUnderTest { _ in photo }
        // Known pace: without one, nothing is refused.
        for width in 1...8 { #expect(await server.get("/w:\(width)").status == 200) }
        let count = TestEffort.rounds(40)
        let answers = await withTaskGroup(of: RawAnswer.self) { group in
            for number in 0..<count { group.addTask { await server.get("/w:\(20 + number % 100)/cb:\(number)") } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(answers.count == count)
        #expect(Set(answers.map(\.status)).isSubset(of: [200, 503]))
        #expect(answers.contains { $0.status == 200 })
        for answer in answers where answer.status == 503 { #expect(answer.headers["Retry-After"] != nil) }
        #expect(server.server.service.imageLoads.count == 0)
        #expect(await server.get("/w:99/cb:last").status == 200)
    }

    @Test func `Requests for an origin that hangs leave hits and other hosts as they are`() async throws {
        let gate = Gate()
        defer { gate.open() }
        let photo = try photo()
        let other = try LoopbackServer(address: 0x7f00_0002) { _ in photo }
        let server = try ServerUnderTest(change: { configuration in
            let rule = SourceRule("127.0.0.2:\(other.port)")
            configuration.policy.allowed += [rule].compactMap { $0 }
        }) { request in
            request.path == "/photo.jpg" ? photo : .delayed(gate, then: photo)
        }
        #expect(await server.get("/w:10").status == 200)
        let count = TestEffort.rounds(200)
        var parked: [TestClient] = []
        for number in 0..<count {
            let client = try #require(TestClient(port: server.server.port))
            client.send("GET \(server.target("/w:10", "/slow\(number).jpg")) HTTP/1.1\r\nHost: a\r\n\r\n")
            parked.append(client)
        }
        let loads = server.server.service.imageLoads
        #expect(await valueOnThread { loads.wait(seconds: 60) { $0 == count } })
        #expect(await server.get("/w:10").status == 200)
        let elsewhere = "/w:10/http://127.0.0.2:\(other.port)/photo.jpg"
        #expect(await RawAnswer.get(server.server.port, elsewhere).status == 200)
        #expect(await RawAnswer.get(server.server.port, "/ready").status == 200)
        for client in parked { client.close() }
        #expect(await valueOnThread { loads.wait(seconds: 60) { $0 == 0 } })
    }

    /// Sends requests on kept connections, and opens a new one when the server ends one, until it refuses connections. Returns the number of
    /// requests, and of those that got no answer.
    private static func load(_ port: UInt16, _ target: String, until isOver: Monitor<Bool>) -> (sent: Int, failed: Int)
    {
        var (sent, failed) = (0, 0)
        connections: while !isOver.withLock({ $0 }), let client = TestClient(port: port) {
            while !isOver.withLock({ $0 }) {
                client.send("GET \(target) HTTP/1.1\r\nHost: a\r\n\r\n")
                sent += 1
                guard let (status, isLast) = client.readAnswer(), status == 200 else {
                    failed += 1
                    continue connections
                }
                if isLast { continue connections }
                // A load that leaves something for other tests.
                _ = isOver.wait(seconds: 0.005) { $0 ? true : nil }
            }
        }
        return (sent, failed)
    }

    private func loaded(
        _ port: UInt16,
        _ target: String,
        until isOver: Monitor<Bool>
    ) async -> (sent: Int, failed: Int) {
        await withTaskGroup(of: (Int, Int).self) { group in
            for _ in 0..<4 { group.addTask { await valueOnThread { Self.load(port, target, until: isOver) } } }
            return await group.reduce(into: (0, 0)) { $0 = ($0.0 + $1.0, $0.1 + $1.1) }
        }
    }

    @Test func `A server that ends under load fails no request`() async throws {
        let photo = try photo()
        let server = try ServerUnderTest { _ in photo }
        #expect(await server.get("/w:40").status == 200)
        async let outcome = loaded(server.server.port, server.target("/w:40"), until: Monitor(false))
        let service = server.server.service
        #expect(await valueOnThread { TestClient.spin { service.metrics.answerCount > 100 } })
        #expect(await valueOnThread { server.server.drain(within: 60) })
        let (sent, failed) = await outcome
        #expect(sent > 100)
        #expect(failed == 0)
    }

    /// Starts the server anew on one socket, as a service manager does, and prints the port and then a line for each start.
    private static let supervisor = """
        import signal, socket, subprocess, sys
        listener = socket.socket()
        listener.bind(("127.0.0.1", 0))
        listener.listen(512)
        number = listener.fileno()
        start = f"exec 3<&{number}; export LISTEN_PID=$$ LISTEN_FDS=1; exec \\"$@\\" 2>&1"
        print(listener.getsockname()[1], flush=True)
        for _ in range(int(sys.argv[1]) + 1):
            server = subprocess.Popen(["/bin/bash", "-c", start, "sh", *sys.argv[2:]], pass_fds=[number], stdout=subprocess.PIPE)
            while b"serving on" not in server.stdout.readline():
                pass
            print("started", flush=True)
            sys.stdin.readline()
            server.send_signal(signal.SIGTERM)
            server.stdout.read()
            if server.wait() != 0:
                sys.exit("the server failed")
        """

    private static let startSupervisor =
        "script=$1 pipe=$2; shift 2; exec /usr/bin/python3 -c \"$script\" 10 \"$@\" <>\"$pipe\""

    @Test func `Ten restarts with one socket refuse no connection and fail no request`() async throws {
        let photo = try photo()
        let (origin, directory) = (try LoopbackServer { _ in photo }, TemporaryDirectory())
        let pipe = directory.path("continue")
        #expect(mkfifo(pipe, 0o600) == 0)
        let supervisor = try HelperProcess(
            path: "/bin/sh",
            ["-c", Self.startSupervisor, "sh", Self.supervisor, pipe, ProgramRun.product("webimage-server")]
                + ["--insecure", "--allow", "127.0.0.1:\(origin.port)", "--cache-dir", directory.path("cache")]
        )
        let port = try #require(await supervisor.readLine().flatMap { UInt16($0) })
        #expect(await supervisor.readLine() == "started")
        let target = "/_/w:40/plain/\(origin.url("/photo.jpg").absoluteString)"
        let isOver = Monitor(false)
        async let outcome = loaded(port, target, until: isOver)
        let turns = open(pipe, O_WRONLY | O_CLOEXEC)
        defer { close(turns) }
        for _ in 0..<10 {
            _ = write(turns, "\n", 1)
            #expect(await supervisor.readLine() == "started")
        }
        isOver.withLock { $0 = true }
        let (sent, failed) = await outcome
        #expect(sent > 20)
        #expect(failed == 0)
        _ = write(turns, "\n", 1)
        #expect(await supervisor.wait() == 0)
        #expect(origin.requestCount() == 1)
    }
}
