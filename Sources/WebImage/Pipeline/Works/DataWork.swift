import FoundationEssentials

/// Gets the original bytes of a picture: from disk if they are there, else from a loader.
final class DataWork: Work {
    let cache: any ImageCaching
    /// The original key; nil when the caches take no part.
    let cacheKey: String?
    let queriesDisk: Bool
    let storesDisk: Bool
    /// Nil when only the caches may be asked.
    let load: LoadWork?
    let dataKey: WorkKey.DataKey

    init(
        cache: any ImageCaching,
        cacheKey: String?,
        queriesDisk: Bool,
        storesDisk: Bool,
        load: LoadWork?
    ) {
        self.cache = cache
        self.cacheKey = cacheKey
        self.queriesDisk = queriesDisk
        self.storesDisk = storesDisk
        self.load = load
        dataKey = WorkKey.DataKey(
            cacheKey: cacheKey,
            cache: ObjectIdentifier(cache),
            queriesDisk: queriesDisk,
            storesDisk: storesDisk,
            load: load?.loadKey
        )
    }

    var key: WorkKey { .data(dataKey) }

    /// The same without a look at the disk, for when what is there cannot be decoded.
    var fromLoader: DataWork {
        DataWork(cache: cache, cacheKey: cacheKey, queriesDisk: false, storesDisk: storesDisk, load: load)
    }

    func start(_ job: WorkJob) {
        guard queriesDisk, let cacheKey else { return startLoad(job) }
        job.require(DiskReadWork(cache: cache, cacheKey: cacheKey)) { [self] result in
            if case .success(.diskEntry(let entry?)) = result {
                job.finish(.success(.data(OriginalData(entry: entry, source: .disk))))
            } else {
                startLoad(job)
            }
        }
    }

    private func startLoad(_ job: WorkJob) {
        guard let load else { return job.finish(.failure(.notCached())) }
        job.require(load) { [self] result in
            job.finish(
                result.map { output in
                    guard case .loaded(let loaded, let reservation) = output else { return output }
                    return .data(
                        OriginalData(
                            entry: CachedImageData(data: loaded.data),
                            source: .none,
                            loaded: loaded,
                            store: makeStore(of: loaded.data),
                            reservation: reservation
                        )
                    )
                }
            )
        }
    }

    private func makeStore(of data: Data) -> StoreOnce? {
        guard storesDisk, let cacheKey else { return nil }
        return StoreOnce { [cache] group in
            let options = ImageEncodeOptions()
            cache.store(nil, data: data, forKey: cacheKey, to: .disk, encodeOptions: options) { group.leave() }
        }
    }
}
