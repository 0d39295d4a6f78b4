// Works on a cache directory the way a program does, for tests that need a second process: one to be killed, one to
// share a directory with.
//
//   cache-hammer store DIRECTORY SEED MICROS    stores as many entries as SEED says, and goes on until SIGKILL ends it so many
//                                               microseconds later, at whatever step of a store that is
//   cache-hammer share DIRECTORY SEED KEYS      stores and reads KEYS keys in random order, checks every byte, and says how
//                                               many reads hit; exit 1 for a wrong byte or a failed store
//   cache-hammer return DIRECTORY SEED          stores 1000 entries in the namespace "ending", says "ready", and returns from
//                                               main at once, with a handler for the exit installed
//   cache-hammer signal DIRECTORY SEED          the same, but waits for a signal, with handlers for those installed
import FoundationEssentials
import Glibc
import TestSupport
import WebImageCache

func say(_ text: String) {
    var line = text + "\n"
    line.withUTF8 { _ = write(1, $0.baseAddress, $0.count) }
}

func storeUntilKilled(_ cache: DiskCache, count: Int, microseconds: Int, random: inout SeededGenerator) -> Never {
    var done = 0
    while true {
        if done == count {
            // The alarm comes to the microsecond, which no sleep and no other process does; what ends the process is kill -9.
            signal(SIGALRM) { _ in kill(getpid(), SIGKILL) }
            var timer = itimerval(it_interval: timeval(), it_value: timeval(tv_sec: 0, tv_usec: microseconds))
            setitimer(__itimer_which_t(ITIMER_REAL.rawValue), &timer, nil)
        }
        done += 1
        let number = Int.random(in: 0..<200, using: &random)
        let key = HammerPicture.key(number)
        let version = Int.random(in: 0..<1000, using: &random)
        let entry = CachedImageData(
            data: HammerPicture.bytes(number, version: version),
            extendedData: Data("extended \(version)".utf8),
            validators: HammerPicture.etag(number, version: version, count: 400).flatMap {
                CacheValidators(etag: $0, lastModified: nil)
            }
        )
        cache.store(entry, forKey: key)
        for count in 0..<number % 4 {
            let etag = HammerPicture.etag(number, version: version + count, count: 400 + count)
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

func share(_ cache: DiskCache, keys: Int, random: inout SeededGenerator) -> Int32 {
    var hits = 0
    for number in (0..<keys).shuffled(using: &random) {
        let version = Int.random(in: 0..<1000, using: &random)
        guard cache.store(HammerPicture.bytes(number, version: version), forKey: HammerPicture.key(number)) else {
            say("store failed: \(cache.lastError.map { "\($0)" } ?? "no reason")")
            return 1
        }
        let other = Int.random(in: 0..<keys, using: &random)
        for number in [number, other] {
            guard let data = cache.data(forKey: HammerPicture.key(number)) else { continue }
            hits += 1
            guard HammerPicture.isWhole(data, number: number) else {
                say("wrong bytes for \(HammerPicture.key(number))")
                return 1
            }
        }
    }
    let statistics = cache.statistics
    say("hits \(hits) damaged \(statistics.damagedCount) failed \(statistics.failedStoreCount)")
    return statistics.damagedCount + statistics.failedStoreCount == 0 ? 0 : 1
}

/// Leaves most of its work to be done when it returns.
func storeAtTheEnd(_ directory: String) {
    let cache = ImageCache(namespace: "ending", directory: directory, coder: nil)
    for number in 0..<1000 {
        let data = HammerPicture.bytes(number, version: number)
        cache.store(ImageStoreRequest(key: "\(number)", data: data), completion: nil)
    }
    say("ready")
}

let arguments = CommandLine.arguments
guard arguments.count >= 4, let seed = UInt64(arguments[3]) else { exit(64) }
var random = SeededGenerator(seed: seed)
switch arguments[1] {
case "store":
    let microseconds = arguments.count > 4 ? Int(arguments[4]) ?? 1 : 1
    storeUntilKilled(
        DiskCache(path: arguments[2]),
        count: Int(seed % 20),
        microseconds: microseconds,
        random: &random
    )
case "return":
    WebImageLifecycle.installExitHandler(within: 60)
    storeAtTheEnd(arguments[2])
case "signal":
    // What starts a test in the background may have had some of them ignored, and handlers leave those alone.
    for number in [SIGTERM, SIGINT, SIGHUP] { signal(number, SIG_DFL) }
    WebImageLifecycle.installSignalHandlers(within: 60)
    storeAtTheEnd(arguments[2])
    while true { pause() }
case "share":
    let cache = DiskCache(path: arguments[2])
    exit(share(cache, keys: arguments.count > 4 ? Int(arguments[4]) ?? 1000 : 1000, random: &random))
default: exit(64)
}
