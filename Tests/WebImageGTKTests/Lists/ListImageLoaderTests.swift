import CWebImageGTK4
import FoundationEssentials
import Testing
import WebImage

@testable import WebImageGTK

@Suite(.serialized, .needsDisplay) @MainActor struct ListImageLoaderTests {
    private func url(_ number: Int) -> URL { ListBench.url(number) }

    @Test func `Cells on the screen have high priority, and the others do not`() async throws {
        let list = try await ListBench()
        let (visible, bound) = (list.visible, list.numbers)
        #expect(!visible.isEmpty && bound.count > visible.count * 2)
        for number in bound { try #require(await list.bench.loader.request(of: url(number))) }
        for number in bound {
            #expect(list.bench.loader.priority(of: url(number)) == (visible.contains(number) ? .high : .low))
        }
        list.close()
    }

    @Test func `A load becomes urgent when its cell enters the screen, and stops being so when it leaves`()
        async throws
    {
        let list = try await ListBench()
        let first = list.visible
        for number in list.numbers { try #require(await list.bench.loader.request(of: url(number))) }
        await list.scroll(to: 0.05)
        let second = list.visible
        let (come, gone) = (second.subtracting(first), first.subtracting(second).intersection(list.numbers))
        #expect(!come.isEmpty && !gone.isEmpty)
        for number in come { #expect(list.bench.loader.priority(of: url(number)) == .high) }
        for number in gone { #expect(list.bench.loader.priority(of: url(number)) == .low) }
        list.close()
    }

    @Test func `An image in memory is in its cell when the cell is bound`() async throws {
        let list = try await ListBench()
        #expect(await list.loadVisible())
        let visible = list.visible
        list.reset()
        // Bound again during the list's layout, without anything in between.
        await list.window.frames(1)
        #expect(list.visible == visible)
        #expect(list.bound.filter { list.isMapped($0.key) }.allSatisfy { list.shown(in: $0.key) != nil })
        list.close()
    }

    @Test(arguments: ListBench.Kind.allCases)
    func `A recycled cell never shows the previous image`(kind: ListBench.Kind) async throws {
        let list = try await ListBench(kind)
        for step in 1...6 {
            // Half of the running loads end while cells go to other items.
            for (index, url) in list.bench.loader.waiting.sorted(by: { $0.path < $1.path }).enumerated()
            where index % 2 == 0 {
                list.bench.loader.end(
                    url,
                    with: .success(ListBench.picture(Int(url.lastPathComponent.dropLast(4)) ?? 0))
                )
            }
            await list.scroll(to: Double(step * 37 % 100) / 100)
            #expect(list.wrongCells == [])
        }
        #expect(await list.loadVisible())
        #expect(list.wrongCells == [])
        list.close()
    }

    @Test func `The load of a cell that moves far away is cancelled`() async throws {
        let list = try await ListBench { $0.prefetchCount = 0 }
        let before = list.numbers
        for number in before { try #require(await list.bench.loader.request(of: url(number))) }
        await list.scroll(to: 0.8)
        let gone = before.subtracting(list.numbers)
        #expect(!gone.isEmpty)
        #expect(await MainLoopTurns.wait { gone.allSatisfy { list.bench.loader.cancelled.contains(url($0)) } })
        #expect(gone.allSatisfy { number in list.ended.contains { $0.position == number && $0.code == .cancelled } })
        list.close()
    }

    @Test func `A load continues when its item is unbound and bound again at once`() async throws {
        // Preloaded images arrive at any time.
        let list = try await ListBench { $0.prefetchCount = 0 }
        let bound = list.numbers
        for number in bound { try #require(await list.bench.loader.request(of: url(number))) }
        let (requests, cancelled) = (list.bench.loader.requests, list.bench.loader.cancelled)
        // The model reports that its items changed, and they have the same URLs.
        list.reset()
        await list.window.frames()
        #expect(list.numbers == bound)
        #expect(list.bench.loader.requests == requests && list.bench.loader.cancelled == cancelled)
        list.close()
    }

    /// Waits until the images of the eight items without cells that are nearest to the screen are preloaded.
    private func loadsNext(_ list: ListBench, isForward: Bool, seconds: Double = 20) async -> Bool {
        await MainLoopTurns.wait(seconds: seconds) {
            guard let first = list.visible.min(), let last = list.visible.max() else { return false }
            let positions =
                isForward ? Array(last + 1..<Int(g_list_model_get_n_items(list.names))) : (0..<first).reversed()
            let next = positions.filter { !list.numbers.contains($0) }.prefix(8)
            return next.count == 8 && list.loader.prefetchedURLs == Set(next.map { url($0) })
        }
    }

    @Test(arguments: ListBench.Kind.allCases)
    func `The next images are preloaded, and cancelled when the direction reverses`(kind: ListBench.Kind) async throws {
        // Column views keep two hundred cells, and since GTK 4.12 lists do.
        let list = try await ListBench(kind, count: kind == .grid ? 400 : 800) { $0.prefetchCount = 8 }
        // GTK learns the height of rows while it scrolls, and may then move the list a little.
        await list.scroll(to: 0.42)
        var isAhead = false
        for share in [0.45, 0.5, 0.52, 0.54] where !isAhead {
            await list.scroll(to: share)
            isAhead = await loadsNext(list, isForward: true, seconds: 5)
        }
        #expect(isAhead)
        let ahead = list.loader.prefetchedURLs
        for url in ahead {
            try #require(await list.bench.loader.request(of: url))
            #expect(list.bench.loader.priority(of: url) == .low)
        }
        var hasTurned = false
        var given: Set<URL> = []
        // GTK may give cells to all of them while it reverses.
        for share in [0.48, 0.46, 0.44, 0.42, 0.4, 0.38, 0.36] where !hasTurned || given.isEmpty {
            await list.scroll(to: share)
            hasTurned = await loadsNext(list, isForward: false, seconds: 5)
            given = ahead.subtracting(list.numbers.map { url($0) })
        }
        #expect(hasTurned && !given.isEmpty)
        let behind = list.loader.prefetchedURLs
        #expect(behind.isDisjoint(with: ahead))
        #expect(await MainLoopTurns.wait { given.isSubset(of: list.bench.loader.cancelled) })
        for url in behind { try #require(await list.bench.loader.request(of: url)) }
        list.loader.cancelPrefetching()
        #expect(list.loader.prefetchedURLs.isEmpty)
        #expect(await MainLoopTurns.wait { behind.isSubset(of: list.bench.loader.cancelled) })
        list.close()
    }

    @Test(arguments: ListBench.Kind.allCases)
    func `A preloaded image is there when its cell is bound`(kind: ListBench.Kind) async throws {
        let list = try await ListBench(kind) { $0.prefetchCount = 16 }
        await list.scroll(to: 0.1)
        #expect(await MainLoopTurns.wait { list.loader.prefetchedURLs.count == 16 })
        let ahead = list.loader.prefetchedURLs
        for url in ahead { try #require(await list.bench.loader.request(of: url)) }
        list.endAll()
        #expect(await list.loadVisible())
        // Decoded, too: no load is running.
        #expect(await MainLoopTurns.wait { !list.bench.manager.isRunning })
        let requests = list.bench.loader.requests.count
        // To the first of them, of 400: cells get their items in one of the next frames.
        let first = try #require((0..<400).first { ahead.contains(url($0)) })
        var atBind: (shown: Int?, cacheType: ImageCacheType?)?
        list.bindHandler = { view, name in
            guard atBind == nil, name == "\(first)" else { return }
            atBind = (list.shown(in: view), view.latestLoadState?.result?.cacheType)
        }
        await list.scroll(to: Double(first) / 400)
        #expect(await MainLoopTurns.wait { atBind != nil })
        #expect(atBind?.shown == first && atBind?.cacheType == .memory)
        #expect(!list.bench.loader.requests.dropFirst(requests).contains { ahead.contains($0) })
        list.close()
    }

    @Test func `Items added and removed during loads keep their own images`() async throws {
        let list = try await ListBench(count: 60)
        for round in 0..<10 {
            for (index, url) in list.bench.loader.waiting.enumerated() where index % 3 == round % 3 {
                list.bench.loader.end(
                    url,
                    with: .success(ListBench.picture(Int(url.lastPathComponent.dropLast(4)) ?? 0))
                )
            }
            list.replace(0..<(round % 4), by: (0..<3).map { "\(100 + round * 3 + $0)" })
            await list.window.frames(1)
            #expect(list.wrongCells == [])
        }
        #expect(await list.loadVisible())
        #expect(list.wrongCells == [])
        list.close()
    }

    @Test func `A cell shows the placeholder until its image arrives`() async throws {
        let green = try ImageCodersManager.shared.decode(ViewBench.green, options: ImageDecodeOptions())
        let list = try await ListBench(count: 4) { $0.placeholder = { _ in .image(green) } }
        let view = try #require(list.bound.keys.first)
        #expect(ViewState.existing(view)?.paintable.content?.image === green)
        list.close()
    }

    @Test func `With delayPlaceholder, too, a recycled cell does not show the previous image`() async throws {
        let list = try await ListBench { $0.options = .delayPlaceholder }
        #expect(await list.loadVisible())
        for share in [0.3, 0.6, 0.9] {
            await list.scroll(to: share)
            #expect(!list.visible.isEmpty && list.wrongCells == [])
        }
        list.close()
    }

    @Test func `When the list is released, loads are cancelled and nothing is left behind`() async throws {
        let before = ViewState.count
        let list = try await ListBench()
        for number in list.numbers { try #require(await list.bench.loader.request(of: url(number))) }
        #expect(ViewState.count > before && list.loader.cellCount > 0)
        list.close()
        #expect(await MainLoopTurns.wait { ViewState.count == before && list.loader.cellCount == 0 })
        #expect(await MainLoopTurns.wait { list.bench.loader.waiting.isEmpty })
        #expect(list.loader.prefetchedURLs.isEmpty)
    }
}
