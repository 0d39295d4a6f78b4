import CWebImageGTK4
import FoundationEssentials
import ModelTestSupport
import Testing
import WebImage

@testable import WebImageGTK

/// Callbacks of cells in a list, and the sizes of cells and images.
@Suite(.tags(.addressSanitizer), .serialized, .needsDisplay) @MainActor struct ListCellTests {
    private func naturalSize(_ view: UnsafeMutableRawPointer) -> [gint] {
        [GTK_ORIENTATION_HORIZONTAL, GTK_ORIENTATION_VERTICAL].map { orientation in
            var natural: gint = 0
            gtk_widget_measure(view.widget, orientation, -1, nil, &natural, nil, nil)
            return natural
        }
    }

    /// Ends loads until all cells on the screen have had their result.
    private func load(_ list: ListBench, _ data: Data) async -> Bool {
        await MainLoopTurns.wait {
            for url in list.bench.loader.waiting { list.bench.loader.end(url, with: .success(data)) }
            return list.bound.keys.filter { list.isMapped($0) }.allSatisfy { $0.latestLoadState?.isLoading == false }
        }
    }

    @Test(arguments: [true, false]) func `A cell keeps its size, unless the loader is configured otherwise`(keeps: Bool)
        async throws
    {
        let list = try await ListBench(.list, count: 1) { loader in
            #expect(loader.keepsCellSize, "by default")
            loader.keepsCellSize = keeps
        }
        let view = try #require(list.bound.keys.first)
        #expect(naturalSize(view) == [40, 30])
        #expect(await load(list, ViewBench.picture(600, 200, 255, 0, 0)))
        #expect(view.latestLoadState?.result != nil)
        #expect(naturalSize(view) == (keeps ? [40, 30] : [600, 200]))
        list.close()
    }

    /// Makes a list wider, has its cells get other items and these their images, and returns both widths.
    private func widths(_ list: ListBench, _ window: Int, at share: Double) async throws -> (cell: Int, picture: Int) {
        gtk_widget_set_size_request(list.window.window, gint(window), 120)
        _ = await MainLoopTurns.wait { gtk_widget_get_width(list.view) == gint(window) }
        // Cells know their size once they have been drawn, and keep it for other items.
        await list.scroll(to: 0.95)
        await list.scroll(to: share)
        #expect(await load(list, ViewBench.picture(400, 300, 255, 0, 0)))
        let views = list.bound.keys.filter { list.isMapped($0) }
        let cells = Set(views.map { Int(gtk_widget_get_width($0.widget)) })
        let pictures = Set(views.compactMap { $0.latestLoadState?.result?.image.pixelWidth })
        #expect(cells.count == 1 && pictures.count == 1, "\(cells) \(pictures)")
        return (try #require(cells.first), try #require(pictures.first))
    }

    @Test func `Cells whose sizes differ by a pixel share their image size`() async throws {
        // Of four columns.
        let list = try await ListBench(width: 300, fillsCells: true)
        let first = try await widths(list, 300, at: 0.3)
        let second = try await widths(list, 304, at: 0.6)
        #expect(second.cell == first.cell + 1)
        #expect(first.picture == first.cell && second.picture == first.picture)
        list.close()
    }

    @Test(arguments: ListBench.Kind.allCases)
    func `An item without a URL shows the placeholder, is reported as such, and starts no load`(
        kind: ListBench.Kind
    ) async throws {
        let green = try ImageCodersManager.shared.decode(ViewBench.green, options: ImageDecodeOptions())
        let list = try await ListBench(
            kind,
            configure: { $0.placeholder = { _ in .image(green) } },
            url: { position, name in position % 2 == 0 ? ViewBench.url("\(name).bmp") : nil }
        )
        await list.scroll(to: 0.2)
        #expect(await load(list, ViewBench.red))
        let odd = list.bound.filter { (Int($0.value) ?? 0) % 2 == 1 }
        #expect(!odd.isEmpty)
        for (view, name) in odd {
            #expect(ViewState.existing(view)?.paintable.content?.image === green, "\(name)")
            #expect(list.ended.contains { "\($0.position)" == name && $0.code == .invalidURL }, "\(name)")
        }
        #expect(list.ended.allSatisfy { ($0.code == .invalidURL) == ($0.position % 2 == 1) })
        let asked = list.bench.loader.requests.compactMap { Int($0.lastPathComponent.dropLast(4)) }
        #expect(!asked.isEmpty && asked.allSatisfy { $0 % 2 == 0 })
        list.close()
    }
}
