import CWebImageGTK4
import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageGTK
@testable import webimage_gallery

/// The viewer's information about an image, and its errors; and the page about the caches.
@Suite(.tags(.addressSanitizer), .serialized, .needsDisplay) @MainActor struct GalleryFactsTests {
    /// The value after a label.
    private func fact(_ name: String, _ bench: GalleryBench) -> String? {
        let texts = bench.texts(in: bench.window.viewer.facts.widget)
        guard let index = texts.firstIndex(of: name), texts.indices.contains(index + 1) else { return nil }
        return texts[index + 1]
    }

    @Test func `An image's facts are those of its file and pixels, with how it was loaded`() async throws {
        let bench = try await GalleryBench()
        bench.show(["big.bmp"])
        let data = ViewBench.picture(1600, 1200, 1, 2, 3)
        try await bench.open(0, data)
        #expect(bench.texts(in: bench.window.viewer.facts.widget).first == "big.bmp")
        #expect(fact("Format", bench) == "BMP")
        #expect(fact("Size", bench) == "1600 × 1200 pixels")
        #expect(fact("Alpha", bench) == "no")
        #expect(fact("File size", bench) == "5.5 MiB")
        let decoded = try #require(fact("Decoded", bench))
        #expect(decoded != "1600 × 1200 pixels" && decoded.hasSuffix(" pixels"))
        #expect(fact("Load details", bench)?.contains("Delivered after") == true)
        // An image shown bigger has more pixels, and the facts say so.
        try await bench.key("1")
        #expect(await MainLoopTurns.wait { self.fact("Decoded", bench) == "1600 × 1200 pixels" })
        #expect(fact("Memory size", bench) == "5.5 MiB")
    }

    @Test func `An animation's facts have the number of frames`() async throws {
        let bench = try await GalleryBench()
        bench.show(["moving.gif"])
        try await bench.open(0, AnimatedGIF.twoFrames)
        #expect(fact("Frames", bench) == "2" && fact("Loops", bench) == "infinite")
    }

    @Test func `A failed image shows a short reason, and the next image does not show it`() async throws {
        let bench = try await GalleryBench()
        bench.show(["bad.bmp", "good.bmp"])
        try await bench.open(0, Data("no picture at all".utf8))
        #expect(bench.texts().contains { $0.hasPrefix("Cannot show this image: ") })
        #expect(fact("Error code", bench) == "1001" && fact("Reason", bench)?.isEmpty == false)
        #expect(bench.window.viewer.error?.code == .badImageData)
        try await bench.open(1, ViewBench.green)
        #expect(!bench.texts().contains { $0.hasPrefix("Cannot show this image: ") })
        #expect(bench.window.viewer.error == nil && fact("Format", bench) == "BMP")
    }

    @Test func `Very long words in an address or an error do not make anything wider than the window`() async throws {
        let bench = try await GalleryBench()
        let name = String(repeating: "w", count: 2000) + ".bmp"
        bench.show([name, "good.bmp"])
        bench.window.open(0)
        #expect(await bench.bench.loader.request(of: GalleryBench.url(name)))
        let words = String(repeating: "x", count: 5000)
        bench.bench.loader.answer(GalleryBench.url(name), with: .failure(WebImageError(.transportFailed, words)))
        #expect(await MainLoopTurns.wait { bench.window.viewer.error != nil })
        await bench.frames()
        #expect(bench.texts().allSatisfy { $0.count <= 601 })
        #expect(gtk_widget_get_width(bench.window.viewer.widget) <= 800)
    }

    @Test func `The page about the caches counts their contents, and empties them`() async throws {
        let bench = try await GalleryBench()
        bench.show(["a.bmp"])
        try await bench.open(0, ViewBench.picture(64, 64, 1, 2, 3))
        // The grid's thumbnail is being written to disk, too.
        #expect(await MainLoopTurns.wait { !bench.bench.manager.isRunning })
        await bench.bench.cache.flush()
        try await bench.key("ctrl+i")
        func value(_ name: String) -> String? {
            let texts = bench.texts(in: bench.window.cachePage.widget)
            return texts.firstIndex(of: name).map { texts[$0 + 1] }
        }
        // The original file and the derived thumbnail.
        #expect(await MainLoopTurns.wait { value("Images on disk").flatMap { Int($0) } ?? 0 >= 1 })
        let count = value("Images on disk")
        #expect(value("Images in memory") != "0" && value("Memory used") != "0 B")
        #expect(value("Directory") == bench.bench.cache.diskCachePath)
        try await bench.click(try #require(button("Clear memory", bench)))
        #expect(await MainLoopTurns.wait { value("Images in memory") == "0" && value("Memory used") == "0 B" })
        #expect(value("Images on disk") == count)
        try await bench.click(try #require(button("Clear disk", bench)))
        #expect(await MainLoopTurns.wait { value("Images on disk") == "0" && value("Disk space used") == "0 B" })
        #expect(bench.bench.cache.diskCachePath.isEmpty == false)
    }

    /// A button with this text.
    private func button(_ text: String, _ bench: GalleryBench) -> Widget? {
        func search(_ widget: Widget) -> Widget? {
            if UnsafeMutableRawPointer(widget).isA(gtk_button_get_type()), bench.texts(in: widget) == [text] {
                return widget
            }
            var child = gtk_widget_get_first_child(widget)
            while let current = child {
                if let found = search(current) { return found }
                child = gtk_widget_get_next_sibling(current)
            }
            return nil
        }
        return search(bench.window.cachePage.widget)
    }
}
