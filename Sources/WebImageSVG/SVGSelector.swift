import WebImageCodecs

extension SVGStyleSheet {
    /// What it takes to find out whom a selector is for.
    struct Selector {
        /// Where whoever compares it may have to go from an element.
        struct Walk: OptionSet {
            let rawValue: Int
            static let outwards = Walk(rawValue: 1)
            static let siblings = Walk(rawValue: 2)

            init(rawValue: Int) { self.rawValue = rawValue }

            init(_ text: ArraySlice<UInt8>) {
                var walk: Walk = []
                let name = String(decoding: text, as: UTF8.self).lowercased()
                if name.contains("~") || name.contains(":nth") || name.contains("of-type") { walk = .siblings }
                if text.drop(while: { $0 <= 0x20 }).contains(where: { $0 <= 0x20 || $0 == UInt8(ascii: ">") }) {
                    walk.insert(.outwards)
                }
                self = walk
            }
        }

        let key: Key
        let walk: Walk
        /// More than there are names in it.
        let nameCount: Int

        init(key: Key, walk: Walk, _ byteCount: Int) {
            (self.key, self.walk) = (key, walk)
            nameCount = 1 + byteCount / 2
        }
    }

    /// What a rule may be called that is for an element. What is not of a name is as in ``clean(_:)`` when it is escaped.
    static func keys(of element: SVGElements.Element) -> [Key] {
        [.all, .element(element.name)] + (element.identifier.map { [.identifier(plain($0))] } ?? [])
            + element.classes.map { .class(plain($0)) }
    }

    private static func plain(_ name: [UInt8]) -> [UInt8] { name.map { isName($0) ? $0 : UInt8(ascii: "_") } }

    /// Nanoseconds, measured with librsvg 2.54: to see that a selector is not for an element, or one step on the way to that.
    private static let timeOfStep = 25.0

    /// The nanoseconds in which librsvg finds out which rules are for which elements: it compares each with each.
    func timeToMatch(_ elements: [SVGElements.Element]) -> Double {
        guard !selectors.isEmpty else { return 0 }
        var counts: [Key: Double] = [:]
        for selector in selectors { counts[selector.key] = 0 }
        var children = [Double](repeating: 0, count: elements.count)
        var depths = [Double](repeating: 1, count: elements.count)
        for (index, element) in elements.enumerated() {
            for key in Self.keys(of: element) where counts[key] != nil { counts[key, default: 0] += 1 }
            guard let parent = element.parent else { continue }
            children[parent] += 1
            depths[index] = depths[parent] + 1
        }
        let (siblings, depth) = (children.max() ?? 1, depths.max() ?? 1)
        let steps = selectors.reduce(0.0) { steps, selector in
            var each = Double(selector.nameCount)
            if selector.walk.contains(.siblings) { each *= max(siblings, 1) }
            if selector.walk.contains(.outwards) { each *= depth }
            // Of most only the last name is looked at.
            return steps + Double(elements.count) + (counts[selector.key] ?? 0) * each
        }
        return steps * Self.timeOfStep
    }
}
