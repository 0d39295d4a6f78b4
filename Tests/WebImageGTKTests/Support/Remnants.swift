import CWebImageGTK4
import WebImage

@testable import WebImageGTK

/// The objects of views, loads and images: watched weakly, to see that all are released. Their number before is known
/// from the beginning.
@MainActor
final class Remnants {
    private let stateCount = ViewState.count
    private let textureCount = Texture.count
    private var objects: [(name: String, object: WeakObject)] = []
    private var instances: [(name: String, instance: WeakInstance)] = []

    private struct WeakInstance {
        weak var object: AnyObject?
    }

    /// Watches a GObject.
    func watch(_ name: String, _ object: UnsafeMutableRawPointer) { objects.append((name, WeakObject(object))) }

    /// Watches an existing view and all its current objects.
    func watch(view: UnsafeMutableRawPointer) {
        watch("view", view)
        guard let state = ViewState.existing(view) else { return }
        watch("state", state)
        for load in state.loads { watch("load", load) }
        if let load = state.shown?.load { watch("load that is shown", load) }
        guard let paintable = state.existingPaintable else { return }
        watch("paintable", paintable.pointer)
        watch("owner of the paintable", paintable)
        guard case .texture(let texture, _) = paintable.content else { return }
        watch("texture", UnsafeMutableRawPointer(texture.pointer))
        watch("owner of the texture", texture)
        watch("image", texture.image)
    }

    private func watch(_ name: String, _ instance: AnyObject) {
        instances.append((name, WeakInstance(object: instance)))
    }

    /// All objects ever watched.
    var names: Set<String> { Set(objects.map(\.name) + instances.map(\.name)) }

    /// The remaining objects.
    var left: [String] {
        var left = objects.filter { $0.object.pointer != nil }.map(\.name)
        left += instances.filter { $0.instance.object != nil }.map(\.name)
        if ViewState.count != stateCount { left.append("\(ViewState.count - stateCount) states") }
        if Texture.count != textureCount { left.append("\(Texture.count - textureCount) textures") }
        return left
    }

    /// Waits until all are released, and returns the remaining ones.
    func areGone() async -> [String] {
        _ = await MainLoopTurns.wait(seconds: 5) { self.left.isEmpty }
        return left
    }
}
