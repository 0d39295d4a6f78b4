public import FoundationEssentials
public import WebImage

/// The slots of a view, each of which has one load at a time.
extension GObjectPointer {
    /// The slot of the latest call that set an image; nil before that.
    @MainActor
    public var latestImageSlot: ImageSlot? { ViewState.existing(gobjectPointer)?.latestSlot }

    /// The state of the latest load; nil if there was none.
    @MainActor
    public var latestLoadState: ViewLoadState? { latestImageSlot.flatMap { imageLoadState(in: $0) } }

    /// The state of the last load of a slot; nil if there was none, or if it has ended and the image or placeholder of another slot has
    /// replaced its image. A button keeps the state of its 32 most recently used slots.
    @MainActor
    public func imageLoadState(in slot: ImageSlot) -> ViewLoadState? {
        ViewState.existing(gobjectPointer)?.loadState(slot)
    }

    /// The URL of the latest call that set the image of a slot; nil if there was none.
    @MainActor
    public func imageURL(in slot: ImageSlot) -> URL? { imageLoadState(in: slot)?.url }

    /// Cancels the latest load of a slot, but not earlier ones that continue because of ``WebImageOptions/avoidAutoCancelImage``. The
    /// completion is called before this returns.
    @MainActor
    public func cancelCurrentImageLoad(in slot: ImageSlot = .image) { ViewState.existing(gobjectPointer)?.cancel(slot) }

    /// Cancels the load that was started last, in any slot.
    @MainActor
    public func cancelLatestImageLoad() {
        if let latestImageSlot { cancelCurrentImageLoad(in: latestImageSlot) }
    }

    /// The operation in progress in a slot; nil if there is none.
    @MainActor
    public func imageLoadOperation(in slot: ImageSlot) -> (any WebImageOperation)? {
        let known = ViewState.existing(gobjectPointer)?.slots[slot]
        return known?.load?.operation ?? known?.operation
    }

    /// Puts your own operation into a slot. The slot's previous operation is cancelled. The next load of the slot and the destruction of
    /// the view cancel the new one; it is cancelled at once if the slot is being vacated for another load or the view is being finalized.
    ///
    /// - Parameter operation: nil is ignored.
    @MainActor
    public func setImageLoadOperation(_ operation: (any WebImageOperation)?, in slot: ImageSlot) {
        guard let operation else { return }
        let state = ViewState.of(gobjectPointer)
        // Called by a completion while its slot is vacated for another load, or while the view is being destroyed.
        guard state.slots[slot]?.isVacating != true, !state.isLeaving else { return operation.cancel() }
        let kept = state.keepView()
        defer { kept.end() }
        state.vacate(slot)
        state.change(slot) { $0.operation = operation }
    }

    /// Takes your own operation out of a slot without cancelling it.
    @MainActor
    public func removeImageLoadOperation(in slot: ImageSlot) {
        guard let state = ViewState.existing(gobjectPointer), state.slots[slot]?.operation != nil else { return }
        state.change(slot) { $0.operation = nil }
    }
}
