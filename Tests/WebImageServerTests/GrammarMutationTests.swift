import TestSupport
import Testing
import WebImage

@testable import WebImageServer

/// Random and hostile paths: no input makes a grammar trap or takes long.
@Suite struct GrammarMutationTests {
    private static let fragments = [
        "/", "//", "_", "unsafe", "plain", "http://a.test/b.jpg", "https:/a", "@png", ".webp", "@", "%3A", "%", "%4",
        "%00", ":",
        "::", "aHR0cDovL2EvYg", "=", "-", "enc", "info", "rs:fill:300:200:1:1:no:1:2", "s:1:2", "g:fp:0.5:0.5", "g:sm",
        "c:0.5:0.5:nowe:1:1", "t:10:fff:1:1", "pd:1:2:3:4", "wm:0.5:re:1:1:0.1", "bg:1:2:3", "exp:99999999999", "q:80",
        "fq:jpg:1:png:2", "pr:a:b", "pr:default", "f:webp", "fn:YQ:1", "msr:1", "-9223372036854775808", "1e309", "nan",
        "99999999999999999999", "\u{e9}", "\u{1F600}", "?", "#", "300x200", "-300x-200", "10x10:20x20", "fit-in",
        "adaptive-full-fit-in", "trim:bottom-right:30", "left", "top", "smart", "meta", "filters:", "blur(7,2)",
        "quality(40)",
        "watermark(http://a/b.png,-10,10p,50,20,none)", "fill(red,1)", "focal(1x2:3x4)", "):", ")/", "(", ")", "'", ",",
    ]

    private static func path(_ generator: inout SeededGenerator) -> String {
        var bytes: [UInt8] = []
        for _ in 0..<Int.random(in: 1...12, using: &generator) {
            bytes += fragments.randomElement(using: &generator)!.utf8
            if Bool.random(using: &generator) { bytes.append(UInt8(ascii: "/")) }
        }
        for _ in 0..<Int.random(in: 0...3, using: &generator) where !bytes.isEmpty {
            let index = Int.random(in: 0..<bytes.count, using: &generator)
            switch Int.random(in: 0...2, using: &generator) {
            case 0: bytes[index] = UInt8.random(in: 0...255, using: &generator)
            case 1: bytes.remove(at: index)
            default: bytes.insert(bytes[index], at: index)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func grammars() throws -> [any URLGrammar] {
        var imgproxy = ImgproxyGrammar.Configuration()
        imgproxy.presets = ["default=q:70", "a=w:1/pr:b", "b=h:2/pr:a"]
        imgproxy.allowsLimits = true
        var others = imgproxy
        others.onlyPresets = true
        others.base64IncludesFilename = true
        others.allowedSources = ["http://*.test/*/"]
        others.replacements = [URLReplacement(pattern: "*:/*/", replacement: "${2}${1}")]
        others.keys = [SignatureKey(key: [1], salt: [2])]
        others.trustedSignatures = ["_"]
        var thumbor = ThumborGrammar.Configuration()
        thumbor.allowsUnsafe = true
        thumbor.keys = [[1]]
        return [try ImgproxyGrammar(imgproxy), try ImgproxyGrammar(others), ThumborGrammar(thumbor)]
    }

    @Test func `No path traps, and errors name a status`() throws {
        let grammars = try Self.grammars()
        var generator = SeededGenerator(seed: 32)
        var accepted = 0
        for _ in 0..<TestEffort.rounds(100_000) {
            var path = Self.path(&generator)
            if Bool.random(using: &generator) { path = (Bool.random(using: &generator) ? "/_/" : "/unsafe/") + path }
            for grammar in grammars {
                do throws(ServerError) {
                    let request = try grammar.request(forPath: path, defaults: VariantOptions(), now: 1_700_000_000)
                    accepted += 1
                    let hasControls = request.source.utf8.contains { $0 < 0x20 || $0 == 0x7F }
                    if hasControls || request.source.isEmpty || !request.options.dpr.isFinite {
                        Issue.record("\(path)")
                    }
                } catch {
                    if ![400, 403, 404, 422].contains(error.status)
                        || error.message.utf8.contains(where: { $0 < 0x20 || $0 > 0x7E })
                    {
                        Issue.record("\(path): \(error)")
                    }
                }
            }
        }
        #expect(accepted > TestEffort.rounds(10_000))
    }

    @Test func `A text is found where it begins first, also after beginnings of it`() {
        var generator = SeededGenerator(seed: 34)
        func bytes(_ counts: ClosedRange<Int>) -> [UInt8] {
            (0..<Int.random(in: counts, using: &generator)).map { _ in UInt8.random(in: 0...1, using: &generator) }
        }
        for _ in 0..<1000 {
            let (text, bytes) = (bytes(0...4), bytes(0...20)[...].dropFirst(2))
            let wanted = bytes.indices.first { !text.isEmpty && bytes[$0...].starts(with: text) }
            #expect(URLBytes.firstIndex(of: text, in: bytes) == wanted)
        }
    }

    @Test func `A path written from options is read as the same options`() throws {
        let grammar = try ImgproxyGrammar(ImgproxyGrammar.Configuration())
        var generator = SeededGenerator(seed: 33)
        for _ in 0..<TestEffort.rounds(5_000) {
            var options = VariantOptions()
            var parts: [String] = []
            func add(_ part: String, _ change: (inout VariantOptions) -> Void) {
                guard Bool.random(using: &generator) else { return }
                parts.append(part)
                change(&options)
            }
            let (width, height) = (
                Int.random(in: 1...9999, using: &generator), Int.random(in: 1...9999, using: &generator)
            )
            let type = [VariantResizingType.fit, .fill, .fillDown, .force, .auto].randomElement(using: &generator)!
            let number = Double(Int.random(in: 1...400, using: &generator)) / 100
            let kind = VariantGravity.Kind.allCases.filter { $0 != .focusPoint }.randomElement(using: &generator)!
            let format = ImgproxyOption.formats.sorted { $0.key < $1.key }.randomElement(using: &generator)!
            add("rs:\(type.rawValue):\(width):\(height)") {
                ($0.resizingType, $0.width, $0.height) = (type, .pixels(width), .pixels(height))
            }
            add("dpr:\(number)") { $0.dpr = number }
            add("g:\(kind.rawValue)") { $0.gravity = VariantGravity(kind) }
            add("bl:\(number)") { $0.blur = number }
            add("pix:\(width)") { $0.pixelate = width }
            add("f:\(format.key)") { $0.format = format.value }
            add("q:\(width % 101)") { $0.quality = width % 101 }
            add("cb:\(height)") { $0.cacheBuster = "\(height)" }
            parts.shuffle(using: &generator)
            let source = "https://a.test/\(width)/\(height).jpg"
            let isPlain = Bool.random(using: &generator)
            parts += isPlain ? ["plain", source] : [ImgproxyRequests.base64(source)]
            let request = try grammar.request(forPath: "/_/" + parts.joined(separator: "/"))
            #expect(request == VariantRequest(source: source, options: options))
        }
    }

    /// A quadratic step would take minutes with these.
    @Test func `Long paths take linear time`() throws {
        let grammars = try Self.grammars()
        let filling = [
            "/", ":", "w:1/", "pr:a/", "%3A", "plain/", "a", "=", ".", "@", "%41", "x", "):", "()", "filters:",
            "quality(1):", ",",
            "'", "\u{e9}", "1x", "-", "http:/", "left/",
        ]
        for fill in TestEffort.some(of: filling) {
            let text = String(repeating: fill, count: 65_000 / fill.utf8.count)
            for start in ["/_/", "/_/plain/"] {
                for grammar in grammars.prefix(2) { _ = try? grammar.request(forPath: start + text + "/YQ") }
            }
            for start in ["/unsafe/", "/unsafe/filters:blur("] {
                _ = try? grammars[2].request(forPath: start + text + ")/a")
            }
        }
        let error = #expect(throws: ServerError.self) {
            try grammars[0].request(forPath: "/_/" + String(repeating: "a", count: 70_000))
        }
        #expect(error?.status == 414)
    }
}
