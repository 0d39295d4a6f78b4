import FoundationEssentials
import TestSupport
import WebImage

extension SteppedWorld {
    /// Executes operations on the cache itself.
    func performOnCache(_ operation: ModelOperation) {
        switch operation {
        case .remove(let url, let variant, let type):
            model.noteRemoved(url, variant, type)
            cache.removeImage(forKey: ModelKeys.key(url, variant), from: type, completion: expectCall())
        case .removeAndWait(let url, let variant):
            // Before the call, in the middle of which other things happen.
            model.noteRemoved(url, variant, .disk)
            cache.removeImageFromDisk(forKey: ModelKeys.key(url, variant))
        case .clear(let type):
            model.noteCleared(type)
            cache.clear(type, completion: expectCall())
        case .memoryWarning:
            cache.didReceiveMemoryWarning()
            model.noteMemoryShort()
        case .limits(let cost, let count, let disk): setLimits(cost, count, disk)
        case .trim:
            cache.removeExpiredData(callbackQueue: .inline) { [completion = expectCall()] _ in completion() }
        case .store(let url, let variant, let type, let withData): store(url, variant, type, withData)
        case .storeBytes(let url, let isBad, let waits): storeBytes(url, isBad, waits)
        case .query(let url, let variant, let options, let cancels): query(url, variant, options, cancels)
        case .contains(let url, let variant, let type): contains(url, variant, type)
        default: break
        }
    }

    private func setLimits(_ cost: Int, _ count: Int, _ disk: Int) {
        guard !setup.isRoomy else { return }
        var config = cache.config
        (config.maxMemoryCost, config.maxMemoryCount, config.maxDiskSize) = (cost, count, disk)
        cache.config = config
    }

    private func store(_ url: Int, _ variant: ModelVariant, _ type: ImageCacheType, _ withData: Bool) {
        let picture = variant.picture(url: url, version: model.newVersion(url))
        guard let image = try? picture.image() else { return model.fail("no memory") }
        model.noteStored(url, variant, picture.version, type)
        var request = ImageStoreRequest(
            key: ModelKeys.key(url, variant),
            image: image,
            data: withData ? picture.data : nil
        )
        request.cacheType = type
        request.coder = coder
        cache.store(request, completion: expectCall())
        guard withData, type.includesDisk, setup.isRoomy else { return }
        if cache.diskData(forKey: request.key) != picture.data { model.fail("a stored image is not found at once") }
    }

    private func storeBytes(_ url: Int, _ isBad: Bool, _ waits: Bool) {
        let picture = ModelImage(url: url, version: model.newVersion(url))
        model.held[url].isOnDisk[0] = nil
        if isBad { model.held[url].isBad = true } else { model.noteStored(url, .original, picture.version, .disk) }
        let data = isBad ? ModelImage.badData(url) : picture.data
        let key = ModelKeys.key(url, .original)
        if waits { return cache.storeDataToDisk(data, forKey: key) }
        var request = ImageStoreRequest(key: key, data: data)
        request.cacheType = .disk
        cache.store(request, completion: expectCall())
    }

    private func query(_ url: Int, _ variant: ModelVariant, _ options: WebImageOptions, _ cancels: Bool) {
        // A disk entry gets into memory.
        model.held[url].queryCounts[variant.number] += 1
        model.held[url].queryCount += 1
        model.spread(url)
        let completion = expectCall()
        let token = cache.queryImage(
            forKey: ModelKeys.key(url, variant),
            options: options,
            context: context { _ in }
        ) { [unowned self] result in
            completion()
            model.held[url].queryCounts[variant.number] -= 1
            model.held[url].queryCount -= 1
            guard let image = result.image else { return }
            let picture = ModelImage(image)
            model.note(.found, picture.url, picture.version)
            guard picture.url == url, variant.fits(picture, allowsLimit: true) else {
                return model.fail("a query of \(url) \(variant) finds \(picture)")
            }
            guard let data = result.data, let stored = ModelImage(data) else { return }
            // An image stored by a caller at only one level need not match the other level, nor bytes that were kept.
            let isTheirs = setup.keepsExisting || [picture, stored].contains { model.held[url].byHand.has($0.version) }
            if stored.url != url || stored.version != picture.version && !isTheirs {
                model.fail("a query of \(url) finds \(picture) with the bytes of \(stored)")
            }
        }
        queries.append(ModelQuery(token: token))
        if cancels { token.cancel() }
    }

    private func contains(_ url: Int, _ variant: ModelVariant, _ type: ImageCacheType) {
        let completion = expectCall()
        let isThere = model.held[url].isInMemory[variant.number] && type.includesMemory
        let key = ModelKeys.key(url, variant)
        if isThere, cache.memoryImage(forKey: key) == nil { model.fail("\(key) is not in memory") }
        cache.containsImage(forKey: key, in: type) { [unowned model] found in
            completion()
            model.note(.found, url, found.rawValue)
            if found != .none, !type.includesMemory && found == .memory || !type.includesDisk && found == .disk {
                model.fail("found in \(found), looked in \(type)")
            }
        }
    }
}
