import FoundationEssentials
import Testing

@testable import WebImageServer

/// Parses paths by imgproxy's grammar in tests.
struct ImgproxyRequests {
    static let source = "http://images.dev/lorem/ipsum.jpg"

    var configuration = ImgproxyGrammar.Configuration()
    var defaults = VariantOptions()

    init(presets: [String] = []) { configuration.presets = presets }

    /// The request of options and a source.
    func request(_ path: String, now: Int64 = 1_700_000_000) throws -> VariantRequest {
        try ImgproxyGrammar(configuration).request(forPath: "/_/" + path, defaults: defaults, now: now)
    }

    /// The options of the path with a source behind it.
    func options(_ path: String) throws -> VariantOptions {
        try request((path.isEmpty ? "" : path + "/") + "plain/" + Self.source).options
    }

    /// The error of a path with a source behind it; nil if there is none.
    func error(_ path: String) -> ServerError? {
        do {
            _ = try options(path)
            return nil
        } catch {
            return error as? ServerError
        }
    }

    static func base64(_ text: String) -> String {
        String(
            Data(text.utf8).base64EncodedString().compactMap { character in
                switch character {
                case "+": "-"
                case "/": "_"
                case "=": nil
                default: character
                }
            }
        )
    }
}
