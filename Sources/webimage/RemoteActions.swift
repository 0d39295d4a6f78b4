import WebImage
import WebImageFleet

/// The actions of `webimage cache --remote`.
struct RemoteActions: Sendable {
    private struct Removed: Encodable {
        var removed: Bool
    }

    private let store: RemoteImageStore
    private let json: Bool

    init(_ store: RemoteImageStore, _ json: Bool) {
        self.store = store
        self.json = json
    }

    func clear() async throws -> Int32 {
        do throws(WebImageError) { try await store.removeAll() } catch {
            Terminal.printError(error.message)
            return ExitStatus.failure
        }
        Terminal.print(json ? JSONLine.text(Removed(removed: true)) : "all entries removed for all machines\n")
        return ExitStatus.success
    }
}
