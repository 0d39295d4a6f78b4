import FoundationEssentials
import WebImage

enum UntrustedSnippets {
    static func policy() -> WebImageManager {
        // snippet: untrusted policy
        var policy = SourcePolicy.untrusted
        policy.allowed = [SourceRule("images.internal:8080")].compactMap { $0 }
        policy.maximumByteCount = 8 << 20
        let manager = WebImageManager(policy: policy)
        // end
        return manager
    }

    static func lists() -> SourcePolicy {
        // snippet: untrusted lists
        var policy = SourcePolicy.untrusted
        policy.limitedTo = ["*.example.com", "*.example.org"].compactMap(SourceRule.init)
        policy.denied = ["old.example.com", "2001:67c:27e4::/48"].compactMap(SourceRule.init)
        policy.schemes = [.https]
        policy.formats = [.jpeg, .png, .webp, .gif]
        // end
        return policy
    }
}

// snippet: untrusted server
let untrusted = WebImageManager(policy: .untrusted)

func preview(of url: URL) async -> Data? {
    var context = WebImageContext()
    context.thumbnailPixelSize = ImageSize(width: 600, height: 600)
    do {
        let image = try await untrusted.image(with: url, context: context)
        return try await image.encoded(as: .jpeg)
    } catch let error where error.code == .sourceRefused {
        print("refused \(url): \(error.message)")
    } catch {
        print("no preview of \(url): \(error)")
    }
    return nil
}
// end
