import CWebImageGTK4
import FoundationEssentials
import ModelTestSupport
import Testing
import WebImage

@testable import WebImageGTK

/// Lists whose parts are released while cells load.
@Suite(.tags(.addressSanitizer), .serialized, .needsDisplay) @MainActor struct ListDestructionTests {
    nonisolated enum Step: CaseIterable, Sendable { case dropFactory, dropModel, emptyModel, destroyWindow, deliver }

    nonisolated static let orders: [[Step]] = {
        let steps = Step.allCases
        return steps.indices.flatMap { start in
            let turned = Array(steps[start...] + steps[..<start])
            return [turned, turned.reversed()]
        }
    }()

    @Test(arguments: orders) func `A list's parts can be released in every order`(order: [Step]) async throws {
        let remnants = Remnants()
        let list = try await ListBench(count: 60)
        let view = UnsafeMutableRawPointer(list.view).opaque
        g_object_ref(UnsafeMutableRawPointer(view))
        remnants.watch("list", UnsafeMutableRawPointer(view))
        let urls = Set(list.numbers.map(ListBench.url))
        for url in urls { try #require(await list.bench.loader.request(of: url)) }
        for cell in list.bound.keys { remnants.watch(view: cell) }
        // All other steps remove the cells.
        let isLoaded = order.first == .deliver
        for step in order {
            switch step {
            case .dropFactory: gtk_grid_view_set_factory(view, nil)
            case .dropModel: gtk_grid_view_set_model(view, nil)
            case .emptyModel: list.replace(0..<Int(g_list_model_get_n_items(list.names)), by: [])
            case .destroyWindow: list.close()
            case .deliver:
                // A loader that is just being called is notified on the thread that calls it.
                if !isLoaded { #expect(await MainLoopTurns.wait { urls.isSubset(of: list.bench.loader.cancelled) }) }
                list.endAll()
                #expect(await MainLoopTurns.wait { list.ended.count >= urls.count })
                if isLoaded { for cell in list.bound.keys { remnants.watch(view: cell) } }
            }
            await MainLoopTurns.one()
        }
        let ended = list.ended.filter { urls.contains(ListBench.url($0.position)) }
        #expect(ended.count == urls.count && ended.allSatisfy { $0.code == (isLoaded ? nil : .cancelled) })
        #expect(urls.intersection(list.bench.loader.cancelled) == (isLoaded ? [] : urls))
        #expect(remnants.names.contains("image") == isLoaded)
        g_object_unref(UnsafeMutableRawPointer(view))
        #expect(await MainLoopTurns.wait { list.loader.cellCount == 0 })
        #expect(await MainLoopTurns.wait { list.bench.loader.waiting.isEmpty && list.loader.prefetchedURLs.isEmpty })
        await list.bench.cache.clear(.memory)
        #expect(await remnants.areGone() == [])
    }

    @Test func `A loader released before its list leaves the cells unchanged`() async throws {
        let before = ViewState.count
        let bench = try ViewBench()
        let names = try #require(gtk_string_list_new(nil))
        for number in 0..<20 { gtk_string_list_append(names, "\(number)") }
        let factory = try #require(gtk_signal_list_item_factory_new())
        var loader: ListImageLoader? = ListImageLoader { position, _ in ListBench.url(position) }
        loader?.context = bench.context
        let box = Box()
        box.loader = loader
        ObjectSignal("setup", of: UnsafeMutableRawPointer(factory)) { item in
            gtk_list_item_set_child(item.opaque, gtk_picture_new())
        }
        ObjectSignal("bind", of: UnsafeMutableRawPointer(factory)) { box.loader?.bind($0) }
        ObjectSignal("unbind", of: UnsafeMutableRawPointer(factory)) { box.loader?.unbind($0) }
        ObjectSignal("teardown", of: UnsafeMutableRawPointer(factory)) { box.loader?.teardown($0) }
        let view = try #require(gtk_list_view_new(gtk_no_selection_new(names), factory))
        let window = try await TestWindow(UnsafeMutableRawPointer(view))
        #expect((loader?.cellCount ?? 0) > 0)
        weak let gone = loader
        loader = nil
        box.loader = nil
        #expect(gone == nil)
        await window.frames()
        window.close()
        #expect(await MainLoopTurns.wait { ViewState.count == before && bench.loader.waiting.isEmpty })
    }

    @Test func `Without a teardown handler the loader detects released list items`() async throws {
        let bench = try ViewBench()
        let names = try #require(gtk_string_list_new(nil))
        for number in 0..<20 { gtk_string_list_append(names, "\(number)") }
        let factory = try #require(gtk_signal_list_item_factory_new())
        let loader = ListImageLoader { position, _ in ListBench.url(position) }
        loader.context = bench.context
        ObjectSignal("setup", of: UnsafeMutableRawPointer(factory)) { item in
            let box = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 4)
            gtk_list_item_set_child(item.opaque, box)
            gtk_box_append(UnsafeMutableRawPointer(box)?.assumingMemoryBound(to: GtkBox.self), gtk_picture_new())
            gtk_box_append(UnsafeMutableRawPointer(box)?.assumingMemoryBound(to: GtkBox.self), gtk_label_new("text"))
        }
        ObjectSignal("bind", of: UnsafeMutableRawPointer(factory)) { item in
            guard let box = gtk_list_item_get_child(item.opaque), let picture = gtk_widget_get_first_child(box) else {
                return
            }
            loader.bind(item, view: picture)
        }
        let view = try #require(gtk_list_view_new(gtk_no_selection_new(names), factory))
        let window = try await TestWindow(UnsafeMutableRawPointer(view))
        #expect(loader.cellCount > 0)
        let first = ListBench.url(0)
        try #require(await bench.loader.request(of: first))
        #expect(bench.loader.priority(of: first) == .high)
        window.close()
        #expect(await MainLoopTurns.wait { loader.cellCount == 0 && bench.loader.waiting.isEmpty })
    }

    private final class Box {
        var loader: ListImageLoader?
    }
}
