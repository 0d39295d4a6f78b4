import FoundationEssentials
import TestSupport
import Testing
import WebImage

@testable import WebImageHTTP

/// Coders' cost estimates, compared with the memory of a decode with a counting malloc, in a separate program.
@Suite struct MemoryNeedTests {
    private struct Row: CustomStringConvertible {
        let description: String
        let need: Int
        let taken: Int

        init?(_ line: String) {
            let words = line.split(separator: " ")
            guard words.count == 6, let need = Int(words[2]), let taken = Int(words[3]) else { return nil }
            (description, self.need, self.taken) = (line, need, taken)
        }
    }

    private static func rows(_ arguments: [String]) throws -> [Row] {
        let run = try ProgramRun(ProgramRun.product("heap-program"), ["decode-memory"] + arguments)
        #expect(run.status == 0)
        #expect(run.lines.allSatisfy { Row($0) != nil }, "\(run.lines.filter { Row($0) == nil })")
        return run.lines.compactMap(Row.init)
    }

    /// A decoder's fixed tables.
    private static let tables = 1 << 20

    @Test(.timeLimit(.minutes(10)))
    func `No decode of a fixture takes more than its coder's estimate`() throws {
        let folders = [
            ("JPEG", "jpg"), ("PNG", "png"), ("GIF", "gif"), ("WebP", "webp"), ("BMP", "bmp"), ("ICO", "ico"),
            ("TIFF", "tiff"), ("SVG", "svg"), ("AVIF", "avif"), ("HEIF", "heic"), ("JPEGXL", "jxl"), ("HDR", "png"),
            ("HDR", "avif"), ("HDR", "jxl"), ("HDR", "heic"), ("RAW", "dng"),
        ]
        for (folder, suffix) in folders {
            let files = Fixtures.names(in: folder, ending: suffix).map { Fixtures.path("\(folder)/\($0).\(suffix)") }
            let rows = try Self.rows(files)
            #expect(rows.count >= 3, "\(folder)")
            for row in rows { #expect(row.taken <= row.need + Self.tables, "\(row)") }
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `Images of every depth and of many tiles take at most their estimate`() throws {
        let names = [
            "420-1536x1536.heic", "444-1536x1536.heic", "alpha-1536x1536.heic", "10bit-1536x1536.heic",
            "10bit-444-1536x1536.heic", "10bit-alpha-1536x1536.heic", "grid-2048x1536.heic", "grid-2048x1536.avif",
            "tiles-1024x1024.avif",
        ]
        let rows = try Self.rows(names.map { Fixtures.path("CodedSizes/\($0)") })
        #expect(rows.count == 7 * names.count)
        for row in rows {
            #expect(row.taken <= row.need + 64 << 10, "\(row)")
            // The number of tiles with a codec depends on the version of libavif.
            if !row.description.contains(".avif") {
                #expect(row.need <= 2 * row.taken + 2 * Self.tables, "\(row)")
            }
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `For bigger images in all formats the estimate is at most about twice the memory used`() throws {
        let rows = try Self.rows(["made"])
        #expect(rows.count >= 100)
        for row in rows {
            #expect(row.taken <= row.need + Self.tables, "\(row)")
            // No header gives libjxl's memory, nor how the alpha of lossy WebP is coded.
            let isVague = row.description.hasPrefix("jxl")
            let factor = isVague ? 8 : 2
            #expect(row.need <= factor * row.taken + 2 * Self.tables, "\(row)")
        }
    }

    #if WEBIMAGE_RAW
        @Test(.timeLimit(.minutes(10)))
        func `The development of raw data takes no more than its estimate, nor much less`() throws {
            // A mosaic, grey, and all colours of each pixel.
            let rows = try Self.rows(["developing"])
            #expect(rows.count == 9)
            // LibRaw's tables and its buffers for a part of the image, which only some sensors need.
            let buffers = 36 << 20
            for row in rows {
                #expect(row.taken <= row.need, "\(row)")
                #expect(row.need <= 2 * row.taken + buffers, "\(row)")
            }
        }
    #endif

    @Test(.timeLimit(.minutes(10)))
    func `A running animation takes no more than its estimate, including its decoder's memory`() throws {
        let rows = try Self.rows(["playing"])
        let formats = Set(rows.compactMap { $0.description.split(separator: "-").first })
        #expect(rows.count >= 40 && formats.count >= 5, "\(formats)")
        // Less than a frame: one that is not counted would show.
        for row in rows { #expect(row.taken <= row.need + 64 << 10, "\(row)") }
    }

    @Test(.timeLimit(.minutes(10)))
    func `Transforms take no more than the estimate, nor much less`() throws {
        let rows = try Self.rows(["transforming"])
        #expect(rows.count >= 180)
        for row in rows {
            // Less than an image: one that is not counted would show.
            #expect(row.taken <= row.need + 64 << 10, "\(row)")
            // A transform without effect allocates nothing, which nobody relies on. Which pixels become opaque shows
            // only then.
            if row.taken > 128 << 10 { #expect(row.need <= 4 * row.taken, "\(row)") }
        }
    }

    @Test func `False headers are charged for their claims before anything is decoded`() throws {
        let png = try PNGCoder().memoryNeed(of: Data(PNGBomb.make(width: 16_000, height: 16_000)), options: .init())
        #expect(png.outputByteCount >= 16_000 * 16_000 * 3 && png.workingByteCount < 4 << 20)
        var options = ImageDecodeOptions()
        options.thumbnailPixelSize = ImageSize(width: 100, height: 100)
        let small = try PNGCoder().memoryNeed(of: Data(PNGBomb.make(width: 16_000, height: 16_000)), options: options)
        #expect(small.totalByteCount < 4 << 20)
        #expect(throws: WebImageError.self) { try PNGCoder().memoryNeed(of: Data(), options: .init()) }
        let need = DecodeMemoryNeed(outputByteCount: .max, workingByteCount: 1)
        #expect(
            need.totalByteCount == .max
                && DecodeMemoryNeed(outputByteCount: -1, workingByteCount: 2).totalByteCount == 2
        )
    }
}
