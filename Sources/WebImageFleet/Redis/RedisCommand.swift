import FoundationEssentials

/// A command to Redis or Valkey: its name and arguments, as strings of bytes.
struct RedisCommand: Sendable, Hashable {
    var arguments: [Data]

    init(_ words: String...) { arguments = words.map { Data($0.utf8) } }

    /// Returns the command with one more argument.
    func with(_ argument: Data) -> RedisCommand {
        var copy = self
        copy.arguments.append(argument)
        return copy
    }

    /// Returns the command with more arguments.
    func with(_ words: String...) -> RedisCommand {
        var copy = self
        copy.arguments += words.map { Data($0.utf8) }
        return copy
    }

    /// Appends the command in the form that servers read: an array of bulk strings.
    func write(to output: inout [UInt8]) {
        let payload = arguments.reduce(16) { $0 + $1.count + 16 }
        // Grows by doubling: reserving exactly would copy the buffer with each command.
        if output.capacity - output.count < payload {
            output.reserveCapacity(max(2 * output.count, output.count + payload))
        }
        Self.writeLength("*", arguments.count, to: &output)
        for argument in arguments {
            Self.writeLength("$", argument.count, to: &output)
            output.append(contentsOf: argument)
            output.append(contentsOf: "\r\n".utf8)
        }
    }

    private static func writeLength(_ type: Unicode.Scalar, _ length: Int, to output: inout [UInt8]) {
        output.append(UInt8(ascii: type))
        output.append(contentsOf: String(length).utf8)
        output.append(contentsOf: "\r\n".utf8)
    }
}
