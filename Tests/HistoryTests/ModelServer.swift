import FoundationEssentials
import TestSupport
import WebImage

/// A server and the transfers from it: the stepper chooses which one continues.
final class ModelServer: ImageLoading, @unchecked Sendable {
    // Sendable because only the thread that steps the world uses it.

    private struct Shelf {
        var version = 0
        var trouble = ModelOperation.Trouble.none
    }

    private var shelves = [Shelf](repeating: Shelf(), count: ModelKeys.urlCount)
    private var waiting: [ModelTransfer] = []
    private var running: [ModelTransfer] = []
    /// Cancelled, and not ended yet.
    private var ending: [ModelTransfer] = []
    private let model: ReferenceModel
    private let stepper: Stepper
    private let setup: ModelSetup
    private let mutant: ModelMutant?
    private var count = 0

    init(_ setup: ModelSetup, _ model: ReferenceModel, _ stepper: Stepper, mutant: ModelMutant?) {
        self.setup = setup
        self.model = model
        self.stepper = stepper
        self.mutant = mutant
    }

    /// Transfers with waiting loads.
    var transfers: [ModelTransfer] { waiting + running }
    var isIdle: Bool { waiting.isEmpty && running.isEmpty && ending.isEmpty }

    func publish(_ url: Int, version: Int) { shelves[url].version = version }
    func setTrouble(_ url: Int, _ trouble: ModelOperation.Trouble) { shelves[url].trouble = trouble }

    // MARK: Loader

    func canLoad(_ url: URL, options: WebImageOptions) -> Bool { true }

    func shouldBlockFailedURL(_ url: URL, error: WebImageError) -> Bool {
        let blocks = error.code == .badImageData || error.code == .invalidDownloadStatusCode
        if blocks, let number = ModelKeys.number(of: url) { model.noteBlocked(number) }
        return blocks && mutant != .forgottenFailure
    }

    func load(
        _ request: ImageLoadRequest,
        progress: @escaping @Sendable (LoadProgress) -> Void,
        completion: @escaping @Sendable (Result<LoadedImageData, WebImageError>) -> Void
    ) -> any ImageLoaderOperation {
        count += 1
        let transfer = ModelTransfer(count, request, server: self, progress, completion)
        if mutant == .lostPriority { transfer.ignoresPriority = true }
        if transfers.contains(where: { $0.isSame(as: transfer) }) { model.fail("two transfers of the same") }
        waiting.append(transfer)
        model.note(.transfer, transfer.url, transfer.priority.rawValue)
        stepper.pause()
        transfer.isStarted = true
        return transfer
    }

    func cancel(_ transfer: ModelTransfer) {
        guard mutant != .lostCancel else { return }
        let isKnown = transfers.contains { $0 === transfer }
        waiting.removeAll { $0 === transfer }
        running.removeAll { $0 === transfer }
        guard isKnown else { return }
        model.note(.transferCancelled, transfer.url)
        if setup.endsLate { ending.append(transfer) } else { transfer.end(.failure(.cancelled(transfer.request.url))) }
    }

    // MARK: Steps

    var source: Stepper.Source {
        Stepper.Source(count: { [unowned self] in choiceCount }, perform: { [unowned self] in perform($0) })
    }

    private var mayBegin: Bool { !waiting.isEmpty && running.count < setup.loaderWidth }
    private var choiceCount: Int { (mayBegin ? 1 : 0) + running.count + ending.count }

    private func perform(_ choice: Int) {
        var choice = choice
        if mayBegin {
            if choice == 0 { return begin() }
            choice -= 1
        }
        if choice < running.count { return goOn(running[choice]) }
        choice -= running.count
        guard choice < ending.count else { return }
        let transfer = ending.remove(at: choice)
        // It had ended already when it was cancelled: nobody may notice it.
        let isTooLate = stepper.random.below(2) == 0
        transfer.end(isTooLate ? .success(answer(transfer).data) : .failure(.cancelled(transfer.request.url)))
    }

    private func begin() {
        let priorities = waiting.map(\.priority)
        guard let next = mutant == .priorityOrder ? priorities.min() : priorities.max(),
            let index = waiting.firstIndex(where: { $0.priority == next })
        else { return }
        let transfer = waiting.remove(at: index)
        running.append(transfer)
        model.noteBegun(transfer, waiting)
    }

    private func goOn(_ transfer: ModelTransfer) {
        if transfer.received < 3, stepper.random.below(3) > 0 { return transfer.report() }
        if mutant == .lostCompletion, transfer.number % 16 == 7 {
            running.removeAll { $0 === transfer }
            return
        }
        let (answer, data) = answer(transfer)
        let result: Result<LoadedImageData, WebImageError>
        switch answer {
        case .version: result = .success(data)
        case .notModified: result = .failure(WebImageError(.cacheNotModified, "nothing newer", statusCode: 304))
        case .trouble(.passing): result = .failure(WebImageError(.networkConnectionLost, "lost"))
        case .trouble(.gone): result = .failure(WebImageError(.invalidDownloadStatusCode, "gone", statusCode: 404))
        case .trouble: result = .success(data)
        }
        running.removeAll { $0 === transfer }
        model.noteAnswer(transfer.url, answer)
        transfer.end(result)
        // Custom loaders may break the rules.
        guard setup.isRude else { return }
        transfer.report()
        transfer.end(result)
    }

    private func answer(_ transfer: ModelTransfer) -> (answer: ReferenceModel.Answer, data: LoadedImageData) {
        let shelf = shelves[transfer.url]
        var headers = HTTPHeaders()
        headers["ETag"] = "v\(shelf.version)"
        let response = HTTPResponse(url: transfer.request.url, statusCode: 200, headers: headers)
        let image = ModelImage(url: transfer.url, version: shelf.version)
        guard shelf.trouble == .none else {
            return (
                .trouble(shelf.trouble), LoadedImageData(data: ModelImage.badData(transfer.url), response: response)
            )
        }
        let isKnown = transfer.request.additionalHeaders["If-None-Match"] == "v\(shelf.version)"
        return (
            isKnown ? .notModified(shelf.version) : .version(shelf.version),
            LoadedImageData(data: image.data, response: response)
        )
    }
}

/// A transfer that a load waits for.
final class ModelTransfer: ImageLoaderOperation, @unchecked Sendable {
    // Sendable because only the thread that steps the world uses it.
    let number: Int
    let url: Int
    let request: ImageLoadRequest
    private(set) var priority: LoadPriority
    private(set) var isCancelled = false
    private(set) var received: Int64 = 0
    var ignoresPriority = false
    /// A Boolean value that indicates whether the requesting load has its token, and can cancel it.
    var isStarted = false
    private unowned let server: ModelServer
    private let progress: @Sendable (LoadProgress) -> Void
    private let completion: @Sendable (Result<LoadedImageData, WebImageError>) -> Void

    init(
        _ number: Int,
        _ request: ImageLoadRequest,
        server: ModelServer,
        _ progress: @escaping @Sendable (LoadProgress) -> Void,
        _ completion: @escaping @Sendable (Result<LoadedImageData, WebImageError>) -> Void
    ) {
        self.number = number
        self.request = request
        self.server = server
        self.progress = progress
        self.completion = completion
        url = ModelKeys.number(of: request.url) ?? 0
        priority = request.priority
    }

    func isSame(as other: ModelTransfer) -> Bool {
        isStarted && url == other.url && request.additionalHeaders == other.request.additionalHeaders
    }

    func cancel() {
        isCancelled = true
        server.cancel(self)
    }

    func setPriority(_ priority: LoadPriority) { if !ignoresPriority { self.priority = priority } }

    func report() {
        received += 1
        progress(LoadProgress(receivedByteCount: received * 10, expectedByteCount: 40))
    }

    func end(_ result: Result<LoadedImageData, WebImageError>) { completion(result) }
}
