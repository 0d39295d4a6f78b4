import FoundationEssentials
import WebImage

@testable import WebImageLoading

extension ReferenceModel {
    // MARK: What loads deliver

    func noteProgress(_ progress: LoadProgress, of load: ModelLoad) {
        note(.progress, load.number, Int(progress.receivedByteCount))
        if load.finalCount > 0 { fail("load \(load.number) tells its progress after its end") }
    }

    /// A load calls its completion.
    func note(_ result: Result<WebImageResult, WebImageError>, of load: ModelLoad) {
        if load.finalCount > 0 { fail("load \(load.number) ends twice") }
        switch result {
        case .success(let result) where !result.isFinal:
            check(result, of: load)
            if !load.isRefresh || load.interim != nil { fail("load \(load.number) delivers an interim result") }
            load.interim = ModelPicture(result.image)
            note(.interim, load.number, load.interim?.version ?? -1)
        case .success(let result):
            load.finalCount += 1
            check(result, of: load)
            checkLast(result, of: load)
            note(.success, load.number, ModelPicture(result.image).version, result.cacheType.rawValue)
            end(load)
        case .failure(let error):
            load.finalCount += 1
            check(error, of: load)
            note(.failure, load.number, error.code.rawValue)
            end(load)
        }
    }

    private func check(_ result: WebImageResult, of load: ModelLoad) {
        let (spec, picture) = (load.spec, ModelPicture(result.image))
        if load.isCancelled { fail("load \(load.number) brings \(picture) after it was cancelled") }
        if load.isBlocked { fail("load \(load.number) brings \(picture) of a failed URL") }
        guard picture.url == spec.url, spec.variant.fits(picture, allowsLimit: spec.isLimited) else {
            return fail("load \(load.number) of \(spec.url) \(spec.variant) brings \(picture)")
        }
        if !load.allowed.has(picture.version) { fail("load \(load.number) brings \(picture), which was gone") }
        if result.cacheKey != ModelKeys.key(spec.url, spec.variant) { fail("the key is \(result.cacheKey)") }
        let isCached = result.cacheType != .none
        if spec.options.contains(.fromLoaderOnly), isCached { fail("load \(load.number) looked into the caches") }
        if spec.options.contains(.fromCacheOnly), !isCached { fail("load \(load.number) asked the loader") }
        if let data = result.data { check(data, with: picture, result.cacheType, of: load) }
    }

    private func check(_ data: Data, with picture: ModelPicture, _ type: ImageCacheType, of load: ModelLoad) {
        // What callers store at one level alone need not go with what is at the other.
        let byHand = held[load.spec.url].byHand
        guard let stored = ModelPicture(data) else {
            let isTheirs = type == .memory && held[load.spec.url].isBad && byHand.has(picture.version)
            if !isTheirs { fail("load \(load.number) brings bytes of no picture") }
            return
        }
        var expected = picture
        // Those of the whole picture, where a limit made it smaller on its way from disk.
        if load.spec.isLimited, (stored.width, stored.height) == load.spec.variant.size {
            (expected.width, expected.height) = load.spec.variant.size
        }
        if type == .memory, byHand.has(picture.version) { expected.version = stored.version }
        if stored != expected { fail("load \(load.number) brings \(picture) with the bytes of \(stored)") }
    }

    private func checkLast(_ result: WebImageResult, of load: ModelLoad) {
        let (url, picture) = (load.spec.url, ModelPicture(result.image))
        if let interim = load.interim {
            if interim.version == picture.version { fail("load \(load.number) brings the same twice") }
            // Or what callers have stored meanwhile.
            let isKnown = (load.answered | held[url].byHand).has(picture.version)
            if !isKnown { fail("load \(load.number) brings what the server does not have") }
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
            if load.isInMemory, looks { fail("load \(load.number) misses what is in memory") }
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

    // MARK: At rest

    /// Nothing is under way but loads from the server: every load must wait for one, and none without a load, and each is as
    /// urgent as the most urgent that waits for it.
    func checkQuiet(_ transfers: [ModelTransfer]) {
        for transfer in transfers {
            let owners = running.filter { $0.spec.url == transfer.url }
            guard let highest = owners.map(\.priority).max() else {
                return fail("a transfer goes on that nobody waits for")
            }
            if transfer.priority > highest { fail("a transfer is more urgent than its loads") }
        }
        // A narrow gate keeps loads from beginning a transfer.
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
        if !isFinished { fail("load \(load.number) goes on") }
        if load.finalCount == 0 {
            guard let interim = load.interim else { return fail("load \(load.number) has no completion") }
            if load.isCancelled { fail("load \(load.number) is not told of its cancel") }
            // Of a picture that callers stored it is not known what it was made of.
            let isKnown = !held[load.spec.url].byHand.has(interim.version)
            if isKnown, !load.answered.has(interim.version) { fail("load \(load.number) is not told of what is newer") }
        }
    }
}

extension ModelLoad {
    func had(_ trouble: ModelOperation.Trouble) -> Bool { troubles.contains(trouble.rawValue) }
}
