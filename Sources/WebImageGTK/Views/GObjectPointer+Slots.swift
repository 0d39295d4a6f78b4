public import WebImage

/// The slots of a view, each of which has one load at a time.
extension GObjectPointer {
    /// The key of the slot that a picture was last set in; nil before that.
    @MainActor
    public var latestOperationKey: String? { ViewState.existing(gobjectPointer)?.latestKey }

    /// The operation that is under way in a slot; nil if none is.
    ///
    /// - Parameter key: of the slot: `"image"` for the picture, unless ``WebImageContext/setImageOperationKey`` said otherwise.
    @MainActor
    public func imageLoadOperation(forKey key: String) -> (any WebImageOperation)? {
        guard let state = ViewState.existing(gobjectPointer) else { return nil }
        return state.slots[key]?.load?.operation ?? state.slots[key]?.operation
    }

    /// Puts an operation of one's own into a slot, in place of what is there, which is cancelled. It is cancelled by the next load of the
    /// slot and with the view, and at once when the slot is just being given up for another load or the view
    /// is no more.
    ///
    /// - Parameters:
    ///   - operation: nil is ignored.
    ///   - key: of the slot.
    @MainActor
    public func setImageLoadOperation(_ operation: (any WebImageOperation)?, forKey key: String) {
        guard let operation else { return }
        let state = ViewState.of(gobjectPointer)
        // By the completion of what the slot gives up for something else, or of what ends with the view.
        guard state.slots[key]?.isVacating != true, !state.isLeaving else { return operation.cancel() }
        let kept = state.keepView()
        defer { kept.end() }
        state.vacate(key)
        state.change(key) { $0.operation = operation }
    }

    /// Cancels what is under way in a slot: the latest load, not those before it that ``WebImageOptions/avoidAutoCancelImage`` let go on.
    ///
    /// - Parameter key: of the slot.
    @MainActor
    public func cancelImageLoadOperation(forKey key: String) { ViewState.existing(gobjectPointer)?.cancel(key) }

    /// Takes one's own operation out of a slot without cancelling it.
    ///
    /// - Parameter key: of the slot.
    @MainActor
    public func removeImageLoadOperation(forKey key: String) {
        guard let state = ViewState.existing(gobjectPointer), state.slots[key]?.operation != nil else { return }
        state.change(key) { $0.operation = nil }
    }

    /// Cancels the load that was begun last, in whatever slot.
    @MainActor
    public func cancelLatestImageLoad() {
        guard let state = ViewState.existing(gobjectPointer), let key = state.latestKey else { return }
        state.cancel(key)
    }

    /// What is known of the last load of a slot; nil if there was none, or if it has ended and another slot's picture or placeholder was shown
    /// in its place. Of buttons, the 32 slots that were used last are known.
    ///
    /// - Parameter key: of the slot.
    @MainActor
    public func imageLoadState(forKey key: String) -> ViewLoadState? {
        ViewState.existing(gobjectPointer)?.loadState(key)
    }
}
