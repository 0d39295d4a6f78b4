import FoundationEssentials
import WebImage

@testable import WebImageLoading

extension ReferenceModel {
    // MARK: Deliveries

    func noteProgress(_ progress: LoadProgress, of load: ModelLoad) {
        note(.progress, load.number, Int(progress.receivedByteCount))
        if load.finalCount > 0 { fail("load \(load.number) reports progress after its end") }
    }

    /// A load calls its completion.
    func note(_ result: Result<WebImageResult, WebImageError>, of load: ModelLoad) {
        if load.finalCount > 0 { fail("load \(load.number) ends twice") }
        switch result {
        case .success(let result) where !result.isFinal:
            check(result, of: load)
            if !load.isRefresh || load.interim != nil { fail("load \(load.number) delivers an interim result") }
            load.interim = ModelImage(result.image)
            note(.interim, load.number, load.interim?.version ?? -1)
        case .success(let result):
            load.finalCount += 1
            check(result, of: load)
            checkLast(result, of: load)
            note(.success, load.number, ModelImage(result.image).version, result.cacheType.rawValue)
            end(load)
        case .failure(let error):
            load.finalCount += 1
            check(error, of: load)
            note(.failure, load.number, error.code.rawValue)
            end(load)
        }
    }

    private func check(_ result: WebImageResult, of load: ModelLoad) {
        let (spec, image) = (load.spec, ModelImage(result.image))
        if load.isCancelled { fail("load \(load.number) brings \(image) after it was cancelled") }
        if load.isBlocked { fail("load \(load.number) brings \(image) of a failed URL") }
        guard image.url == spec.url, spec.variant.fits(image, allowsLimit: spec.isLimited) else {
            return fail("load \(load.number) of \(spec.url) \(spec.variant) brings \(image)")
        }
        if !load.allowed.has(image.version) { fail("load \(load.number) brings \(image), which was gone") }
        if result.cacheKey != ModelKeys.key(spec.url, spec.variant) { fail("the key is \(result.cacheKey)") }
        let isCached = result.cacheType != .none
        if spec.options.contains(.fromLoaderOnly), isCached { fail("load \(load.number) looked into the caches") }
        if spec.options.contains(.fromCacheOnly), !isCached { fail("load \(load.number) asked the loader") }
        if let data = result.data { check(data, with: image, result.cacheType, of: load) }
    }

    private func check(_ data: Data, with image: ModelImage, _ type: ImageCacheType, of load: ModelLoad) {
        // An image stored by a caller at only one level need not match the other level.
        let byHand = held[load.spec.url].byHand
        guard let stored = ModelImage(data) else {
            let isTheirs = type == .memory && held[load.spec.url].isBad && byHand.has(image.version)
            if !isTheirs { fail("load \(load.number) delivers bytes that are not an image") }
            return
        }
        var expected = image
        // Those of the whole image, where a limit scaled it down on its way from disk.
        if load.spec.isLimited, (stored.width, stored.height) == load.spec.variant.size {
            (expected.width, expected.height) = load.spec.variant.size
        }
        if type == .memory, byHand.has(image.version) { expected.version = stored.version }
        if stored != expected { fail("load \(load.number) brings \(image) with the bytes of \(stored)") }
    }

    private func checkLast(_ result: WebImageResult, of load: ModelLoad) {
        let (url, image) = (load.spec.url, ModelImage(result.image))
        if let interim = load.interim {
            if interim.version == image.version { fail("load \(load.number) brings the same twice") }
            // Or those that callers have stored meanwhile.
            let isKnown = (load.answered | held[url].byHand).has(image.version)
            if !isKnown { fail("load \(load.number) brings an image that the server does not have") }
        }
        let isWhole = result.image.metadata.scaleDownLimitBytes == 0
        let isSettled = setup.isRoomy && isWhole && !load.isDisturbed && load.spec.store?.includesMemory != false
        if isSettled, !running.contains(where: { $0.spec.url == url && $0.isUnsettling }) {
            held[url].isInMemory[load.key] = true
        }
    }

    private func check(_ error: WebImageError, of load: ModelLoad) {
        let (spec, code) = (load.spec, error.code)
        if code == .cancelled ? !load.isCancelled && !load.mayBeCancelled : load.isCancelled {
            fail("load \(load.number) ends with \(error)")
        }
        if load.isBlocked != (code == .blacklisted) { fail("load \(load.number) ends with \(error)") }
        let isFromCache = spec.options.contains(.fromCacheOnly)
        let isAllowed: Bool
        switch code {
        case .cancelled, .blacklisted: isAllowed = true
        case .notCached:
            isAllowed = isFromCache
            let looks = spec.query?.includesMemory != false && !spec.options.contains(.fromLoaderOnly)
            if load.isInMemory, looks { fail("load \(load.number) misses an image in memory") }
        case .downloadRefused: isAllowed = load.troubles.contains(ModelLoad.refused)
        case .badImageData:
            isAllowed = load.had(.badBytes) || isFromCache && held[spec.url].isBad
        case .networkConnectionLost: isAllowed = load.had(.passing)
        case .invalidDownloadStatusCode: isAllowed = load.had(.gone)
        default: isAllowed = false
        }
        if !isAllowed { fail("load \(load.number) ends with \(error)") }
        if error.url != ModelKeys.urls[spec.url] { fail("the error of load \(load.number) names another URL") }
    }

    // MARK: Idle states

    /// Only loads from the server are running: every load must wait for one, and none is without a load, and each is as
    /// urgent as its most urgent caller.
    func checkQuiet(_ transfers: [ModelTransfer]) {
        for transfer in transfers {
            let owners = running.filter { $0.spec.url == transfer.url }
            guard let highest = owners.map(\.priority).max() else {
                return fail("a transfer continues without a subscriber")
            }
            if transfer.priority > highest { fail("a transfer is more urgent than its loads") }
        }
        // A low back-pressure limit keeps loads from starting a transfer.
        guard setup.undecodedByteLimit > 1 else { return }
        for load in running where !load.isPrefetch {
            let own = transfers.filter { $0.url == load.spec.url }
            guard let highest = own.map(\.priority).max() else { return fail("load \(load.number) waits for nothing") }
            if highest < load.priority { fail("a transfer is less urgent than load \(load.number)") }
        }
    }

    /// A load when everything has come to its end.
    func checkEnded(_ load: ModelLoad) {
        let isFinished = load.trace?.isFinished ?? true
        if !isFinished { fail("load \(load.number) continues") }
        if load.finalCount == 0 {
            guard let interim = load.interim else { return fail("load \(load.number) has no completion") }
            if load.isCancelled { fail("load \(load.number) is not notified of its cancellation") }
            // The source of an image stored by a caller is unknown.
            let isKnown = !held[load.spec.url].byHand.has(interim.version)
            if isKnown, !load.answered.has(interim.version) { fail("load \(load.number) does not get the newer image") }
        }
    }
}

extension ModelLoad {
    func had(_ trouble: ModelOperation.Trouble) -> Bool { troubles.contains(trouble.rawValue) }
}
