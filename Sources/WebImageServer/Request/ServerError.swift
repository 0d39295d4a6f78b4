/// The reason why a request gets no image: an HTTP status, a short text for the client, and the cause for the log.
///
/// The text for the client contains nothing about the network, the configuration or files. Names of options in it come from the
/// request and are limited to letters, digits and `_-.`.
package struct ServerError: Error, Sendable, Hashable {
    /// The HTTP status of the answer, 400 or greater.
    package let status: Int
    /// The text for the client, in one line of ASCII.
    package let message: String
    /// The cause, for the log only; nil if the message says everything.
    package let cause: String?

    /// Creates an error.
    ///
    /// - Parameters:
    ///   - status: the HTTP status, 400 or greater.
    ///   - message: the text for the client.
    ///   - cause: the cause for the log; none by default.
    package init(status: Int, message: String, cause: String? = nil) {
        self.status = status
        self.message = message
        self.cause = cause
    }

    /// The path does not follow the grammar: 400.
    package static func invalidURL(_ cause: String) -> ServerError {
        ServerError(status: 400, message: "Invalid URL", cause: cause)
    }

    /// An option's arguments are invalid: 400, with the name of the option.
    package static func invalidArgument(of option: String, _ cause: String) -> ServerError {
        ServerError(status: 400, message: "Invalid argument of option '\(printable(option))'", cause: cause)
    }

    /// An option that no list contains: 400, with its name.
    package static func unknownOption(_ name: String) -> ServerError {
        ServerError(status: 400, message: "Unknown option '\(printable(name))'")
    }

    /// An option that exists elsewhere and that this server does not implement: 422, with its name.
    package static func unsupportedOption(_ name: String) -> ServerError {
        ServerError(status: 422, message: "Option '\(printable(name))' is not supported")
    }

    /// The signature is missing, malformed or wrong: 403.
    package static func invalidSignature(_ cause: String) -> ServerError {
        ServerError(status: 403, message: "Invalid signature", cause: cause)
    }

    /// The server's configuration does not allow an option: 403, with its name.
    package static func forbiddenOption(_ name: String) -> ServerError {
        ServerError(status: 403, message: "Option '\(printable(name))' is not allowed")
    }

    /// The server's configuration does not allow the source: 403.
    package static let forbiddenSource = ServerError(status: 403, message: "Source is not allowed")

    /// Nothing is at the path: 404.
    package static let notFound = ServerError(status: 404, message: "Not found")

    /// The path is too long: 414.
    package static let tooLong = ServerError(status: 414, message: "URL is too long")

    /// The time until which the URL is valid has passed: 404.
    package static let expired = ServerError(status: 404, message: "Expired URL")

    /// Returns a name from a request for a message: at most 64 letters, digits and `_-.`, others replaced by `?`.
    static func printable(_ name: String) -> String {
        let characters = name.utf8.prefix(64).map { byte -> Character in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "."):
                Character(UnicodeScalar(byte))
            default: "?"
            }
        }
        return String(characters)
    }
}
