import Foundation
import ModelTestSupport
import TestSupport
import WebImage
import WebImageSupport

@testable import WebImageFleet
@testable import WebImageLoading

/// Machines that load images, each of which has another size, all the time, from a store and an origin.
final class FleetLoad: Sendable {
    struct Counts: Sendable {
        var loads = 0
        var errors = 0
        var wrong = 0
        var fromStore = 0
    }

    private struct State {
        var counts = Counts()
        /// The loads in the order of their ends.
        var outcomes: [(end: ContinuousClock.Instant, isHit: Bool)] = []
        var isStopped = false
    }

    private static let imageCount = 400

    private let fleet: Fleet
    private let machines: [(cache: TieredImageCache, manager: WebImageManager, store: any RemoteStore)]
    private let directory = TemporaryDirectory()
    private let state = Monitor(State())

    private let pause: Double

    /// - Parameters:
    ///   - storePorts: the port of the store for each machine.
    ///   - timeout: that of the store, in seconds.
    ///   - pause: the time between two loads of a worker, in seconds.
    init(storePorts: [Int], timeout: Double = 0.02, pause: Double = 0) throws {
        self.pause = pause
        fleet = try Fleet { request in
            let number = Int(request.path.dropFirst()) ?? 0
            return .response(headers: [("Cache-Control", "max-age=3600")], body: Self.bitmap(number))
        }
        machines = try storePorts.enumerated().map { [directory] number, port in
            let store = try RemoteImageStore(redis: "redis://127.0.0.1:\(port)", timeout: timeout)
            let local = ImageCache(namespace: String(number), directory: directory.path)
            let cache = TieredImageCache(local: local, remote: store)
            let manager = WebImageManager(cache: cache, loader: WebImageDownloader(), pipeline: Pipeline())
            return (cache, manager, store.store)
        }
    }

    var counts: Counts { state.withLock { $0.counts } }

    func stop() { state.withLock { $0.isStopped = true } }

    /// Loads images until the end is called for.
    func run(workers: Int) async {
        await withTaskGroup(of: Void.self) { group in
            for worker in 0..<workers {
                group.addTask { [self] in
                    var random = SeededGenerator(seed: UInt64(worker))
                    while !state.withLock({ $0.isStopped }) {
                        await load(Int.random(in: 0..<Self.imageCount, using: &random), worker % machines.count)
                        guard pause > 0 else { continue }
                        await awaitCompletion { _ = DelaySource.system.after(UInt64(pause * 1e9), $0) }
                    }
                }
            }
        }
    }

    private func load(_ number: Int, _ index: Int) async {
        let machine = machines[index]
        let url = fleet.origin.url("/\(number)")
        let result = try? await machine.manager.result(with: url)
        let size = Self.size(number)
        state.withLock { state in
            state.counts.loads += 1
            state.outcomes.append((.now, result?.cacheType == .disk))
            guard let result else {
                state.counts.errors += 1
                return
            }
            if result.image.pixelWidth != size.width || result.image.pixelHeight != size.height {
                state.counts.wrong += 1
            }
            if result.cacheType == .disk { state.counts.fromStore += 1 }
        }
        // Not from the store: the next load shall ask it.
        await awaitCompletion {
            machine.cache.local.removeImage(forKey: url.absoluteString, from: .all, completion: $0)
        }
    }

    /// Waits until there were that many loads, or until that time has passed.
    func reach(_ count: Int, seconds: Double) async {
        _ = await state.value(seconds: seconds) { $0.counts.loads >= count ? true : nil }
    }

    /// The share of the next loads whose images come from the store.
    func hitRatio(of count: Int) async -> Double {
        let before = counts
        await reach(before.loads + count, seconds: 30)
        let after = counts
        return Double(after.fromStore - before.fromStore) / Double(max(after.loads - before.loads, 1))
    }

    /// The seconds from `start` until the first row of that many loads begins of which that share are hits, of those that end from now on; nil if
    /// there is none for a minute. It begins where the load before it ends: how long its own loads take says how busy the machine is.
    func secondsToHits(of count: Int, ratio: Double, since start: ContinuousClock.Instant) async -> Double? {
        let next = max(counts.loads, 1)
        repeat {
            await reach(counts.loads + count / 4, seconds: 30)
            let outcomes = state.withLock { $0.outcomes }
            var hits = 0
            for index in next..<max(outcomes.count, next) {
                hits += outcomes[index].isHit ? 1 : 0
                let first = index + 1 - count
                guard first >= next else { continue }
                if Double(hits) >= ratio * Double(count) { return (outcomes[first - 1].end - start) / .seconds(1) }
                hits -= outcomes[first].isHit ? 1 : 0
            }
        } while ContinuousClock.now - start < .seconds(60)
        return nil
    }

    /// Asks the store until it answers, each machine.
    func waitForUse() async {
        for machine in machines {
            var isUsed = false
            while !isUsed {
                isUsed = await awaitCompletion { completion in
                    machine.store.read("wi1:{none}") { completion($0 != .failed) }
                }
                // A refused read ends at once.
                if !isUsed { await awaitCompletion { _ = DelaySource.system.after(5_000_000, $0) } }
            }
        }
    }

    // MARK: Images

    private static func size(_ number: Int) -> (width: Int, height: Int) { (1 + number % 20, 1 + number / 20) }

    /// An uncompressed BMP file.
    private static func bitmap(_ number: Int) -> [UInt8] {
        let (width, height) = size(number)
        let rowSize = (3 * width + 3) / 4 * 4
        func bytes(_ value: Int, _ count: Int) -> [UInt8] { (0..<count).map { UInt8(value >> (8 * $0) & 255) } }
        var file = Array("BM".utf8) + bytes(54 + rowSize * height, 4) + bytes(0, 4) + bytes(54, 4)
        file += bytes(40, 4) + bytes(width, 4) + bytes(height, 4) + bytes(1, 2) + bytes(24, 2) + bytes(0, 4)
        file += bytes(rowSize * height, 4) + bytes(0, 16)
        return file + [UInt8](repeating: UInt8(number % 256), count: rowSize * height)
    }
}
