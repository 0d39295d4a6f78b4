import CWebImageGTK4
import FoundationEssentials
import Testing
import WebImage

@testable import WebImageGTK

/// Loads of cells off the screen, when many cells are bound at once.
@Suite(.serialized, .needsDisplay) @MainActor struct DeferredCellTests {
    /// A list whose loads off the screen wait for the visible images, however long these take.
    private func list(_ kind: ListBench.Kind = .grid) async throws -> ListBench {
        try await ListBench(kind) {
            $0.prefetchCount = 0
            $0.deferral.limit = 1e6
        }
    }

    private func asked(_ list: ListBench) -> Set<URL> { Set(list.bench.loader.requests) }

    @Test(arguments: ListBench.Kind.allCases)
    func `Most cells off the screen load once the visible images are there`(kind: ListBench.Kind) async throws {
        let list = try await list(kind)
        let (visible, all) = (list.visible, list.numbers)
        try #require(all.count > 2 * max(visible.count, ListDeferral.batchCount))
        for number in visible { try #require(await list.bench.loader.request(of: ListBench.url(number))) }
        await list.window.frames(5)
        #expect(asked(list).count <= max(visible.count, ListDeferral.batchCount) + visible.count)
        #expect(await list.loadVisible())
        #expect(await MainLoopTurns.wait { asked(list).isSuperset(of: all.map { ListBench.url($0) }) })
        list.close()
    }

    @Test func `They load after a time limit, too`() async throws {
        let list = try await ListBench { $0.deferral.limit = 0.01 }
        for number in list.numbers { #expect(await list.bench.loader.request(of: ListBench.url(number))) }
        list.close()
    }

    @Test func `A cell that waits and moves away is reported as cancelled, and never loads`() async throws {
        let list = try await list()
        let (before, all) = (asked(list), list.numbers)
        let waiting = all.filter { !before.contains(ListBench.url($0)) }
        try #require(!waiting.isEmpty)
        await list.scroll(to: 0.9)
        let gone = waiting.subtracting(list.numbers)
        #expect(!gone.isEmpty)
        #expect(
            await MainLoopTurns.wait {
                gone.allSatisfy { number in list.ended.contains { $0.position == number && $0.code == .cancelled } }
            }
        )
        #expect(asked(list).isDisjoint(with: gone.map { ListBench.url($0) }))
        list.close()
    }

    @Test func `Images in memory do not wait`() async throws {
        let list = try await list()
        #expect(await list.loadVisible())
        let all = list.numbers
        #expect(
            await MainLoopTurns.wait {
                list.endAll()
                return list.bound.keys.allSatisfy { list.shown(in: $0) != nil }
            }
        )
        var missing: [String] = []
        list.bindHandler = { view, name in if list.shown(in: view) == nil { missing.append(name) } }
        list.reset()
        await list.window.frames(1)
        #expect(list.numbers == all && missing.isEmpty)
        list.close()
    }
}
