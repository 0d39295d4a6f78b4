/// A first-in first-out list that drops its consumed head from time to time. Adding at the end and taking at either end take
/// amortised O(1).
@usableFromInline
package struct FIFOList<Element> {
    @usableFromInline var elements: [Element]
    @usableFromInline var head = 0

    @inlinable
    package init(_ elements: [Element] = []) { self.elements = elements }

    @inlinable
    package var count: Int { elements.count - head }
    @inlinable
    package var first: Element? { head < elements.count ? elements[head] : nil }
    package var last: Element? { head < elements.count ? elements.last : nil }

    @inlinable
    package mutating func append(_ element: Element) { elements.append(element) }

    @inlinable
    package mutating func popFirst() -> Element? {
        guard let element = first else { return nil }
        head += 1
        if head == elements.count {
            elements.removeAll(keepingCapacity: head < 1024)
            head = 0
        } else if head > 64, head * 2 > elements.count {
            elements.removeFirst(head)
            head = 0
        }
        return element
    }

    @inlinable
    package mutating func popLast() -> Element? { head < elements.count ? elements.removeLast() : nil }

    /// Returns the elements that satisfy a condition, in order.
    @inlinable
    package func filter(_ isIncluded: (Element) -> Bool) -> FIFOList { FIFOList(elements[head...].filter(isIncluded)) }
}

extension FIFOList: Sendable where Element: Sendable {}
