import FoundationEssentials
import Glibc
import TestSupport
import WebImage

/// Works on a cache directory the way a program does, for tests that need a second process: one to be killed, one to share a directory with.
///
///     cache-hammer store DIRECTORY SEED MICROS    stores as many entries as SEED says, and goes on until SIGKILL ends it so many
///                                                 microseconds later, at whatever step of a store that is
///     cache-hammer share DIRECTORY SEED KEYS      stores and reads KEYS keys in random order, checks every byte, and prints how
///                                                 many reads hit; exit 1 for a wrong byte or a failed store
///     cache-hammer return DIRECTORY SEED          stores 1000 entries in the namespace "ending", prints "ready", and returns from
///                                                 main at once, with a handler for the exit installed
///     cache-hammer signal DIRECTORY SEED          the same, but waits for a signal, with handlers for those installed
enum CacheHammer {
    static func run(_ arguments: [String]) throws {
        guard arguments.count >= 3, let seed = UInt64(arguments[2]) else { throw UsageError() }
        let directory = arguments[1]
        let number = arguments.count == 4 ? Int(arguments[3]) : nil
        var random = SeededGenerator(seed: seed)
        switch (arguments[0], number) {
        case ("store", let microseconds?):
            let cache = DiskCache(path: directory)
            storeUntilKilled(cache, count: Int(seed % 20), microseconds: microseconds, random: &random)
        case ("share", let keys?): exit(share(DiskCache(path: directory), keys: keys, random: &random))
        case ("return", nil):
            WebImageLifecycle.installExitHandler(within: 60)
            storeAtTheEnd(directory)
        case ("signal", nil):
            // A process that starts a test in the background may have ignored some of them, and handlers leave those
            // unchanged.
            for number in [SIGTERM, SIGINT, SIGHUP] { signal(number, SIG_DFL) }
            WebImageLifecycle.installSignalHandlers(within: 60)
            storeAtTheEnd(directory)
            while true { pause() }
        default: throw UsageError()
        }
    }

    private static func storeUntilKilled(
        _ cache: DiskCache,
        count: Int,
        microseconds: Int,
        random: inout SeededGenerator
    ) -> Never {
        var done = 0
        while true {
            if done == count {
                // The alarm is exact to the microsecond, unlike a sleep or another process; kill -9 ends the process.
                signal(SIGALRM) { _ in kill(getpid(), SIGKILL) }
                var timer = itimerval(it_interval: timeval(), it_value: timeval(tv_sec: 0, tv_usec: microseconds))
                setitimer(__itimer_which_t(ITIMER_REAL.rawValue), &timer, nil)
            }
            done += 1
            let number = Int.random(in: 0..<200, using: &random)
            let key = HammerImage.key(number)
            let version = Int.random(in: 0..<1000, using: &random)
            let entry = CachedImageData(
                data: HammerImage.bytes(number, version: version),
                extendedData: Data("extended \(version)".utf8),
                validators: HammerImage.etag(number, version: version, count: 400).flatMap {
                    CacheValidators(etag: $0, lastModified: nil)
                }
            )
            cache.store(entry, forKey: key)
            for count in 0..<number % 4 {
                let etag = HammerImage.etag(number, version: version + count, count: 400 + count)
                cache.amend(
                    extendedData: nil,
                    validators: CacheValidators(etag: etag, lastModified: nil),
                    forKey: key
                )
            }
            if number % 8 == 0 { cache.setExtendedData(Data("again \(version)".utf8), forKey: key) }
            if number % 16 == 1 { cache.removeData(forKey: key) }
        }
    }

    private static func share(_ cache: DiskCache, keys: Int, random: inout SeededGenerator) -> Int32 {
        var hits = 0
        for number in (0..<keys).shuffled(using: &random) {
            let version = Int.random(in: 0..<1000, using: &random)
            guard cache.store(HammerImage.bytes(number, version: version), forKey: HammerImage.key(number)) else {
                printLine("store failed: \(cache.lastError.map { "\($0)" } ?? "no reason")")
                return 1
            }
            let other = Int.random(in: 0..<keys, using: &random)
            for number in [number, other] {
                guard let data = cache.data(forKey: HammerImage.key(number)) else { continue }
                hits += 1
                guard HammerImage.isWhole(data, number: number) else {
                    printLine("wrong bytes for \(HammerImage.key(number))")
                    return 1
                }
            }
        }
        let statistics = cache.statistics
        printLine("hits \(hits) damaged \(statistics.damagedCount) failed \(statistics.failedStoreCount)")
        return statistics.damagedCount + statistics.failedStoreCount == 0 ? 0 : 1
    }

    /// Leaves most of its work pending when it returns.
    private static func storeAtTheEnd(_ directory: String) {
        let cache = ImageCache(namespace: "ending", directory: directory, coder: nil)
        for number in 0..<1000 {
            let data = HammerImage.bytes(number, version: number)
            cache.store(ImageStoreRequest(key: "\(number)", data: data), completion: nil)
        }
        printLine("ready")
    }
}
