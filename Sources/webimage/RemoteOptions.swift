import FoundationEssentials
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
        OptionSpec(
            "--remote-secret-file",
            value: "FILE",
            "file of a secret that verifies shared images; or $WEBIMAGE_REMOTE_SECRET"
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

    /// Reads the secrets of a file, or of the environment, where they are separated by line feeds, too.
    private static func secrets(_ path: String?) throws -> [Data] {
        let variable = Terminal.environment("WEBIMAGE_REMOTE_SECRET").flatMap { $0.isEmpty ? nil : $0 }
        var text = Data((variable ?? "").utf8)
        if let path {
            guard let content = FileManager.default.contents(atPath: path) else {
                throw UsageError("--remote-secret-file: \(path) cannot be read")
            }
            text = content
        }
        let secrets = text.split(separator: UInt8(ascii: "\n")).map { Data($0) }
        guard path == nil || !secrets.isEmpty, secrets.allSatisfy({ $0.count >= 16 }) else {
            throw UsageError("a secret of the remote cache has fewer than 16 bytes")
        }
        return secrets
    }

    /// Creates the store at a URL. A command waits longer for it than a server would.
    static func store(_ url: String, _ arguments: ParsedArguments) throws -> RemoteImageStore {
        let certificates = RemoteStoreCertificates(
            authorityFile: arguments.value("--remote-ca"),
            certificateFile: arguments.value("--remote-certificate")
        )
        let secrets = try secrets(arguments.value("--remote-secret-file"))
        do throws(WebImageError) {
            return try RemoteImageStore.make(at: url, timeout: 1, certificates: certificates).sealed(with: secrets)
        } catch {
            throw UsageError("the remote cache: \(error.message)")
        }
    }
}
