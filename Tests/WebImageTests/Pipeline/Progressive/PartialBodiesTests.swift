import FoundationEssentials
import Testing

@testable import WebImage

@Suite struct PartialBodiesTests {
    private let loader = FakeLoader()

    private func key(_ path: String) -> Boxed<LoadPlan.Fetch> {
        Boxed(LoadPlan.Fetch(url: URL(fileURLWithPath: "/\(path)"), loader: loader, options: []))
    }

    @Test func `What a loader leaves reaches those who wait for it, and nobody else`() {
        let bodies = PartialBodies()
        let seen = Lock<[String]>([])
        let source = bodies.source(for: key("a"))
        #expect(!source.isWanted && bodies.count == 0)
        source.update(Data([1]), expectedByteCount: 9)
        let first = bodies.join(key("a")) { snapshot in seen.withLock { $0.append("1:\(snapshot.data.count)") } }
        let other = bodies.join(key("b")) { snapshot in seen.withLock { $0.append("b:\(snapshot.data.count)") } }
        #expect(source.isWanted && bodies.count == 2)
        source.update(Data([1, 2]), expectedByteCount: 9)
        #expect(seen.withLock { $0 } == ["1:2"])
        withExtendedLifetime((first, other)) {}
    }

    @Test func `Who has gone gets nothing more`() {
        let bodies = PartialBodies()
        let count = Lock(0)
        let source = bodies.source(for: key("a"))
        var membership: PartialBodies.Membership? = bodies.join(key("a")) { _ in count.withLock { $0 += 1 } }
        source.update(Data([1]), expectedByteCount: nil)
        #expect(membership != nil)
        membership = nil
        source.update(Data([1, 2]), expectedByteCount: nil)
        #expect(count.withLock { $0 } == 1 && !source.isWanted && bodies.count == 0)
    }

    @Test func `A new beginning is told, with nothing in it`() {
        let bodies = PartialBodies()
        let seen = Lock<[PartialImageData.Snapshot]>([])
        let source = bodies.source(for: key("a"))
        let membership = bodies.join(key("a")) { snapshot in seen.withLock { $0.append(snapshot) } }
        source.begin()
        source.update(Data([1, 2, 3]), expectedByteCount: 5)
        source.begin()
        source.update(Data([9]), expectedByteCount: nil)
        let all = seen.withLock { $0 }
        #expect(
            all[0].attempt == all[1].attempt && all[2].attempt == all[3].attempt && all[1].attempt != all[2].attempt
        )
        #expect(all.map(\.data.count) == [0, 3, 0, 1])
        #expect(all.map(\.expectedByteCount) == [nil, 5, nil, nil])
        withExtendedLifetime(membership) {}
    }
}
