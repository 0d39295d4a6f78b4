import WebImage

/// What is known of slots goes when it is not needed any more: a program may use one for each URL.
extension ViewState {
    /// The most slots that are known beside those that load something. A button has ten.
    private static let mostSlots = 32

    /// A slot's picture or placeholder is shown in the paintable: what others had shown there is not seen any more.
    func forgetSlots(replacedBy key: String) {
        for other in paintableKeys where other != key && !isBusy(other) { forgetSlot(other) }
    }

    /// The longest unused ones of very many go.
    func forgetOldSlots() {
        guard loadStates.count > Self.mostSlots else { return }
        let old = loadStates.keys.filter {
            !isBusy($0) && ![latestKey, shown?.load.key, Self.highlightedKey].contains($0)
        }
        .sorted { lastNumbers[$0] ?? 0 < lastNumbers[$1] ?? 0 }
        for key in old.prefix(loadStates.count - Self.mostSlots) { forgetSlot(key) }
    }

    private func isBusy(_ key: String) -> Bool {
        loads[key] != nil || vacating.contains(key) || supersededLoads.contains { $0.key == key }
    }

    private func forgetSlot(_ key: String) {
        paintableKeys.remove(key)
        loadStates[key] = nil
        lastNumbers[key] = nil
        shownNumbers[key] = nil
        askedBoxes[key] = nil
        drawnSizes[key] = nil
        shownElsewhere[key] = nil
    }
}
