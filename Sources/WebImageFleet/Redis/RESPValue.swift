import FoundationEssentials

/// A reply of Redis or Valkey: the values of the protocols RESP2 and RESP3.
enum RESPValue: Sendable, Hashable {
    /// A simple string, for example `OK`.
    case status(String)
    /// An error, simple or bulk, with its code in front, for example `MOVED 3999 127.0.0.1:6381`.
    case error(String)
    case number(Int64)
    /// A bulk string, or a verbatim string with its format in front (`txt:`).
    case bytes(Data)
    case null
    case boolean(Bool)
    /// A floating-point number, as its text.
    case double(String)
    /// A number of any length, as its digits.
    case bigNumber(String)
    case array([RESPValue])
    case set([RESPValue])
    /// Keys and values in turn.
    case map([RESPValue])
    /// A message that the server sends unasked. Not the reply to a command.
    case push([RESPValue])

    /// The text of a string of any kind; nil for other values.
    var text: String? {
        switch self {
        case .status(let text): text
        case .bytes(let bytes): String(decoding: bytes, as: UTF8.self)
        default: nil
        }
    }

    var data: Data? {
        if case .bytes(let data) = self { data } else { nil }
    }

    /// The members of an array or a set; nil for other values.
    var members: [RESPValue]? {
        switch self {
        case .array(let members), .set(let members): members
        default: nil
        }
    }

    var isOK: Bool { self == .status("OK") }
}
