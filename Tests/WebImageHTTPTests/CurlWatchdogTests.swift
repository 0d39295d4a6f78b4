import Glibc
import ModelTestSupport
import TestSupport
import Testing

@testable import WebImageHTTP

/// The watchdog's decisions, in virtual time.
@Suite(.tags(.addressSanitizer)) struct CurlWatchdogTests {
    private let delays = ManualClock()
    private let read = Lock<[Int32: UInt64]>([:])
    private let watchdog: CurlWatchdog
    private let sockets: [(near: Int32, far: Int32)]

    init() {
        let read = read
        watchdog = CurlWatchdog(delays: delays.delays) { socket in read.withLock { $0[socket] } }
        sockets = (0..<2).map { _ in
            var pair: [Int32] = [0, 0]
            socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &pair)
            return (pair[0], pair[1])
        }
        for socket in sockets { watchdog.socketOpened(socket.near) }
    }

    private func receive(_ index: Int, megabytes: UInt64) {
        read.withLock { $0[sockets[index].near, default: 0] += megabytes << 20 }
    }

    /// Returns whether the peer sees the connection closed.
    private func isCutOff(_ index: Int) -> Bool {
        var byte: UInt8 = 0
        return recv(sockets[index].far, &byte, 1, Int32(MSG_DONTWAIT)) == 0
    }

    private func look() { delays.advance(0.25) }

    private func end() {
        for socket in sockets {
            #expect(watchdog.close(socket.near) == 0)
            close(socket.far)
        }
    }

    @Test func `A connection is closed after a call that reads much without passing data on`() {
        for index in 0..<2 { receive(index, megabytes: 100) }
        watchdog.callBegins()
        receive(1, megabytes: 40)
        look()
        receive(1, megabytes: 32)
        look()
        #expect(!isCutOff(1), "as much as that may be read for nothing")
        receive(1, megabytes: 1)
        look()
        #expect(isCutOff(1) && !isCutOff(0))
        #expect(watchdog.callEnds().count == 1)
        end()
    }

    @Test func `Data that reaches transfers is never limited`() {
        watchdog.callBegins()
        look()
        for _ in 0..<100 {
            receive(0, megabytes: 100)
            watchdog.noteContent(byteCount: 25 << 20)
            look()
        }
        #expect(!isCutOff(0) && watchdog.callEnds().isEmpty)
        end()
    }

    @Test func `Calls that pass data on are judged separately`() {
        for _ in 0..<100 {
            watchdog.callBegins()
            receive(0, megabytes: 25)
            watchdog.noteContent(byteCount: 1)
            look()
            #expect(watchdog.callEnds().isEmpty)
        }
        #expect(!isCutOff(0))
        end()
    }

    @Test func `A connection is closed after many calls that read without passing data on`() {
        for number in 0..<3 {
            watchdog.callBegins()
            receive(0, megabytes: number == 0 ? 1 : 17)
            // Some checks find a call, and others none.
            if number == 1 { look() }
            #expect(watchdog.callEnds().isEmpty)
            if number != 1 { look() }
        }
        #expect(isCutOff(0) && !isCutOff(1))
        watchdog.callBegins()
        #expect(watchdog.callEnds().count == 1, "libcurl may find out in any later call")
        end()
        #expect(watchdog.callEnds().count == 1, "the call that closed it ends")
        #expect(watchdog.callEnds().isEmpty)
    }

    @Test func `Bytes read before an idle time do not count`() {
        for _ in 0..<100 {
            watchdog.callBegins()
            look()
            receive(0, megabytes: 25)
            #expect(watchdog.callEnds().isEmpty)
            look()
            look()
            #expect(delays.count == 0)
        }
        #expect(!isCutOff(0))
        end()
    }

    @Test func `Without calls there are no checks`() {
        #expect(delays.count == 0)
        watchdog.callBegins()
        #expect(watchdog.callEnds().isEmpty && delays.count == 1)
        look()
        look()
        #expect(delays.count == 0)
        watchdog.callBegins()
        #expect(delays.count == 1)
        #expect(watchdog.callEnds().isEmpty)
        end()
        delays.runAll()
        watchdog.callBegins()
        #expect(delays.count <= 1)
    }
}
