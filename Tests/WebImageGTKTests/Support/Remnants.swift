import CWebImageGTK4
import WebImage

@testable import WebImageGTK

/// What views, their loads and their pictures are made of: watched without being kept, to see that nothing is left of it. How many there
/// were before is known from the beginning.
@MainActor
final class Remnants {
    private let stateCount = ViewState.count
    private let textureCount = Texture.count
    private var objects: [(name: String, object: WeakObject)] = []
    private var instances: [(name: String, instance: WeakInstance)] = []

    private struct WeakInstance {
        weak var object: AnyObject?
    }

    /// Watches an object of GTK.
    func watch(_ name: String, _ object: UnsafeMutableRawPointer) { objects.append((name, WeakObject(object))) }

    /// Watches a view that lives, and all that it has by now.
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

    /// What was ever watched.
    var names: Set<String> { Set(objects.map(\.name) + instances.map(\.name)) }

    /// What is left.
    var left: [String] {
        var left = objects.filter { $0.object.pointer != nil }.map(\.name)
        left += instances.filter { $0.instance.object != nil }.map(\.name)
        if ViewState.count != stateCount { left.append("\(ViewState.count - stateCount) states") }
        if Texture.count != textureCount { left.append("\(Texture.count - textureCount) textures") }
        return left
    }

    /// Waits until nothing is left, or, in vain, for what is.
    func areGone() async -> [String] {
        _ = await MainLoopTurns.wait(seconds: 5) { self.left.isEmpty }
        return left
    }
}
