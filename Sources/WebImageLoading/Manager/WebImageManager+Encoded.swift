package import FoundationEssentials

extension WebImageManager {
    /// Loads an image and returns it as encoded bytes.
    ///
    /// Equal requests share the download, the decode and the encode, also across managers. The bytes are kept on disk, in the cache of the
    /// result, for as long as the original is fresh by the load's ``CachePolicy``; they are not decoded when they are read from there.
    ///
    /// - Parameters:
    ///   - encoding: The format and quality.
    ///   - completion: Called once, on the context's callback queue; with ``WebImageError/Code/cancelled`` after a cancel.
    /// - Returns: The running load, to cancel it: shared work goes on if others wait for it.
    @discardableResult
    package func loadEncodedImage(
        with url: URL,
        options: WebImageOptions = [],
        context: WebImageContext? = nil,
        encoding: ImageEncoding,
        completion: @escaping @Sendable (Result<EncodedImage, WebImageError>) -> Void
    ) -> WebImageLoadOperation {
        let load = resolve(url, options, context)
        return begin(url, load, as: .encoded(encoding), receiver: .encoded(completion))
    }
}

extension ManagedLoad {
    /// Starts the work that encodes the image. The callers wait for revalidation.
    func startEncoded(_ encoding: ImageEncoding) {
        var terms = originalKey == nil ? nil : manager.revalidation(url, load)
        if terms?.asksAlways == true { terms = terms?.policy == .immutable ? nil : terms?.byPolicy }
        if let error = knownMissing(terms) { return operation.end(.failure(error)) }
        let plan = plan(terms, asksDelegate: true)
        let isStill = plan.decode.options.decodeFirstFrameOnly
        let key = plan.cacheKey.map { CacheKeys.transformed($0, by: encoding.key + (isStill ? "Still" : "")) }
        let usesDisk = load.options.isDisjoint(with: [.fromLoaderOnly])
        // The same for all, whatever is in memory now: equal loads share one encode.
        let result = plan.result.with { $0.scalesVariants = manager.sizeReuse(for: load) != .none }
        let work = EncodedWork(
            plan: Boxed(
                LoadPlan.Encoded(
                    result: result,
                    encoding: Boxed(encoding),
                    cacheKey: usesDisk ? key : nil
                )
            )
        )
        operation.subscribe(to: work, priority: load.options.priority, progress: nil) { result in
            switch result {
            case .success(.encoded(let image)):
                if image.source == .none {
                    manager.noteFound(missingRequest)
                    manager.noteEnd(of: url, options: load.options, loader: plan.loader, error: nil)
                }
                operation.end(image)
            case .success:
                operation.end(.failure(WebImageError(.badImageData, "the load returned no image", url: url)))
            case .failure(let error):
                let error = error.with(url: url)
                manager.noteMissing(error, plan)
                if !error.isOfRefresh {
                    manager.noteEnd(of: url, options: load.options, loader: plan.loader, error: error)
                }
                operation.end(.failure(error))
            }
        }
    }
}
