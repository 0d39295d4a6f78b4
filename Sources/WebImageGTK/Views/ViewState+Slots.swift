import WebImage

/// The state of slots is dropped when it is not needed any more: a program may use a slot for each URL.
extension ViewState {
    /// The state of a slot.
    struct Slot {
        /// The latest load, while it is under way.
        var load: ViewLoad?
        /// Earlier loads that continue although the slot has a later one.
        var superseded: [ViewLoad] = []
        /// An operation that the program has put into the slot.
        var operation: (any WebImageOperation)?
        /// True while the load is being cancelled for another one.
        var isVacating = false
        var loadState: ViewLoadState?
        /// The number of the last load; 0 before the first one.
        var lastNumber = 0
        /// The number of the load whose image is shown; 0 for none.
        var shownNumber = 0
        /// True if the paintable shows the slot's image or has shown it.
        var isInPaintable = false
        /// The image shown by a setter that can be loaded again with more pixels; see ``ViewState/shown``.
        var shown: ShownLoad?
        /// The box in pixels for which the image was last loaded again, and the number of its original load.
        var asked: (number: Int, box: ImageSize)?
        /// The largest size at which the image was drawn.
        var drawnSize: DrawnSize?

        /// True while the state is needed, whatever is shown.
        fileprivate var isBusy: Bool { load != nil || !superseded.isEmpty || isVacating }
    }

    /// The maximum number of idle slots whose state is kept. A button has ten.
    private static let mostSlots = 32

    /// Changes the state of a slot. The former value is released afterwards: its deinitializers may access the view.
    func change(_ slot: ImageSlot, _ body: (inout Slot) -> Void) {
        let former = slots[slot]
        var changed = former ?? Slot()
        body(&changed)
        slots[slot] = changed
        withExtendedLifetime(former) {}
    }

    /// The loads that are under way, each the latest of its slot.
    var loads: [ViewLoad] { slots.values.compactMap(\.load) }

    /// Forgets slots whose image in the paintable is replaced by that of another slot.
    func forgetSlots(replacedBy slot: ImageSlot) {
        forget(slots.compactMap { $0 != slot && $1.isInPaintable && !$1.isBusy ? $0 : nil })
    }

    /// Forgets the least recently used of too many idle slots.
    func forgetOldSlots() {
        guard slots.count > Self.mostSlots else { return }
        let kept = [latestSlot, shown?.load.slot, .highlighted]
        let idle = slots.filter { !$0.value.isBusy && $0.value.operation == nil && !kept.contains($0.key) }
        let byAge = idle.sorted { $0.value.lastNumber < $1.value.lastNumber }
        forget(byAge.dropLast(Self.mostSlots).map(\.key))
    }

    private func forget(_ idle: [ImageSlot]) {
        let former = slots
        // The program's operation stays.
        for slot in idle { slots[slot] = former[slot]?.operation.map { Slot(operation: $0) } }
        withExtendedLifetime(former) {}
    }
}
