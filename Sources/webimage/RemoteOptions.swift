import FoundationEssentials
import WebImage
import WebImageFleet

/// The options for the store that machines share.
enum RemoteOptions {
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
        var settings = RemoteStoreSettings(address: url)
        settings.certificates.authorityFile = arguments.value("--remote-ca")
        settings.certificates.certificateFile = arguments.value("--remote-certificate")
        settings.secretFile = arguments.value("--remote-secret-file")
        settings.secretText = Terminal.environment(RemoteStoreSettings.secretVariable)
        do throws(WebImageError) { return try settings.store(timeout: 1) } catch {
            throw UsageError("the remote cache: \(error.message)")
        }
    }
}
