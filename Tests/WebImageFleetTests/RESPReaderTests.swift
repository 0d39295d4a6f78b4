import Foundation
import Testing

@testable import WebImageFleet

@Suite struct RESPReaderTests {
    /// Feeds text in pieces, and returns all replies.
    private func replies(_ pieces: [some Collection<UInt8>], limits: RESPReader.Limits = .init()) throws -> [RESPValue]
    {
        var reader = RESPReader(limits: limits)
        var replies: [RESPValue] = []
        for piece in pieces {
            Array(piece).withUnsafeBytes { reader.append($0) }
            while let reply = try reader.next() { replies.append(reply) }
        }
        #expect(!reader.isInsideReply)
        return replies
    }

    private func reply(_ text: String) throws -> RESPValue? { try replies([text.utf8]).first }

    private func bytes(_ text: String) -> RESPValue { .bytes(Data(text.utf8)) }

    @Test func `Values of both protocols are read`() throws {
        #expect(try reply("+OK\r\n") == .status("OK"))
        #expect(try reply("-ERR no\r\n") == .error("ERR no"))
        #expect(try reply("!5\r\nERR x\r\n") == .error("ERR x"))
        #expect(try reply(":-42\r\n") == .number(-42))
        #expect(try reply(":+7\r\n") == .number(7))
        #expect(try reply(":9223372036854775807\r\n") == .number(.max))
        #expect(try reply(":-9223372036854775808\r\n") == .number(.min))
        #expect(try reply("$5\r\na\r\nbc\r\n") == bytes("a\r\nbc"))
        #expect(try reply("$0\r\n\r\n") == bytes(""))
        #expect(try reply("$-1\r\n") == .null)
        #expect(try reply("*-1\r\n") == .null)
        #expect(try reply("_\r\n") == .null)
        #expect(try reply("#t\r\n") == .boolean(true))
        #expect(try reply("#f\r\n") == .boolean(false))
        #expect(try reply(",-1.5e3\r\n") == .double("-1.5e3"))
        #expect(try reply(",inf\r\n") == .double("inf"))
        #expect(try reply("(12345678901234567890123\r\n") == .bigNumber("12345678901234567890123"))
        #expect(try reply("=6\r\ntxt:ab\r\n") == bytes("txt:ab"))
        #expect(try reply("*0\r\n") == .array([]))
        #expect(try reply("*2\r\n:1\r\n*1\r\n$-1\r\n") == .array([.number(1), .array([.null])]))
        #expect(try reply("~1\r\n+a\r\n") == .set([.status("a")]))
        #expect(try reply("%1\r\n+a\r\n:1\r\n") == .map([.status("a"), .number(1)]))
        #expect(try reply(">2\r\n+invalidate\r\n_\r\n") == .push([.status("invalidate"), .null]))
    }

    @Test func `Attributes are ignored, also inside a value`() throws {
        #expect(try replies(["|1\r\n+ttl\r\n:3\r\n+OK\r\n".utf8]) == [.status("OK")])
        #expect(try replies(["|0\r\n+OK\r\n".utf8]) == [.status("OK")])
        #expect(try reply("*2\r\n:1\r\n|1\r\n+a\r\n*1\r\n:9\r\n:2\r\n") == .array([.number(1), .number(2)]))
    }

    private static let stream =
        "+OK\r\n*3\r\n$3\r\nfoo\r\n:12\r\n*2\r\n_\r\n%1\r\n+k\r\n,1.5\r\n-MOVED 1 h:2\r\n>1\r\n+p\r\n"
        + "|1\r\n+a\r\n+b\r\n$4\r\n\r\n\r\n\r\n*0\r\n~0\r\n=5\r\ntxt:x\r\n$-1\r\n"

    @Test func `A stream that is split at any byte has the same replies`() throws {
        let bytes = Array(Self.stream.utf8)
        let whole = try replies([bytes])
        #expect(whole.count == 9)
        for split in 0...bytes.count {
            #expect(try replies([bytes[..<split], bytes[split...]]) == whole, "\(split)")
        }
        #expect(try replies(bytes.indices.map { bytes[$0...$0] }) == whole)
    }

    @Test func `A part of a stream is no failure`() throws {
        let bytes = Array(Self.stream.utf8)
        for count in 0..<bytes.count {
            var reader = RESPReader()
            bytes[..<count].withUnsafeBytes { reader.append($0) }
            while try reader.next() != nil {}
        }
    }

    @Test(arguments: [
        "\r\n", "x\r\n", "OK\r\n", "+a\n", "+a\rb\r\n", ":\r\n", ":-\r\n", ":1a\r\n", ": 1\r\n",
        ":9223372036854775808\r\n",
        ":-9223372036854775809\r\n", "$\r\n", "$-2\r\n", "$1a\r\n", "$1\r\nabc\r\n", "$1\r\na\n\r\n", "*-2\r\n",
        "!-1\r\n",
        "=-1\r\n", "=3\r\nabc\r\n", "=4\r\ntxt.\r\n", "~-1\r\n", "%-1\r\n", "_x\r\n", "#x\r\n", "#\r\n", "#tt\r\n",
        ",\r\n",
        ",one\r\n", "(\r\n", "(1x\r\n", "*1\r\n>0\r\n", "$?\r\n", "*?\r\n", "\u{0}\r\n", "$ 1\r\na\r\n",
    ])
    func `What is not the protocol is refused, and all after it`(text: String) throws {
        var reader = RESPReader()
        Array(text.utf8).withUnsafeBytes { reader.append($0) }
        #expect(throws: RESPReader.Failure.malformed) { try reader.next() }
        Array("+OK\r\n".utf8).withUnsafeBytes { reader.append($0) }
        #expect(throws: RESPReader.Failure.malformed) { try reader.next() }
    }

    private static let small = RESPReader.Limits(
        depth: 3,
        stringByteCount: 10,
        lineByteCount: 8,
        memberCount: 6,
        byteCount: 40
    )

    @Test func `Values at the limits are read`() throws {
        for text in [
            "$10\r\n0123456789\r\n", "+123456\r\n", "*1\r\n*1\r\n*1\r\n:1\r\n",
            "*6\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n",
            "%3\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n", "*2\r\n$10\r\n0123456789\r\n$10\r\n0123456789\r\n",
        ] {
            #expect(try replies([text.utf8], limits: Self.small).count == 1, "\(text)")
        }
        // The limits are those of one reply.
        let many = String(repeating: "*6\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n", count: 50)
        #expect(try replies([many.utf8], limits: Self.small).count == 50)
    }

    @Test(arguments: [
        "$11\r\n", "$9223372036854775807\r\n", "!11\r\n", "=11\r\n", "+12345678", "+12345678\r\n",
        "*1\r\n*1\r\n*1\r\n*1\r\n", "*7\r\n", "%4\r\n", "*9223372036854775807\r\n", "%4611686018427387904\r\n",
        "~7\r\n", ">7\r\n",
        "|4\r\n", "*3\r\n*4\r\n", "*3\r\n$10\r\n0123456789\r\n$10\r\n0123456789\r\n$10\r\n",
        "*6\r\n+12345\r\n+12345\r\n+12345\r\n+12345\r\n+12345\r\n+12345\r\n+12345\r\n", "*1\r\n*1\r\n*1\r\n|1\r\n",
    ])
    func `A claim over a limit is refused before its content`(text: String) {
        var reader = RESPReader(limits: Self.small)
        Array(text.utf8).withUnsafeBytes { reader.append($0) }
        #expect(throws: RESPReader.Failure.exceedsLimits) {
            while try reader.next() != nil {}
        }
    }

    @Test func `Attributes without end exceed a limit`() {
        var reader = RESPReader(limits: Self.small)
        Array(String(repeating: "|0\r\n", count: 20).utf8).withUnsafeBytes { reader.append($0) }
        #expect(throws: RESPReader.Failure.exceedsLimits) { try reader.next() }
    }

    @Test func `A big value in small pieces is read once`() throws {
        let body = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let bytes = Array("$200000\r\n".utf8) + body + Array("\r\n+OK\r\n".utf8)
        let pieces = stride(from: 0, to: bytes.count, by: 1000).map { bytes[$0..<min($0 + 1000, bytes.count)] }
        #expect(try replies(pieces) == [.bytes(Data(body)), .status("OK")])
    }

    @Test func `Commands are arrays of strings of bytes`() throws {
        var output: [UInt8] = []
        RedisCommand("SET", "k").with(Data([0, 13, 10, 255])).with("PX", "5").write(to: &output)
        RedisCommand("GET", "").write(to: &output)
        let expected =
            Array("*5\r\n$3\r\nSET\r\n$1\r\nk\r\n$4\r\n".utf8) + [0, 13, 10, 255]
            + Array("\r\n$2\r\nPX\r\n$1\r\n5\r\n*2\r\n$3\r\nGET\r\n$0\r\n\r\n".utf8)
        #expect(output == expected)
        let read = try replies([output])
        #expect(
            read.first?.members?.map(\.data) == [
                Data("SET".utf8), Data("k".utf8), Data([0, 13, 10, 255]), Data("PX".utf8), Data("5".utf8),
            ]
        )
    }
}
