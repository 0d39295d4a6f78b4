import Glibc
import ModelTestSupport
import TestSupport
import Testing

@testable import WebImageCache
@testable import WebImageSupport

/// Reports that a test makes.
private final class FakePressureSource: MemoryPressureSource {
    private let pipe: (read: Int32, write: Int32)

    init() {
        var ends: [Int32] = [-1, -1]
        _ = Glibc.pipe(&ends)
        pipe = (ends[0], ends[1])
    }

    deinit {
        close(pipe.read)
        close(pipe.write)
    }

    func send(_ level: MemoryPressureLevel) { put(level == .some ? 1 : 2) }
    func stop() { put(0) }

    func next() -> MemoryPressureLevel? {
        var byte: UInt8 = 0
        guard read(pipe.read, &byte, 1) == 1, byte != 0 else { return nil }
        return byte == 1 ? .some : .full
    }

    private func put(_ value: UInt8) {
        var byte = value
        _ = write(pipe.write, &byte, 1)
    }
}

@Suite(.tags(.threadSanitizer), .timeLimit(.minutes(10))) struct MemoryPressureTests {
    /// A cache with one image, of cost 10, that is notified of memory pressure from its first image on.
    private func makeCache(_ monitor: MemoryPressureMonitor) -> MemoryCache {
        let cache = MemoryCache(EvictionLimits(), usesWeakCache: false, pressureMonitor: monitor, leastObservedCost: 1)
        cache.setImage(.tiny(), forKey: "0", cost: 10)
        return cache
    }

    /// Sends one report and waits until it has arrived.
    private func report(_ level: MemoryPressureLevel, _ source: FakePressureSource, _ monitor: MemoryPressureMonitor)
        async
    {
        let (stream, continuation) = AsyncStream<Void>.makeStream()
        let registration = monitor.register { _ in continuation.yield() }
        source.send(level)
        var told = stream.makeAsyncIterator()
        _ = await told.next()
        withExtendedLifetime(registration) {}
    }

    @Test func `Some pressure halves the cache, full pressure empties it but remembers displayed images`() async {
        let source = FakePressureSource()
        let monitor = MemoryPressureMonitor { source }
        let cache = makeCache(monitor)
        cache.usesWeakCache = true
        let shown = Image.tiny()
        for number in 0..<10 { cache.setImage(.tiny(), forKey: "\(number)", cost: 10) }
        cache.setImage(shown, forKey: "shown", cost: 10)
        let (stream, continuation) = AsyncStream<MemoryCache.EvictionReason>.makeStream()
        cache.evictionHandler = { continuation.yield($0.reason) }
        var gone = stream.makeAsyncIterator()
        source.send(.some)
        for _ in 0..<6 { #expect(await gone.next() == .pressure) }
        #expect(cache.totalCost == 50)
        #expect(cache.image(forKey: "shown") === shown)
        source.send(.full)
        for _ in 0..<5 { #expect(await gone.next() == .pressure) }
        #expect(cache.count == 0)
        #expect(cache.image(forKey: "shown") === shown)
    }

    @Test func `A cache is notified from the first image on that makes it worth a thread`() {
        let monitor = MemoryPressureMonitor { FakePressureSource() }
        let cache = MemoryCache(
            EvictionLimits(),
            usesWeakCache: false,
            pressureMonitor: monitor,
            leastObservedCost: 100
        )
        cache.setImage(.tiny(), forKey: "a", cost: 50)
        cache.setImage(.tiny(), forKey: "b", cost: 49)
        #expect(!monitor.isListening)
        cache.setImage(.tiny(), forKey: "b", cost: 50)
        #expect(monitor.isListening)
        cache.removeAll()
        #expect(monitor.isListening, "opening costs more than waiting")
    }

    @Test func `Without listeners no thread runs`() async {
        let opened = Lock(0)
        let monitor = MemoryPressureMonitor {
            opened.withLock { $0 += 1 }
            return FakePressureSource()
        }
        #expect(!monitor.isListening && opened.withLock { $0 } == 0)
        do {
            let caches = [makeCache(monitor), makeCache(monitor)]
            #expect(monitor.isListening && opened.withLock { $0 } == 1, "one thread for all: \(caches.count)")
        }
        #expect(!monitor.isListening)
        let again = makeCache(monitor)
        #expect(monitor.isListening && opened.withLock { $0 } == 2)
        withExtendedLifetime(again) {}
    }

    @Test func `Without a source of reports it says so and starts no thread`() {
        let monitor = MemoryPressureMonitor { nil }
        #expect(monitor.isAvailable)
        let cache = makeCache(monitor)
        #expect(!monitor.isAvailable && !monitor.isListening)
        cache.setImage(.tiny(), forKey: "a")
        #expect(cache.count == 2)
    }

    @Test func `A removed listener is not notified`() async {
        let source = FakePressureSource()
        let monitor = MemoryPressureMonitor { source }
        let calls = Lock(0)
        var registration: MemoryPressureMonitor.Registration? = monitor.register { _ in calls.withLock { $0 += 1 } }
        let other = monitor.register { _ in }
        await report(.some, source, monitor)
        // Listeners are called in no order: this one may be called after the one that was waited for.
        await wait(while: calls.withLock({ $0 }) == 0)
        withExtendedLifetime(registration) {}
        registration = nil
        await report(.full, source, monitor)
        await report(.some, source, monitor)
        #expect(calls.withLock { $0 } == 1)
        withExtendedLifetime(other) {}
    }

    @Test func `A source that ends by itself is not waited for any more`() async {
        let source = FakePressureSource()
        let monitor = MemoryPressureMonitor { source }
        let cache = makeCache(monitor)
        source.stop()
        // Its thread notices within moments.
        await wait(while: monitor.isListening)
        #expect(!monitor.isAvailable)
        withExtendedLifetime(cache) {}
    }

    @Test func `A plain file, a directory and a missing file are not sources of reports`() {
        let directory = TemporaryDirectory()
        let path = directory.path("memory")
        let text = Array("some avg10=0.00 avg60=0.00 avg300=0.00 total=0\n".utf8)
        let descriptor = open(path, O_WRONLY | O_CREAT, 0o600)
        #expect(write(descriptor, text, text.count) == text.count)
        close(descriptor)
        for path in [path, directory.path, directory.path("missing")] {
            #expect(PressureStallSource.open(path: path) == nil)
        }
        #expect(SmallFile.read(path) == String(decoding: text, as: UTF8.self), "nothing was written to it")
    }

    @Test func `The kernel's file takes a trigger and can be stopped`() throws {
        // Kernels without PSI have no such file; then there is nothing to test.
        guard let source = PressureStallSource.open(path: "/proc/pressure/memory") else { return }
        source.stop()
        // The machine may really be short of memory just now.
        for _ in 0..<3 where source.next() == nil { return }
        Issue.record("the source was not stopped")
    }
}
