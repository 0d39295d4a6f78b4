import WebImage
import WebImageFleet

/// The options for the store that machines share.
enum RemoteOptions {
    static let specs: [OptionSpec] = [
        OptionSpec(
            "--remote-ca",
            value: "FILE",
            "certificates of the authorities that rediss: trusts; the system's by default"
        ),
        OptionSpec(
            "--remote-certificate",
            value: "FILE",
            "certificate of this client for rediss:, with its private key; none by default"
        ),
    ]

    /// Returns the URL that an option or the environment names.
    static func url(_ text: String) throws -> String {
        guard text == "env" else { return text }
        guard let url = Terminal.environment("WEBIMAGE_REMOTE_CACHE"), !url.isEmpty else {
            throw UsageError("WEBIMAGE_REMOTE_CACHE is not set")
        }
        return url
    }

    /// Creates the store at a URL. A command waits longer for it than a server would.
    static func store(_ url: String, _ arguments: ParsedArguments) throws -> RemoteImageStore {
        let certificates = RemoteStoreCertificates(
            authorityFile: arguments.value("--remote-ca"),
            certificateFile: arguments.value("--remote-certificate")
        )
        do throws(WebImageError) {
            guard !url.lowercased().hasPrefix("s3:") else { return try RemoteImageStore(s3: url, timeout: 1) }
            return try RemoteImageStore(redis: url, timeout: 1, certificates: certificates)
        } catch {
            throw UsageError("the remote cache: \(error.message)")
        }
    }
}
