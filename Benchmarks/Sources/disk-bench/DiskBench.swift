import BenchSupport
import FoundationEssentials
import WebImage

/// What a hit of the disk cache costs, and what things cost in a directory of many entries.
///
/// `disk-bench fill DIRECTORY COUNT BYTES LIST`: stores entries and writes the paths of their files into LIST, in the order
/// in which they are read later.
/// `disk-bench read DIRECTORY COUNT PASSES`: reads each entry; microseconds per hit, the median of the passes.
/// `disk-bench amend DIRECTORY COUNT PASSES`: puts other validators to each entry, and other extended data, which has the file written
/// anew; microseconds for each, the medians of the passes.
/// `disk-bench many DIRECTORY COUNT STORES LOOKUPS`: what stores (so many, or more in a big directory),
/// lookups and a trim cost among so many entries of 4 KiB.
@main struct DiskBench {
    static func main() throws {
        let arguments = CommandLine.arguments.dropFirst()
        switch (arguments.first, arguments.count) {
        case ("fill", 5):
            try fill(Array(arguments.dropFirst()))
        case ("read", 4):
            read(Array(arguments.dropFirst()))
        case ("amend", 4):
            amend(Array(arguments.dropFirst()))
        case ("many", 5):
            let numbers = arguments.dropFirst(2).compactMap { Int($0) }
            guard numbers.count == 3, let path = arguments.dropFirst().first else { Measurement.stop(usage) }
            ManyEntries(path: path, count: numbers[0]).measure(stores: numbers[1], lookups: numbers[2])
        default:
            Measurement.stop(usage)
        }
    }

    static let usage = """
        usage: disk-bench fill DIRECTORY COUNT BYTES LIST | read DIRECTORY COUNT PASSES | amend DIRECTORY COUNT PASSES
               | many DIRECTORY COUNT STORES LOOKUPS
        """

    /// Keys as a program has them, in an order that is not that of the directory.
    static func keys(_ count: Int) -> [String] {
        (0..<count).map { "https://pictures.example.com/albums/2024/05/photo-\($0 &* 7919 % count)-1600x1200.jpg" }
    }

    static func fill(_ arguments: [String]) throws {
        let cache = DiskCache(path: arguments[0])
        let keys = keys(Int(arguments[1]) ?? 0)
        let size = Int(arguments[2]) ?? 0
        var state: UInt64 = 88_172_645_463_325_252
        for key in keys {
            var data = Data(capacity: size)
            while data.count < size {
                state ^= state << 13
                state ^= state >> 7
                state ^= state << 17
                withUnsafeBytes(of: state) { data.append(contentsOf: $0) }
            }
            guard cache.store(data, forKey: key) else { Measurement.stop("storing failed: \(cache.lastError as Any)") }
        }
        let paths = keys.map { cache.cachePath(forKey: $0) }
        try Data(paths.joined(separator: "\n").utf8).write(to: URL(filePath: arguments[3]))
    }

    static func read(_ arguments: [String]) {
        let cache = DiskCache(path: arguments[0])
        let keys = keys(Int(arguments[1]) ?? 0)
        var times: [Double] = []
        for _ in 0..<(Int(arguments[2]) ?? 1) {
            let start = Measurement.now()
            for key in keys {
                guard cache.data(forKey: key) != nil else { Measurement.stop("\(key) is not there") }
            }
            times.append((Measurement.now() - start) * 1e6 / Double(keys.count))
        }
        Measurement.report("read", Measurement.median(times), "us")
    }

    static func amend(_ arguments: [String]) {
        let cache = DiskCache(path: arguments[0])
        let keys = keys(Int(arguments[1]) ?? 0)
        let validators = (0..<2).map { CacheValidators(etag: "\"5f3c-61a2b\($0)\"", lastModified: nil) }
        // Files get their slots with the first.
        for key in keys { cache.amend(extendedData: .some(nil), validators: validators[1], forKey: key) }
        let before = cache.statistics.amendCount
        var (inPlace, anew): ([Double], [Double]) = ([], [])
        let passes = Int(arguments[2]) ?? 1
        for pass in 0..<passes {
            let start = Measurement.now()
            for key in keys { cache.amend(extendedData: nil, validators: validators[pass % 2], forKey: key) }
            let middle = Measurement.now()
            for key in keys { cache.setExtendedData(Data([UInt8(pass % 2)]), forKey: key) }
            inPlace.append((middle - start) * 1e6 / Double(keys.count))
            anew.append((Measurement.now() - middle) * 1e6 / Double(keys.count))
        }
        guard cache.statistics.amendCount - before == keys.count * passes else { Measurement.stop("not in place") }
        Measurement.report("amend", Measurement.median(inPlace), "us")
        Measurement.report("anew", Measurement.median(anew), "us")
    }
}
