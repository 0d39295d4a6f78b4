import FoundationEssentials
import Glibc
import ModelTestSupport
import TestSupport
import Testing

@testable import WebImageCodecs

@Suite(.tags(.threadSanitizer, .addressSanitizer)) struct PyramidTests {
    private let directory = TemporaryDirectory()
    private var cache: PyramidCache { PyramidCache(directory: directory.path("a/b")) }

    private func options(_ cache: PyramidCache? = nil) -> RegionOptions {
        var options = RegionOptions()
        options.tileSize = 64
        options.pyramids = cache ?? self.cache
        options.maximumWholeByteCount = 0
        return options
    }

    private func reader(_ data: Data, _ cache: PyramidCache? = nil) async throws -> ImageRegionReader {
        try await RegionBytes(data).reader(coders: ImageCodersManager(), options: options(cache))
    }

    private func names() -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: cache.directory)) ?? []).sorted()
    }

    private static func all(_ level: RegionLevel) -> ImageRect {
        ImageRect(x: 0, y: 0, width: level.width, height: level.height)
    }

    /// An image of several rows of tiles, opaque or with alpha.
    private func picture(_ width: Int, _ height: Int, alpha: Bool) throws -> Data {
        let bitmap = try Bitmap.make(width, height) { x, y in
            let opacity = alpha ? (x * 3 + y) % 256 : 255
            return [x * 5 % 256, y * 3 % 256, (x ^ y) % 256].map { UInt8($0 * opacity / 255) } + [UInt8(opacity)]
        }
        return try PNGCoder().encode(Image(bitmap: bitmap), to: .png, options: ImageEncodeOptions())
    }

    @Test(arguments: [false, true])
    func `Tiles of a lossless image have its pixels, and levels are means`(alpha: Bool) async throws {
        let data = try picture(301, 203, alpha: alpha)
        let reader = try await reader(data)
        var bitmap = try PNGCoder().decode(data, options: options().decoding).bitmap
        for (level, size) in reader.levels.enumerated() {
            #expect(try await reader.read(Self.all(size), level: level).bitmap.pixels == bitmap.pixels)
            bitmap = try bitmap.halved()
        }
        let rect = ImageRect(x: 60, y: 100, width: 9, height: 50)
        let image = try PNGCoder().decode(data, options: options().decoding)
        #expect(try await reader.read(rect, level: 0).bitmap.pixels == image.cropped(to: rect).bitmap.pixels)
    }

    @Test func `Tiles of a JPEG differ little from its pixels`() async throws {
        let data = try Fixtures.data("JPEG/progressive.jpg")
        let reader = try await reader(data)
        let image = try JPEGCoder().decode(data, options: options().decoding)
        let found = try await reader.read(Self.all(reader.levels[0]), level: 0)
        let differences = zip(found.bitmap.pixels, image.bitmap.pixels).map { abs(Int($0) - Int($1)) }
        #expect((differences.max() ?? 0) <= 24)
        #expect(Double(differences.reduce(0, +)) / Double(differences.count) < 2)
    }

    @Test func `Another reader of the same bytes uses the file`() async throws {
        let data = try picture(200, 130, alpha: false)
        let first = try await reader(data)
        let pixels = try await first.read(Self.all(first.levels[1]), level: 1).bitmap.pixels
        #expect(names().count == 1 && names()[0].hasSuffix(".pyramid"))
        let second = try await reader(data)
        #expect(try await second.read(Self.all(first.levels[1]), level: 1).bitmap.pixels == pixels)
        let mode = try #require(
            try FileManager.default.attributesOfItem(atPath: cache.directory)[.posixPermissions] as? Int
        )
        #expect(mode == 0o700)
    }

    @Test func `A reader that ends early leaves no file`() async throws {
        let data = try picture(200, 400, alpha: false)
        var reader: ImageRegionReader? = try await reader(data)
        _ = try await reader?.read(ImageRect(x: 0, y: 0, width: 10, height: 10), level: 0)
        #expect(names().count == 1)
        reader = nil
        // The thread that read still holds it for a moment.
        await wait(while: !names().isEmpty)
    }

    @Test func `A damaged file is made again`() async throws {
        let data = try picture(200, 130, alpha: false)
        let first = try await reader(data)
        let pixels = try await first.read(Self.all(first.levels[0]), level: 0).bitmap.pixels
        let path = cache.path(try #require(names().first))
        let whole = try Data(contentsOf: URL(filePath: path))
        for damaged in [
            whole.prefix(whole.count - 1), whole.prefix(10), Data(), whole.dropFirst(), Data(whole.reversed()),
        ] {
            try damaged.write(to: URL(filePath: path))
            let again = try await reader(data)
            #expect(try await again.read(Self.all(first.levels[0]), level: 0).bitmap.pixels == pixels)
        }
        var tile = whole
        tile[20] ^= 1
        try tile.write(to: URL(filePath: path))
        let damaged = try await reader(data)
        let error = await #expect(throws: WebImageError.self) {
            try await damaged.read(Self.all(first.levels[0]), level: 0)
        }
        #expect(error?.code == .badImageData)
        let again = try await reader(data)
        #expect(try await again.read(Self.all(first.levels[0]), level: 0).bitmap.pixels == pixels)
    }

    @Test func `A file that was truncated after it was opened is removed`() async throws {
        let data = try picture(200, 130, alpha: false)
        let reader = try await reader(data)
        _ = try await reader.read(Self.all(reader.levels[0]), level: 0)
        let name = try #require(names().first)
        #expect(truncate(cache.path(name), 20) == 0)
        let error = await #expect(throws: WebImageError.self) {
            try await reader.read(Self.all(reader.levels[0]), level: 0)
        }
        #expect(error?.code == .badImageData && names().isEmpty)
    }

    @Test func `Tiles of another size than the image are refused`() async throws {
        let data = try picture(301, 203, alpha: false)
        let size = RegionLevel(width: 301, height: 203)
        try cache.create()
        do {
            let index = PyramidIndex(identity: RegionBytes(data).identity(), size: size, tileSize: 64)
            let file = try PyramidFile.create(cache, index)
            let tile = try picture(1, 1, alpha: false)
            for (level, size) in index.levels.enumerated() {
                for row in 0..<(size.height + 63) / 64 {
                    for column in 0..<(size.width + 63) / 64 {
                        try file.append(tile, level: level, column: column, row: row)
                    }
                }
            }
            file.finish()
        }
        let reader = try await reader(data)
        for rect in [ImageRect(x: 100, y: 100, width: 9, height: 9), Self.all(size)] {
            let error = await #expect(throws: WebImageError.self) { try await reader.read(rect, level: 0) }
            #expect(error?.code == .badImageData)
        }
    }

    /// Creates an empty file in the directory, with a time in seconds since 1970.
    private func make(_ name: String, time: Int) throws -> Int32 {
        let file = open(cache.path(name), O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        try #require(file >= 0)
        let moment = timespec(tv_sec: time, tv_nsec: 0)
        // A file system without such times keeps another one.
        _ = futimens(file, [moment, moment])
        return file
    }

    @Test func `Files of writers that have ended are removed`() async throws {
        try cache.create()
        let now = time(nil)
        close(try make("part-abandoned", time: now - 100))
        // Stays young, however long the test takes.
        close(try make("part-young", time: now + 3600))
        let written = try make("part-written", time: now - 100)
        #expect(flock(written, LOCK_EX | LOCK_NB) == 0)
        let reader = try await reader(try picture(100, 80, alpha: false))
        _ = try await reader.read(Self.all(reader.levels[0]), level: 0)
        #expect(names().filter { $0.hasPrefix("part-") } == ["part-written", "part-young"])
        close(written)
        cache.removeAll()
        #expect(names() == ["part-young"])
    }

    @Test func `Times far from now do not matter`() async throws {
        try cache.create()
        for (name, time) in [("a.pyramid", 13_000_000_000), ("b.pyramid", -2_000_000_000), ("part-c", 13_000_000_000)] {
            close(try make(name, time: time))
        }
        let reader = try await reader(try picture(100, 80, alpha: false))
        _ = try await reader.read(Self.all(reader.levels[0]), level: 0)
        #expect(names().count == 4)
    }

    @Test func `Strips count as decoded bytes`() async throws {
        var options = options()
        options.limits.maximumDecodedByteCount = 100_000
        let data = try picture(301, 203, alpha: false)
        let error = await #expect(throws: WebImageError.self) {
            try await ImageCodersManager().regionReader(for: data, options: options)
        }
        #expect(error?.code == .limitExceeded && error?.limit?.name == "maximumDecodedByteCount")
        #expect(names().isEmpty)
    }

    @Test func `Tiles of huge images are larger than those of the reader`() {
        for (side, wanted, used) in [(30_000, 64, 64), (65_535, 64, 128), (131_072, 64, 256), (131_072, 512, 512)] {
            let size = RegionLevel(width: side, height: side)
            #expect(PyramidIndex.tileSize(wanted, for: size) == used)
        }
        let size = RegionLevel(width: 300, height: 200)
        #expect(PyramidIndex(identity: "", size: size, tileSize: 256).levels == size.pyramid(tileSize: 64))
    }

    @Test func `An image that needs more than the budget is refused`() async throws {
        let data = try picture(200, 130, alpha: true)
        let reader = try await reader(data, PyramidCache(directory: cache.directory, maximumByteCount: 5000))
        let error = await #expect(throws: WebImageError.self) {
            try await reader.read(Self.all(reader.levels[0]), level: 0)
        }
        #expect(error?.code == .limitExceeded && error?.limit?.name == "PyramidCache.maximumByteCount")
        var options = options()
        options.pyramids = nil
        options.limits.maximumDecodedByteCount = 1000
        let refused = await #expect(throws: WebImageError.self) {
            try await ImageCodersManager().regionReader(for: data, options: options)
        }
        #expect(refused?.limit?.name == "maximumDecodedByteCount")
    }

    @Test func `Files that were used least recently make room`() async throws {
        var sizes: [Int] = []
        for width in [153, 151, 152] {
            let reader = try await reader(try picture(width, 100, alpha: false))
            _ = try await reader.read(Self.all(reader.levels[0]), level: 0)
            sizes.append(names().count)
        }
        #expect(sizes == [1, 2, 3])
        let bytes = names().reduce(0) { sum, name in
            sum + ((try? Data(contentsOf: URL(filePath: cache.path(name))).count) ?? 0)
        }
        let small = PyramidCache(directory: cache.directory, maximumByteCount: bytes)
        let reader = try await reader(try picture(150, 100, alpha: false), small)
        _ = try await reader.read(Self.all(reader.levels[0]), level: 0)
        #expect(names().count == 3)
        cache.removeAll()
        #expect(names().isEmpty)
    }

    @Test func `Files that others are writing count, and are not removed`() async throws {
        try cache.create()
        let data = try picture(200, 130, alpha: true)
        _ = try await reader(data).read(Self.all(RegionLevel(width: 200, height: 130)), level: 0)
        let bytes = cache.usage.byteCount
        cache.removeAll()
        let part = try make("part-other", time: time(nil))
        #expect(flock(part, LOCK_EX | LOCK_NB) == 0 && ftruncate(part, 10_000) == 0)
        #expect(cache.usage.byteCount == 10_000)
        for (most, isRefused) in [(bytes + 9000, true), (bytes + 11_000, false)] {
            let reader = try await reader(data, PyramidCache(directory: cache.directory, maximumByteCount: most))
            let all = Self.all(reader.levels[0])
            if isRefused {
                let error = await #expect(throws: WebImageError.self) { try await reader.read(all, level: 0) }
                #expect(error?.code == .limitExceeded && error?.limit?.required ?? 0 > most)
            } else {
                _ = try await reader.read(all, level: 0)
            }
            #expect(names().contains("part-other"))
        }
        close(part)
    }

    @Test func `An index is parsed only if it is whole`() throws {
        var index = PyramidIndex(identity: "file", size: RegionLevel(width: 300, height: 200), tileSize: 64)
        index[0, column: 1, row: 2] = PyramidIndex.Entry(offset: 8, byteCount: 90, checksum: 7)
        let file = Data(count: 100) + index.encoded(at: 100)
        let trailer = file.suffix(PyramidIndex.trailerByteCount)
        let (range, checksum) = try #require(PyramidIndex.range(trailer: Data(trailer), fileByteCount: file.count))
        #expect(PyramidIndex(parsing: Data(file[range]), checksum: checksum, offset: 100) == index)
        for byte in range {
            var damaged = Data(file[range])
            damaged[byte - range.lowerBound] ^= 0x81
            #expect(PyramidIndex(parsing: damaged, checksum: checksum, offset: 100) == nil)
            // The checksum does not keep another program from writing anything.
            let own = damaged.withUnsafeBytes { Hashing.xxh3($0) }
            _ = PyramidIndex(parsing: damaged, checksum: own, offset: 100)
        }
        #expect(PyramidIndex.range(trailer: Data(trailer), fileByteCount: 40) == nil)
    }
}
