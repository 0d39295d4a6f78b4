import CWebImageGTK4
import CWebImageGTKShims
import WebImage

/// The paintable of a view: one object for the life of the view, whose content changes.
///
/// An image that arrives in an idle list, a frame of an animation and a step of a transition therefore only redraw the content.
@MainActor
final class ImagePaintable {
    /// A `GdkPaintable`.
    nonisolated(unsafe) let pointer: UnsafeMutableRawPointer
    /// The current content, or the target of the transition.
    private(set) var content: PaintableContent?
    /// Called with each size at which the content is drawn, in points.
    var sizeHandler: ((_ width: Double, _ height: Double) -> Void)?
    /// Draws an indicator over the content. Receives the view's rectangle relative to the content's top left corner.
    var overlay: ((_ snapshot: OpaquePointer, _ view: ImageRect) -> Void)? { didSet { invalidate() } }
    /// Draws the visible content in tiles; returns false if it does not. Receives the size of the content in points.
    var tiles: ((_ snapshot: OpaquePointer, _ width: Double, _ height: Double) -> Bool)?
    /// Called when the content changes, and when a transition to it has ended.
    var contentHandler: (() -> Void)?
    /// The visible state of animated content.
    var frame = PaintableFrame.poster { didSet { invalidate() } }
    /// Drawn in place of the content, with the view's layout, while no transition is running. The intrinsic size remains that of the
    /// content.
    var substitute: PaintableContent? { didSet { invalidate() } }

    /// True if the paintable has no intrinsic size: it is drawn over the whole view, and fits the content into it itself.
    var hasFixedSize = false { didSet { replace(content) } }

    let view: WeakObject
    let clock: FrameClock
    private var transition: Transition?
    private var contentChanges: [Signal] = []

    private struct Transition {
        let effect: WebImageTransition
        var running: RunningTransition
        let old: PaintableContent?
        var new: PaintableContent?
        let tick: Int
        let unmapped: Signal?
        let deadline: MainTimer
        let end: (_ finished: Bool) -> Void
    }

    /// The seconds by which a transition may exceed its duration.
    var grace = 1.0

    init(view: UnsafeMutableRawPointer, clock: FrameClock) {
        self.view = WeakObject(view)
        self.clock = clock
        pointer = webimage_gtk_paintable_new(Self.calls)
        webimage_gtk_paintable_set_owner(pointer, Unmanaged.passUnretained(self).toOpaque())
    }

    isolated deinit {
        for change in contentChanges { change.disconnect() }
        webimage_gtk_paintable_set_owner(pointer, nil)
        g_object_unref(pointer)
    }

    // MARK: Content

    /// Shows other content at once; a running transition is cut short.
    func show(_ content: PaintableContent?) {
        let former = takeTransition()
        replace(content)
        former?.end(false)
    }

    /// Replaces the pixels of the same content; a running transition continues.
    func exchange(_ content: PaintableContent) {
        transition?.new = content
        replace(content)
    }

    /// Shows other content with a transition.
    ///
    /// - Parameter end: called once when the transition ends or is cut short (by other content, or because the view leaves the screen);
    ///   possibly before this returns.
    func show(
        _ content: PaintableContent?,
        by effect: WebImageTransition,
        end: @escaping (_ finished: Bool) -> Void
    ) {
        let former = takeTransition()
        let running = RunningTransition(effect)
        if running.isOver || !canAnimate {
            if !effect.avoidAutoSetImage { replace(content) }
            former?.end(false)
            return end(true)
        }
        let old = visibleContent
        transition = Transition(
            effect: effect,
            running: running,
            old: old,
            new: content,
            tick: clock.add { [weak self] in self?.advanceTransition(to: $0) },
            unmapped: view.pointer.map { view in
                Signal("unmap", of: view) { [weak self] in self?.endTransition(finished: false) }
            },
            // A minimised or covered window may receive no frames, and a caller may wait for the end.
            deadline: MainTimer(after: running.duration + grace) { [weak self] in
                self?.endTransition(finished: true)
            },
            end: end
        )
        replace(content)
        former?.end(false)
    }

    private func replace(_ content: PaintableContent?) {
        self.content = content
        frame = .poster
        watch(content)
        measure()
        invalidate()
        contentHandler?()
    }

    /// Observes a paintable that can change.
    private func watch(_ content: PaintableContent?) {
        for change in contentChanges { change.disconnect() }
        contentChanges = []
        let fixed = GDK_PAINTABLE_STATIC_CONTENTS.rawValue | GDK_PAINTABLE_STATIC_SIZE.rawValue
        guard case .paintable(let reference) = content,
            gdk_paintable_get_flags(reference.pointer.opaque).rawValue & fixed != fixed
        else { return }
        contentChanges = [
            Signal("invalidate-contents", of: reference.pointer) { [weak self] in self?.invalidate() },
            Signal("invalidate-size", of: reference.pointer) { [weak self] in self?.measure() },
        ]
    }

    /// Takes over the intrinsic size of the content.
    private func measure() {
        let wishes = hasFixedSize ? nil : content
        let size = (wishes?.size ?? ImageSize(width: 0, height: 0)).bounded(by: Self.longestSide)
        webimage_gtk_paintable_set_size(pointer, Int32(size.width), Int32(size.height), wishes?.ratio ?? 0)
    }

    /// The maximum side in points. Boxes add up the sizes of their children as `int`.
    private static let longestSide = Double(1 << 20)

    /// Queues a redraw.
    func invalidate() { gdk_paintable_invalidate_contents(pointer.opaque) }

    // MARK: Transitions

    /// True if the view is on the screen and animations are enabled.
    private var canAnimate: Bool {
        guard let view = view.pointer, gtk_widget_get_mapped(view.widget) != 0 else { return false }
        return ViewSettings.areAnimationsEnabled(for: view)
    }

    /// The progress of the running transition; nil if none is running.
    var transitionProgress: Double? { transition?.running.progress }

    private func advanceTransition(to seconds: Double) {
        guard transition != nil else { return }
        transition?.running.update(at: seconds)
        if transition?.running.isOver == true {
            endTransition(finished: true)
        }
        invalidate()
    }

    /// Ends the running transition, if any, and shows its target.
    func endTransition(finished: Bool) {
        guard let former = takeTransition() else { return }
        invalidate()
        // Observers may wait for the end of the transition, as animations do.
        contentHandler?()
        former.end(finished)
    }

    /// Stops the running transition. The caller must report its end.
    private func takeTransition() -> Transition? {
        guard let former = transition else { return nil }
        transition = nil
        clock.remove(former.tick)
        former.unmapped?.disconnect()
        former.deadline.cancel()
        if former.effect.avoidAutoSetImage { replace(former.old) }
        return former
    }

    // MARK: Drawing

    private func draw(into snapshot: OpaquePointer, _ width: Double, _ height: Double) {
        let rect = contentRect(width, height)
        let isMoved = rect.x != 0 || rect.y != 0
        if isMoved {
            gtk_snapshot_save(snapshot)
            var origin = graphene_point_t(x: Float(rect.x), y: Float(rect.y))
            gtk_snapshot_translate(snapshot, &origin)
        }
        drawContent(into: snapshot, rect.width, rect.height)
        if isMoved { gtk_snapshot_restore(snapshot) }
    }

    /// Returns where the content is drawn in the paintable's box.
    private func contentRect(_ width: Double, _ height: Double) -> ImageRect {
        let whole = ImageRect(x: 0, y: 0, width: width, height: height)
        guard hasFixedSize, let content, let view = view.pointer else { return whole }
        let box = ImageSize(width: width, height: height)
        return ContentFit.of(view).rect(of: content.size, ratio: content.ratio, in: box)
    }

    private func drawContent(into snapshot: OpaquePointer, _ width: Double, _ height: Double) {
        if content != nil || substitute != nil { sizeHandler?(width, height) }
        guard transition != nil || overlay != nil else { return drawResting(into: snapshot, width, height) }
        let place = ViewPlace(view.pointer, drawing: content, width, height)
        if let transition {
            transition.effect.draw(
                TransitionMoment(
                    snapshot: snapshot,
                    width: width,
                    height: height,
                    progress: transition.running.progress,
                    oldRect: place.rect(of: transition.old),
                    viewRect: place.view,
                    old: transition.old,
                    new: transition.new,
                    color: color
                )
            )
        } else {
            drawResting(into: snapshot, width, height)
        }
        overlay?(snapshot, place.view)
    }

    /// The view's text colour, for icons; nil if no icon is drawn.
    var color: GdkRGBA? {
        guard content?.isPaintable == true || substitute?.isPaintable == true || transition?.old?.isPaintable == true
        else { return nil }
        return view.pointer.map(ViewSettings.textColor(of:))
    }

    private nonisolated(unsafe) static let calls: UnsafePointer<webimage_gtk_paintable_calls> = {
        let calls = UnsafeMutablePointer<webimage_gtk_paintable_calls>.allocate(capacity: 1)
        calls.initialize(
            to: webimage_gtk_paintable_calls(
                snapshot: { owner, snapshot, width, height in
                    guard let owner, let snapshot else { return }
                    nonisolated(unsafe) let (ownerPointer, snapshotPointer) = (owner, snapshot)
                    MainActor.assumeIsolated {
                        Unmanaged<ImagePaintable>.fromOpaque(ownerPointer).takeUnretainedValue()
                            .draw(into: snapshotPointer.opaque, width, height)
                    }
                },
                current_image: { owner in
                    guard let owner else { return nil }
                    nonisolated(unsafe) let ownerPointer = owner
                    let image = MainActor.assumeIsolated { () -> UInt? in
                        Unmanaged<ImagePaintable>.fromOpaque(ownerPointer).takeUnretainedValue().stillAddress
                    }
                    return image.flatMap { UnsafeMutableRawPointer(bitPattern: $0) }
                }
            )
        )
        return UnsafePointer(calls)
    }()

    /// The address of a new reference to a paintable that looks like this one now, without indicator and transition.
    private var stillAddress: UInt? {
        switch visibleContent {
        case .texture(let texture, _):
            UInt(bitPattern: g_object_ref(UnsafeMutableRawPointer(texture.pointer)))
        case .paintable(let reference):
            UInt(bitPattern: gdk_paintable_get_current_image(reference.pointer.opaque))
        case nil: nil
        }
    }
}

extension ImageSize {
    /// Returns integer sides, scaled down to a limit with the same aspect ratio; sides of at least half a point stay above 0.
    fileprivate func bounded(by longest: Double) -> ImageSize {
        let scale = min(1, longest / max(width, height, 1))
        func side(_ side: Double) -> Double {
            let wanted = (side * scale).rounded()
            // Invalid numbers mean no intrinsic size.
            guard side > 0, wanted.isFinite else { return 0 }
            return min(max(wanted, side < 0.5 ? 0 : 1), longest)
        }
        return ImageSize(width: side(width), height: side(height))
    }
}
