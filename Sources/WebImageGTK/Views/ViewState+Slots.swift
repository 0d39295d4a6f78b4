import WebImage

/// What is known of slots is forgotten when it is not needed any more: a program may use one for each URL.
extension ViewState {
    /// What a view knows of one of its slots.
    struct Slot {
        /// The latest load, while it is under way.
        var load: ViewLoad?
        /// Loads that go on though the slot has a later one.
        var superseded: [ViewLoad] = []
        /// What the program put there.
        var operation: (any WebImageOperation)?
        /// Whether the load is being cancelled for another one.
        var isVacating = false
        var loadState: ViewLoadState?
        /// The number of the last load; 0 before the first one.
        var lastNumber = 0
        /// The number of the load whose image is shown; 0 for none.
        var shownNumber = 0
        /// Whether the paintable shows the slot's image, or has shown it.
        var isInPaintable = false
        /// What is shown by a setter, and can be loaded again with more pixels; see ``ViewState/shown``.
        var shown: ShownLoad?
        /// The box in pixels that the image was last loaded again for, and the number of the load that had brought it first.
        var asked: (number: Int, box: ImageSize)?
        /// How big the image was drawn at most.
        var drawnSize: DrawnSize?

        /// Whether it is needed, whatever is shown.
        fileprivate var isBusy: Bool { load != nil || !superseded.isEmpty || isVacating }
    }

    /// The most slots that are known beside those that load something. A button has ten.
    private static let mostSlots = 32

    /// Changes what is known of a slot. What it held is released afterwards: that may be the end of an object that looks at the view.
    func change(_ slot: ImageSlot, _ body: (inout Slot) -> Void) {
        let former = slots[slot]
        var changed = former ?? Slot()
        body(&changed)
        slots[slot] = changed
        withExtendedLifetime(former) {}
    }

    /// The loads that are under way, each the latest of its slot.
    var loads: [ViewLoad] { slots.values.compactMap(\.load) }

    /// A slot's image or placeholder is shown in the paintable: what others had shown there is not seen any more.
    func forgetSlots(replacedBy slot: ImageSlot) {
        forget(slots.compactMap { $0 != slot && $1.isInPaintable && !$1.isBusy ? $0 : nil })
    }

    /// Forgets those of very many that were not used for longest.
    func forgetOldSlots() {
        guard slots.count > Self.mostSlots else { return }
        let kept = [latestSlot, shown?.load.slot, .highlighted]
        let idle = slots.filter { !$0.value.isBusy && $0.value.operation == nil && !kept.contains($0.key) }
        let byAge = idle.sorted { $0.value.lastNumber < $1.value.lastNumber }
        forget(byAge.dropLast(Self.mostSlots).map(\.key))
    }

    private func forget(_ idle: [ImageSlot]) {
        let former = slots
        // What the program put there stays.
        for slot in idle { slots[slot] = former[slot]?.operation.map { Slot(operation: $0) } }
        withExtendedLifetime(former) {}
    }
}
