/// A list in insertion order that stores its first element inline, for lists that mostly have one.
struct FewElements<Element>: Sequence {
    private var first: Element?
    private var others: [Element] = []

    var isEmpty: Bool { first == nil }

    mutating func append(_ element: Element) {
        if first == nil { first = element } else { others.append(element) }
    }

    /// Removes and returns the first matching element; nil if none matches. O(n).
    @discardableResult
    mutating func removeFirst(where matches: (Element) -> Bool) -> Element? {
        guard let first else { return nil }
        if matches(first) {
            self.first = others.isEmpty ? nil : others.removeFirst()
            return first
        }
        return others.firstIndex(where: matches).map { others.remove(at: $0) }
    }

    mutating func changeFirst(where matches: (Element) -> Bool, _ change: (inout Element) -> Void) {
        guard var element = first else { return }
        if matches(element) {
            change(&element)
            first = element
        } else if let index = others.firstIndex(where: matches) {
            change(&others[index])
        }
    }

    /// Removes and returns all elements.
    mutating func removeAll() -> FewElements {
        defer { self = FewElements() }
        return self
    }

    func makeIterator() -> Iterator { Iterator(elements: self) }

    struct Iterator: IteratorProtocol {
        private let elements: FewElements
        private var index = -1

        fileprivate init(elements: FewElements) { self.elements = elements }

        mutating func next() -> Element? {
            defer { index += 1 }
            if index < 0 { return elements.first }
            return index < elements.others.count ? elements.others[index] : nil
        }
    }
}

extension FewElements: Sendable where Element: Sendable {}
