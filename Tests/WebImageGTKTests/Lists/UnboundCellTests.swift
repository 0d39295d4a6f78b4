import CWebImageGTK4
import FoundationEssentials
import ModelTestSupport
import Testing
import WebImage

@testable import WebImageGTK

/// Memory of unbound cells, and how cells get more pixels.
@Suite(.tags(.addressSanitizer), .serialized, .needsDisplay) @MainActor struct UnboundCellTests {
    private func url(_ number: Int) -> URL { ListBench.url(number) }

    private final class WeakImage {
        weak var image: Image?
        init(_ image: Image) { self.image = image }
    }

    /// Views that show images, and these images.
    private func shown(in list: ListBench) -> [UnsafeMutableRawPointer: WeakImage] {
        Dictionary(
            uniqueKeysWithValues: list.bound.keys.compactMap { view in
                ViewState.existing(view)?.paintable.content?.image.map { (view, WeakImage($0)) }
            }
        )
    }

    @Test func `A cell that stays unbound retains no image`() async throws {
        let list = try await ListBench(count: 60) { $0.prefetchCount = 0 }
        #expect(await list.loadVisible())
        let images = shown(in: list)
        let holders = images.keys.map { ObjectReference(retaining: $0) }
        #expect(!images.isEmpty)
        // Fewer items: GTK unbinds cells, and keeps some for later.
        list.replace(0..<60, by: [])
        await list.bench.cache.clear(.all)
        #expect(await MainLoopTurns.wait { images.values.allSatisfy { $0.image == nil } })
        for view in images.keys {
            guard let state = ViewState.existing(view) else { continue }
            #expect(state.shown == nil && state.paintable.content == nil)
            #expect(view.latestLoadState == nil && view.imageURL == nil)
        }
        withExtendedLifetime(holders) {}
        list.close()
    }

    @Test func `With delayPlaceholder, a cell bound to another image retains nothing of the previous one`() async throws
    {
        let list = try await ListBench {
            $0.options = .delayPlaceholder
            $0.prefetchCount = 0
        }
        #expect(await list.loadVisible())
        let before = list.bound.filter { list.shown(in: $0.key) != nil }
        await list.scroll(to: 0.6)
        let again = before.filter { entry in list.bound[entry.key].map { $0 != entry.value } == true }
        #expect(!again.isEmpty)
        for view in again.keys {
            guard let state = ViewState.existing(view) else { continue }
            #expect(state.shown == nil && state.paintable.content == nil)
        }
        list.close()
    }

    @Test func `A load of more pixels has the cell's current priority`() async throws {
        let list = try await ListBench { $0.prefetchCount = 0 }
        // Rows of four; this one enters the screen with the next five.
        let number = try #require(list.visible.max()) + 8
        let view = try #require(list.bound.first { $0.value == "\(number)" }?.key)
        try #require(await list.bench.loader.request(of: url(number)))
        #expect(list.bench.loader.priority(of: url(number)) == .low)
        list.bench.loader.end(url(number), with: .success(ViewBench.picture(400, 300, 0, 0, 0)))
        #expect(await MainLoopTurns.wait { view.latestLoadState?.result != nil })
        await list.scroll(to: 0.05)
        #expect(list.isMapped(view) && list.bound[view] == "\(number)")
        await list.bench.cache.clear(.all)
        ViewState.of(view).noteDrawn(300, 225)
        try #require(await list.bench.loader.request(of: url(number)))
        #expect(list.bench.loader.priority(of: url(number)) == .high)
        await list.scroll(to: 0)
        #expect(!list.isMapped(view) && list.bound[view] == "\(number)")
        #expect(list.bench.loader.priority(of: url(number)) == .low)
        list.close()
    }
}
