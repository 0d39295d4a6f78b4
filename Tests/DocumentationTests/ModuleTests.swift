import FoundationEssentials
import Testing

/// The allowed imports between the modules below `Sources`. The compiler ensures that none uses another without an
/// import.
@Suite struct ModuleTests {
    private static let formats = [
        "WebImageTIFF", "WebImageSVG", "WebImageAVIF", "WebImageHEIF", "WebImageJPEGXL", "WebImagePDF",
        "WebImageRAW", "WebImageVideo",
    ]
    /// These modules do not import each other.
    private static let middle = [
        "WebImageHTTP", "WebImageCache", "WebImageCodecs", "WebImagePlayer", "WebImageIsolation",
    ]
    private static let arrows: [String: Set<String>] = {
        var arrows: [String: Set<String>] = [
            "WebImageSupport": [],
            "WebImageModel": ["WebImageSupport"],
            "WebImageLoading": Set(middle),
            "WebImage": ["WebImageLoading"],
            "WebImageFleet": ["WebImageCache", "WebImageHTTP"],
            "WebImageGTK": ["WebImage"],
            "WebImageServer": ["WebImage", "WebImageFleet"],
            "WebImageFakes": ["WebImageModel"],
            "WebImageTestSupport": ["WebImage", "WebImageFakes"],
            "WebImageFormats": Set(formats).union(["WebImageCodecs", "WebImageIsolation"]),
            "CommandHelp": [],
            "webimage": ["WebImage", "WebImageFleet", "WebImageFormats"],
            "webimage-server": ["WebImage", "WebImageFleet", "WebImageFormats", "WebImageServer"],
            "webimage-decoder": ["WebImageCodecs", "WebImageFormats", "WebImageIsolation"],
            // poppler is GPL: nothing else may import this module.
            "WebImagePDFDecoder": ["WebImageCodecs"],
            "webimage-decoder-pdf": ["WebImageIsolation", "WebImagePDFDecoder"],
            // The same for FFmpeg's libraries.
            "WebImageVideoDecoder": ["WebImageCodecs"],
            "webimage-decoder-video": ["WebImageIsolation", "WebImageVideoDecoder"],
            "webimage-gallery": ["WebImage", "WebImageFormats", "WebImageGTK"],
        ]
        for module in middle { arrows[module] = ["WebImageModel"] }
        for format in formats { arrows[format] = ["WebImageCodecs"] }
        return arrows
    }()

    @Test func `A module imports only the allowed ones`() throws {
        var modules: Set<String> = []
        for path in try Project.files(below: "Sources", named: ".swift") {
            let module = try #require(path.split(separator: "/").dropFirst().first.map(String.init))
            let allowed = try #require(Self.arrows[module], "\(module) is not in the table")
            modules.insert(module)
            for line in try Document(path).text.split(separator: "\n") {
                let words = line.split(separator: " ")
                guard let index = words.firstIndex(of: "import"), index + 1 < words.count, index <= 2,
                    words[..<index].allSatisfy({ ["public", "package", "@_exported"].contains($0) })
                else { continue }
                let name = String(words[index + 1])
                guard name.hasPrefix("WebImage") else { continue }
                #expect(allowed.contains(name), "\(path) imports \(name)")
            }
        }
        #expect(modules == Set(Self.arrows.keys))
    }

    /// Otherwise the compiler keeps the bodies of inlinable members to the module, without a warning, and other modules
    /// call them unspecialized.
    @Test func `A package type with inlinable members is usable from inlinable code`() throws {
        var count = 0
        for path in try Project.files(below: "Sources", named: ".swift") {
            let lines = try Document(path).text.split(separator: "\n", omittingEmptySubsequences: false)
            guard lines.contains(where: { $0.contains("@inlinable") }) else { continue }
            for (index, line) in lines.enumerated()
            where line.hasPrefix("package struct ") || line.hasPrefix("package final class ")
                || line.hasPrefix("package enum ")
            {
                count += 1
                #expect(index > 0 && lines[index - 1] == "@usableFromInline", "\(path):\(index + 1)")
            }
        }
        #expect(count >= 7)
    }
}
