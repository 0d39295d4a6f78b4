import FoundationEssentials
import WebImage

// snippet: testing: model
@MainActor final class AvatarModel {
    private(set) var image: Image?
    private(set) var message: String?
    private let manager: WebImageManager

    init(manager: WebImageManager = .shared) { self.manager = manager }

    func load(_ url: URL) async {
        do {
            image = try await manager.image(with: url)
        } catch {
            message = error.message
        }
    }
}
// end
