import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageServer

/// Options of imgproxy's URLs that need more than the pixels of the source: its orientation, its bytes, its metadata, a watermark.
@Suite(.tags(.threadSanitizer, .addressSanitizer)) struct ServedOptionTests {
    private func server(
        _ fixture: String,
        change: (inout ImageServerConfiguration) -> Void = { _ in }
    ) throws -> (server: ServerUnderTest, source: String, bytes: [UInt8]) {
        let bytes = try Array(Fixtures.data(fixture))
        let grammar = try ImgproxyGrammar(ImgproxyGrammar.Configuration())
        let server = try ServerUnderTest {
            $0.grammar = grammar
            change(&$0)
        } origin: { _ in
            .response(headers: [("Cache-Control", "max-age=600")], body: bytes)
        }
        return (server, "plain/" + server.origin.url("/a").absoluteString, bytes)
    }

    private func get(_ server: ServerUnderTest, _ path: String, _ headers: [(String, String)] = []) async -> RawAnswer {
        await RawAnswer.get(server.server.port, "/_/" + path, headers)
    }

    // MARK: Orientation

    /// The files have the same stored pixels, which is the picture with the first orientation.
    @Test(arguments: 1...8)
    func `Without automatic rotation, the stored pixels are the result`(orientation: Int) async throws {
        let (server, source, _) = try server("JPEG/orientation-\(orientation).jpg")
        let stored = try Fixtures.pixels("JPEG/orientation-1.ppm")
        let answer = await get(server, "ar:0/f:png/\(source)")
        #expect(answer.status == 200)
        #expect(PixelDifference(try await Image.decode(Data(answer.body)).bitmap, stored).maximum <= 2)
        let upright = try Fixtures.pixels("JPEG/orientation-\(orientation).ppm")
        let usual = await get(server, "f:png/\(source)")
        #expect(PixelDifference(try await Image.decode(Data(usual.body)).bitmap, upright).maximum <= 2)
        // Sizes are those of the stored image.
        let small = try await Image.decode(Data(await get(server, "ar:0/rs:force:30:20/f:png/\(source)").body))
        #expect((small.pixelWidth, small.pixelHeight) == (30, 20))
    }

    // MARK: Originals

    @Test func `An original is sent unprocessed`() async throws {
        let (server, source, bytes) = try server("Options/photo.jpg")
        let raw = await get(server, "raw:1/w:10/\(source)@webp", [("Accept", "image/avif")])
        #expect(raw.status == 200 && raw.body == bytes)
        #expect(raw.headers["Content-Type"] == "image/jpeg" && raw.headers["Vary"] == nil)
        // From the disk, too.
        let again = try await server.restarted()
        #expect(await get(again, "raw:1/w:10/\(source)@webp").body == bytes)
        #expect(server.origin.requestCount() == 1)
    }

    @Test func `Listed formats are not processed, unless another is asked for`() async throws {
        let (server, source, bytes) = try server("Options/photo.jpg")
        #expect(await get(server, "skp:png:jpg/w:10/\(source)").body == bytes)
        #expect(await get(server, "skp:jpg/w:10/\(source)@jpg").body == bytes)
        for path in ["skp:png/w:10/\(source)", "skp:jpg/w:10/\(source)@png"] {
            let image = try await Image.decode(Data(await get(server, path).body))
            #expect(image.pixelWidth == 10, "\(path)")
        }
        #expect(await get(server, "skp:svg/\(source)").status == 422)
        #expect(server.origin.requestCount() == 1)
    }

    // MARK: Metadata

    private static let exiftool = "/usr/bin/exiftool"

    /// The tags that exiftool finds in each, as `GROUP:TAG` with their values.
    private func tags(_ answers: RawAnswer...) async throws -> [[String: String]] {
        let directory = TemporaryDirectory()
        let paths = answers.indices.map { directory.path("\($0)") }
        for (answer, path) in zip(answers, paths) { try Data(answer.body).write(to: URL(fileURLWithPath: path)) }
        let run = try await ProgramRun.run(Self.exiftool, ["-n", "-G1", "-s", "-a"] + paths)
        #expect(run.status == 0)
        var tags = answers.count == 1 ? [[:]] : [[String: String]]()
        for line in run.lines {
            if line.hasPrefix("======== ") { tags.append([:]) }
            let parts = line.split(separator: ":", maxSplits: 1).map(String.init)
            let words = parts[0].split { " []".contains($0) }
            guard words.count == 2, parts.count == 2 else { continue }
            tags[tags.count - 1]["\(words[0]):\(words[1])"] = String(parts[1].dropFirst())
        }
        #expect(tags.count == answers.count && tags.allSatisfy { $0["ExifTool:Warning"] == nil })
        return tags
    }

    @Test(
        .enabled(if: FileManager.default.isExecutableFile(atPath: exiftool), "exiftool is not installed"),
        arguments: ["jpg", "png", "webp"],
        ["jpg", "png", "webp"]
    )
    func `Metadata is kept, for the size and the orientation of the result`(from: String, to: String) async throws {
        let (server, source, _) = try server("Metadata/all.\(from)")
        let none = await get(server, "w:20/\(source)@\(to)")
        let all = await get(server, "sm:0/w:20/\(source)@\(to)")
        let turned = await get(server, "sm:0/ar:0/\(source)@\(to)")
        let image = try await Image.decode(Data(all.body))
        // Upright; the orientation is not applied a second time.
        #expect((image.pixelWidth, image.pixelHeight) == (20, 27))
        let found = try await tags(none, all, turned)
        #expect(["IFD0:Artist", "XMP-dc:Rights", "IPTC:Credit"].allSatisfy { found[0][$0] == nil })
        let kept = found[1]
        for (name, value) in [
            ("IFD0:Artist", "Exif Artist"), ("IFD0:Make", "Exif Make"), ("IFD0:Orientation", "1"),
            ("ExifIFD:ExifImageWidth", "20"), ("ExifIFD:ExifImageHeight", "27"), ("XMP-dc:Title", "Xmp Title"),
            ("XMP-tiff:Orientation", "1"), ("XMP-photoshop:City", "Xmp City"),
        ] {
            #expect(kept[name] == value, "\(name)")
        }
        #expect(kept["IFD1:ThumbnailOffset"] == nil)
        #expect(kept["IPTC:Caption-Abstract"] == (from == "jpg" && to == "jpg" ? "Iptc Caption" : nil))
        #expect(found[2]["IFD0:Orientation"] == "6")
    }

    @Test(
        .enabled(if: FileManager.default.isExecutableFile(atPath: exiftool), "exiftool is not installed"),
        arguments: ["jpg", "png", "webp"]
    )
    func `Only authors and rights are kept`(format: String) async throws {
        let (server, source, _) = try server("Metadata/all.jpg")
        let kept = try await tags(await get(server, "kcr:1/w:20/\(source)@\(format)"))[0]
        for (name, value) in [
            ("IFD0:Artist", "Exif Artist"), ("IFD0:Copyright", "Exif Copyright"), ("XMP-dc:Rights", "Xmp Rights"),
            ("XMP-dc:Creator", "Xmp Creator"), ("XMP-xmpRights:WebStatement", "https://example.com/rights"),
        ] {
            #expect(kept[name] == value, "\(name)")
        }
        for name in [
            "IFD0:Make", "GPS:GPSLatitude", "XMP-dc:Title", "XMP-photoshop:City", "IPTC:Caption-Abstract",
            "IFD1:ThumbnailOffset", "IFD0:Orientation",
        ] { #expect(kept[name] == nil, "\(name)") }
        if format == "jpg" {
            #expect(kept["IPTC:CopyrightNotice"] == "Iptc Copyright" && kept["IPTC:By-line"] == "Iptc Byline")
        }
    }

    @Test func `Metadata that cannot be kept is refused by name`() async throws {
        let (server, source, _) = try server("Metadata/all.jpg")
        for (path, name) in [
            ("sm:0/\(source)@avif", "strip_metadata"), ("kcr:1/\(source)@gif", "keep_copyright"),
            ("sm:0/mb:5000/\(source)@jpg", "strip_metadata"), ("scp:0/\(source)", "strip_color_profile"),
            ("eth:1/\(source)", "enforce_thumbnail"),
        ] {
            let answer = await get(server, path)
            #expect(answer.status == 422, "\(path)")
            #expect(String(decoding: answer.body, as: UTF8.self).contains(name), "\(path)")
        }
        // AVIF has no place for it here, so WebP is the best of the client's formats.
        let answer = await get(server, "sm:0/\(source)", [("Accept", "image/avif,image/webp")])
        #expect(answer.headers["Content-Type"] == "image/webp")
    }

    // MARK: Watermark

    /// A black image with a white watermark, each of one colour, so that every pixel of the result is known.
    @Test func `The server's watermark is drawn, with its opacity`() async throws {
        let mark = try await TestPictures.png(4, 2, [255, 255, 255])
        let black = try await TestPictures.png(20, 10, [0, 0, 0])
        let directory = TemporaryDirectory()
        let path = directory.path("mark.png")
        try Data(mark).write(to: URL(fileURLWithPath: path))
        let grammar = try ImgproxyGrammar(ImgproxyGrammar.Configuration())
        for (place, opacity, level) in [
            (ImageServerConfiguration.Watermark.file(path), 1.0, 128), (.data(mark), 0.5, 64),
        ] {
            let server = try ServerUnderTest {
                $0.grammar = grammar
                ($0.watermark, $0.watermarkOpacity) = (place, opacity)
            } origin: { _ in
                .response(headers: [("Cache-Control", "max-age=600")], body: black)
            }
            let source = "plain/" + server.origin.url("/a.png").absoluteString
            let answer = await get(server, "wm:0.5:soea/\(source)@png")
            let image = try await Image.decode(Data(answer.body))
            for (x, y, expected) in [(19, 9, level), (16, 8, level), (15, 9, 0), (19, 7, 0), (0, 0, 0)] {
                let red = Int(image.bitmap.premultipliedRGBA(x: x, y: y)[0])
                #expect(abs(red - expected) <= 1, "\(x), \(y)")
            }
        }
    }

    @Test func `A watermark is loaded from the web at the start, or the server does not start`() async throws {
        let mark = try await TestPictures.png(4, 2, [255, 255, 255])
        let black = try await TestPictures.png(20, 10, [0, 0, 0])
        let grammar = try ImgproxyGrammar(ImgproxyGrammar.Configuration())
        let marks = try LoopbackServer { request in request.path == "/mark.png" ? .response(body: mark) : .response(404)
        }
        @Sendable func server(_ path: String) throws -> ServerUnderTest {
            try ServerUnderTest {
                $0.grammar = grammar
                $0.watermark = .url(marks.url(path).absoluteString)
                $0.policy.allowed += [SourceRule("127.0.0.1:\(marks.port)")].compactMap { $0 }
            } origin: { _ in
                .response(body: black)
            }
        }
        let marked = try await valueOnThread { try server("/mark.png") }
        let source = "plain/" + marked.origin.url("/a.png").absoluteString
        let image = try await Image.decode(Data(await get(marked, "wm:1:nowe/\(source)@png").body))
        #expect(image.bitmap.premultipliedRGBA(x: 0, y: 0) == [255, 255, 255, 255])
        #expect(marks.requestCount() == 1)
        await #expect(throws: ServerStartError.self) { try await valueOnThread { try server("/none.png") } }
    }
}

/// Pictures of one colour.
enum TestPictures {
    static func png(_ width: Int, _ height: Int, _ color: [UInt8]) async throws -> [UInt8] {
        let image = Image(bitmap: try Bitmap.make(width, height) { _, _ in [color[2], color[1], color[0], 255] })
        return Array(try await image.encoded(as: .png))
    }
}
