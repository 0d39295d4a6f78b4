import FoundationEssentials
import TestSupport
import WebImage

extension SteppedWorld {
    func prefetch(_ urls: [Int], _ target: WebImagePrefetcher.Target, _ priority: LoadPriority) {
        let list = ModelList(urls)
        lists.append(list)
        for url in Set(urls).sorted() {
            let item = model.begin(ModelOperation.Load(url: url, variant: .original, options: []), isPrefetch: true)
            item.priority = priority
            list.items.append(item)
        }
        list.mayMiss = urls.contains { model.held[$0].failed != .no || model.held[$0].isRefused }
        list.token = prefetcher.prefetch(
            urls.map { ModelKeys.urls[$0] },
            target: target,
            options: [],
            priority: priority
        ) { [unowned self] progress in
            list.completions.append(progress)
            model.note(.prefetched, progress.finishedCount, progress.skippedCount, progress.isCancelled ? 1 : 0)
            for item in list.items { model.end(item) }
        }
    }

    private func list(_ number: Int) -> ModelList? {
        let running = lists.filter { $0.completions.isEmpty }
        return running.isEmpty ? nil : running[running.count - 1 - number % running.count]
    }

    func cancelPrefetch(_ number: Int) {
        guard let list = list(number), list.token != nil else { return }
        list.isCancelled = true
        list.token?.cancel()
    }

    func setPrefetchPriority(_ number: Int, _ priority: LoadPriority) {
        guard let list = list(number), list.token != nil else { return }
        for item in list.items { item.priority = priority }
        list.token?.setPriority(priority)
    }
}

/// A list of the prefetcher.
final class ModelList: @unchecked Sendable {
    // Sendable because only the thread that steps the world uses it.
    let urls: [Int]
    var items: [ModelLoad] = []
    var token: WebImagePrefetchToken?
    var completions: [PrefetchProgress] = []
    var isCancelled = false
    /// The highest number of images that may be missing.
    var mayMiss = false

    init(_ urls: [Int]) { self.urls = urls }

    func checkEnd(_ model: ReferenceModel) {
        guard completions.count == 1, let end = completions.first else {
            return model.fail("a list ends \(completions.count) times")
        }
        if end.totalCount != urls.count || end.finishedCount > urls.count || end.skippedCount > end.finishedCount {
            model.fail("a list of \(urls.count) ends with \(end)")
        }
        if end.isCancelled != isCancelled { model.fail("a list ends with \(end)") }
        if !isCancelled, !end.isComplete { model.fail("a list ends before its end: \(end)") }
        if end.skippedCount > 0, !mayMiss, !model.hasRefusedOrFailed { model.fail("a list skips for no reason") }
        if token?.progress != end { model.fail("a list's token says \(String(describing: token?.progress))") }
    }
}
