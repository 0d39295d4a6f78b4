import CWebImageGTK4
import CWebImageGTKShims
import WebImage

/// What a view is given to show: one paintable for the life of the view, whose contents change.
///
/// So a picture that arrives in a list at rest, a frame of an animation and a moment of a transition are nothing but contents that are
/// drawn anew.
@MainActor
final class ImagePaintable {
    /// A `GdkPaintable`.
    nonisolated(unsafe) let pointer: UnsafeMutableRawPointer
    /// What is shown, or will be at the end of the transition.
    private(set) var content: PaintableContent?
    /// Told of each size at which the content is drawn, in points.
    var sizeHandler: ((_ width: Double, _ height: Double) -> Void)?
    /// Draws over the content: an indicator. Told where the view lies, seen from the corner of the content.
    var overlay: ((_ snapshot: OpaquePointer, _ view: ImageRect) -> Void)? { didSet { invalidate() } }
    /// Told when there is other content, and when a transition to it is over.
    var contentHandler: (() -> Void)?
    /// What is drawn of the content when it moves.
    var frame = PaintableFrame.poster { didSet { invalidate() } }
    /// Drawn in place of the content, laid out as the view does it, while no transition runs. The size stays that of the content.
    var substitute: PaintableContent? { didSet { invalidate() } }

    /// Whether it wants no size of its own: it is drawn over the whole view, and fits the content into that itself.
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

    /// Seconds that a transition may take longer than it should.
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

    /// Shows something else at once; what was under way is cut short.
    func show(_ content: PaintableContent?) {
        let former = takeTransition()
        replace(content)
        former?.end(false)
    }

    /// Shows the same thing with other pixels; what leads to it goes on.
    func exchange(_ content: PaintableContent) {
        transition?.new = content
        replace(content)
    }

    /// Shows something else by way of a transition.
    ///
    /// - Parameter end: called once, at its end or when it is cut short (by what is shown next, or because the view leaves the screen);
    ///   may be called at once.
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
            // A window that is minimised or covered may be given no frames, and somebody may wait for the end.
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

    /// Sees to a paintable that changes.
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

    /// Wants the size that the content wants.
    private func measure() {
        let wishes = hasFixedSize ? nil : content
        let size = (wishes?.size ?? ImageSize(width: 0, height: 0)).bounded(by: Self.longestSide)
        webimage_gtk_paintable_set_size(pointer, Int32(size.width), Int32(size.height), wishes?.ratio ?? 0)
    }

    /// In points. Boxes add up the sizes of what is in them, as `int`.
    private static let longestSide = Double(1 << 20)

    /// Has it drawn anew.
    func invalidate() { gdk_paintable_invalidate_contents(pointer.opaque) }

    // MARK: Transitions

    /// Whether movement would be seen, and is wanted.
    private var canAnimate: Bool {
        guard let view = view.pointer, gtk_widget_get_mapped(view.widget) != 0 else { return false }
        return ViewSettings.areAnimationsEnabled(for: view)
    }

    /// The progress of the transition that runs; nil if none does.
    var transitionProgress: Double? { transition?.running.progress }

    private func advanceTransition(to seconds: Double) {
        guard transition != nil else { return }
        transition?.running.update(at: seconds)
        if transition?.running.isOver == true {
            endTransition(finished: true)
        }
        invalidate()
    }

    /// Ends the transition that runs, if one does: at the picture it leads to.
    func endTransition(finished: Bool) {
        guard let former = takeTransition() else { return }
        invalidate()
        // What waits for the end of a transition, as an animation does.
        contentHandler?()
        former.end(finished)
    }

    /// Stops the transition that runs. Who calls this tells its end.
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

    /// Where the content lies in the box that is drawn.
    private func contentRect(_ width: Double, _ height: Double) -> ImageRect {
        let whole = ImageRect(x: 0, y: 0, width: width, height: height)
        guard hasFixedSize, let content, let view = view.pointer else { return whole }
        let box = ImageSize(width: width, height: height)
        return ContentFit.of(view).rect(of: content.size, ratio: content.ratio, in: box)
    }

    private func drawContent(into snapshot: OpaquePointer, _ width: Double, _ height: Double) {
        if content != nil || substitute != nil { sizeHandler?(width, height) }
        guard transition != nil || overlay != nil else { return drawVisible(into: snapshot, width, height) }
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
            drawVisible(into: snapshot, width, height)
        }
        overlay?(snapshot, place.view)
    }

    /// That of the view's text, for icons; nil when there is none to be drawn.
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

    /// The address of a new reference to what looks as this does now, without indicator and transition.
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
    /// Whole numbers, of the same shape if they have to be smaller; what is more than nothing stays so.
    fileprivate func bounded(by longest: Double) -> ImageSize {
        let scale = min(1, longest / max(width, height, 1))
        func side(_ side: Double) -> Double {
            let wanted = (side * scale).rounded()
            // What is not a number is no wish.
            guard side > 0, wanted.isFinite else { return 0 }
            return min(max(wanted, side < 0.5 ? 0 : 1), longest)
        }
        return ImageSize(width: side(width), height: side(height))
    }
}
