import FoundationEssentials
import TestSupport
import Testing
import WebImage

@testable import WebImageHTTP

/// A program with a budget, whose address space would not suffice if the budget did not hold, and that of its workers,
/// too: they decode the formats of higher risk.
@Suite struct MemoryStormTests {
    /// A worker that draws text maps more than 224 MiB, most of it code and files.
    private static let budget = 192 << 20

    /// Valid images, with their sizes.
    private static func goodImages() throws -> [(body: [UInt8], size: String)] {
        var images: [(body: [UInt8], size: String)] = []
        let names = ["JPEG/progressive.jpg", "JPEG/baseline-420.jpg", "GIF/photo.gif", "GIF/animated.gif"]
        for name in names {
            guard let data = try? Fixtures.data(name),
                let image = try? ImageCodersManager().decode(data, options: .init())
            else { continue }
            images.append(([UInt8](data), "\(image.pixelWidth)x\(image.pixelHeight)"))
        }
        let coders = ImageCodersManager.allInProcess()
        let others = [
            "AVIF/420.avif", "AVIF/alpha.avif", "HEIF/420.heic", "JPEGXL/lossless-alpha.jxl", "JPEGXL/container.jxl",
            "TIFF/rgb-8bit.tiff", "SVG/shapes.svg",
        ]
        for name in others {
            let data = try Fixtures.data(name)
            let properties = try coders.properties(of: data, limits: .init())
            images.append(([UInt8](data), "\(properties.width)x\(properties.height)"))
        }
        for (width, height) in [(1600, 1200), (300, 2000), (2400, 1800), (64, 64)] {
            images.append((PNGBomb.make(width: width, height: height), "\(width)x\(height)"))
        }
        let bitmap = try Bitmap.allocate(width: 1500, height: 1100, pixelFormat: .rgb8)
        for row in 0..<1100 {
            bitmap.mutableRow(row).initializeMemory(as: UInt8.self, repeating: UInt8(row & 255), count: 4500)
        }
        for format in [ImageFormat.jpeg, .webp] {
            let data = try ImageCodersManager().encode(Image(bitmap: bitmap), to: format, options: .init())
            images.append(([UInt8](data), "1500x1100"))
        }
        return images
    }

    @Test(.timeLimit(.minutes(5)))
    func `In a limited address space every good image arrives, and every bomb is a typed error`() throws {
        let good = try Self.goodImages()
        let bombs = try HostileImages.all()
        let gzip = PNGBomb.gzip(zeros: 64 << 20)
        #expect(good.count >= 16)
        let kinds = bombs.count + 2
        @Sendable func bomb(_ number: Int) -> Int? { number % 3 == 2 ? number / 3 % kinds : nil }
        let server = try LoopbackServer { request in
            guard let number = Int(request.path.dropFirst()) else { return .response(404) }
            switch bomb(number) {
            case nil: return .response(body: good[number % good.count].body)
            case bombs.count?: return .response(headers: [("Content-Encoding", "gzip")], body: gzip)
            case let kind? where kind < bombs.count: return .response(body: bombs[kind].body)
            default:
                return .script { _, connection in
                    connection.sendHead(200, [("Transfer-Encoding", "chunked")])
                    let chunk = [UInt8](repeating: 0xFF, count: 64 << 10)
                    while connection.sendChunk(chunk) {}
                    return false
                }
            }
        }
        let directory = TemporaryDirectory()
        let base = server.url("").absoluteString
        let run = try ProgramRun(
            "/usr/bin/prlimit",
            [
                // Threads without a stack size get as much address space as the limit of the first one's.
                "--as=\(Self.budget + 128 << 20)", "--stack=\(1 << 20)", ProgramRun.product("test-program"),
                "memory-storm", "\(Self.budget)", "500", base,
                directory.path, ProgramRun.product("webimage-decoder"),
            ],
            environment: ["no_proxy": "*"]
        )
        #expect(run.status == 0, "\(run.errors.suffix(1000))")
        var seen: [Int: [Substring]] = [:]
        for line in run.lines {
            let words = line.split(separator: " ")
            if let number = Int(words.first ?? ""), words.count == 3 { seen[number] = words }
        }
        #expect(seen.count == 500)
        for (number, words) in seen.sorted(by: { $0.key < $1.key }) {
            guard let kind = bomb(number) else {
                #expect(words[1] == "ok" && words[2] == good[number % good.count].size, "\(words)")
                continue
            }
            let expected: (Int, String?) =
                kind < bombs.count ? (bombs[kind].code, bombs[kind].limit) : (1100, "maximumResponseByteCount")
            #expect(Int(words[1]) == expected.0, "\(kind < bombs.count ? bombs[kind].name : "endless"): \(words)")
            if let limit = expected.1 { #expect(words[2] == limit, "\(words)") }
        }
        let figures = run.lines.last?.split(separator: " ").compactMap { Int($0) } ?? []
        #expect(figures.count == 4 && figures[0] <= Self.budget + 64 << 20 && figures[3] <= Self.budget, "\(figures)")
        #expect(figures.last ?? 0 > 16 << 20)
        // No worker is bigger either.
        #expect(figures.count == 4 && figures[1] > 0 && figures[1] <= Self.budget + 64 << 20, "\(figures)")
    }
}
