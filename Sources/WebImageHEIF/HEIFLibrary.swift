import CHEIF
import WebImageCodecs

/// Functions for libheif as a whole.
enum HEIFLibrary {
    /// Loads libheif's plug-ins, once: codecs may be in separate files.
    static let isReady: Bool = heif_init(nil).code == heif_error_Ok

    static func error(_ error: heif_error, encoding: Bool = false) -> WebImageError {
        let said = error.message.map { String(cString: $0) } ?? "unknown error"
        // Some of its messages have several lines.
        let text = said.split { $0.isWhitespace || $0.isNewline }.joined(separator: " ")
        let message = "HEIF: \(text)"
        if error.code == heif_error_Memory_allocation_error, error.subcode != heif_suberror_Security_limit_exceeded {
            return WebImageError(.outOfMemory, message)
        }
        if error.subcode == heif_suberror_Security_limit_exceeded { return WebImageError(.limitExceeded, message) }
        return WebImageError(encoding ? .encodingFailed : .badImageData, message)
    }

    static func check(_ result: heif_error, encoding: Bool = false) throws(WebImageError) {
        guard result.code == heif_error_Ok else { throw error(result, encoding: encoding) }
    }
}
