import CWebImageGTK4
import FoundationEssentials
import TestSupport
import Testing
import WebImage

@testable import WebImageGTK

/// The order in which a server gets the requests of a list.
@Suite(.serialized, .needsDisplay) @MainActor struct ListRequestOrderTests {
    /// Lets responses through one by one.
    private let gate = Gate()
    private let server: LoopbackServer
    private let downloader: WebImageDownloader
    private let directory = TemporaryDirectory()

    init() throws {
        let gate = gate
        server = try LoopbackServer { request in
            gate.wait()
            return .response(body: [UInt8](ListBench.picture(Int(request.path.dropFirst()) ?? 0)))
        }
        var config = WebImageDownloaderConfig()
        config.maxConcurrentDownloads = 1
        downloader = WebImageDownloader(config: config)
    }

    /// Numbers of the requested items, in order.
    private var asked: [Int] { server.requests.compactMap { Int($0.path.dropFirst()) } }

    /// Numbers of the items whose images cells wait for.
    private func awaited(_ list: ListBench) -> Set<Int> {
        Set(list.bound.filter { $0.key.latestLoadState?.isLoading == true }.compactMap { Int($0.value) })
    }

    /// Waits until all loads of cells are queued or running.
    private func isQueued(_ list: ListBench) async -> Bool {
        await MainLoopTurns.wait { downloader.currentDownloadCount == awaited(list).count }
    }

    @Test func `With one connection visible items come first, also after scrolling`() async throws {
        let manager = WebImageManager(cache: ImageCache(directory: directory.path("cache")), loader: downloader)
        let server = server
        let list = try await ListBench(
            configure: { loader in
                loader.context?.customManager = manager
                loader.prefetchCount = 0
            },
            url: { _, name in server.url("/\(name)") }
        )
        let first = list.visible
        try #require(first.count >= 8 && list.numbers.count > first.count)
        try #require(await isQueued(list))
        // The first request is sent at once, and another one after each response.
        gate.release(4)
        try #require(await MainLoopTurns.wait { asked.count == 5 })
        #expect(asked.dropFirst().allSatisfy { first.contains($0) }, "\(asked) of \(first)")

        await list.scroll(to: 0.05)
        let second = list.visible
        let come = second.subtracting(first)
        try #require(!come.isEmpty)
        try #require(await MainLoopTurns.wait { awaited(list).isSuperset(of: come) })
        try #require(await isQueued(list))
        let before = asked
        let urgent = second.intersection(awaited(list)).subtracting(before)
        gate.open()
        #expect(await MainLoopTurns.wait { awaited(list).isEmpty })
        #expect(Set(asked.dropFirst(before.count).prefix(urgent.count)) == urgent, "\(asked) after \(before)")
        // One of them may have been the very first request.
        #expect(come.subtracting(before).isSubset(of: urgent) && asked.count > before.count + urgent.count)
        list.close()
    }
}
