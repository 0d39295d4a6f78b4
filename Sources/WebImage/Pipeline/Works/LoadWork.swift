import FoundationEssentials

/// Gets the bytes of a URL from a loader, when the gate has room.
final class LoadWork: Work {
    let url: URL
    let loader: any ImageLoading
    /// Only those that change what is sent; see ``WebImageOptions/affectingRequest``.
    let options: WebImageOptions
    let headers: HTTPHeaders
    let loadValues: OptionValues
    /// Only what the key tells; see ``WebImageContext/reducedForLoader``. Keeps the hooks alive whose identities are in the key.
    let context: WebImageContext?
    /// With whose rights it was asked for.
    let rights: LoadRights
    let loadKey: WorkKey.LoadKey

    init(
        url: URL,
        loader: any ImageLoading,
        options: WebImageOptions,
        headers: HTTPHeaders = HTTPHeaders(),
        loadValues: OptionValues = OptionValues(),
        context: WebImageContext? = nil,
        rights: LoadRights = .none
    ) {
        self.rights = rights
        self.url = url
        self.loader = loader
        self.options = options
        self.headers = headers
        self.loadValues = loadValues
        self.context = context?.reducedForLoader
        loadKey = WorkKey.LoadKey(
            url: url.absoluteString,
            loader: ObjectIdentifier(loader),
            options: options,
            extras: WorkKey.LoadExtras(
                headers: headers,
                loadValues: loadValues,
                hooks: LoadHooks(self.context),
                rights: rights.digest
            )
        )
    }

    var key: WorkKey { .load(loadKey) }

    /// The same, with the conditions that the bytes differ from those with these validators; conditions of the context's
    /// header fields win.
    func conditional(on validators: CacheValidators?) -> LoadWork {
        let own = ["If-None-Match", "If-Modified-Since"]
        guard let conditions = validators?.conditions, !conditions.fields.isEmpty,
            own.allSatisfy({ headers[$0] == nil })
        else { return self }
        return LoadWork(
            url: url,
            loader: loader,
            options: options,
            headers: headers.overlaid(with: conditions),
            loadValues: loadValues,
            context: context,
            rights: rights
        )
    }

    /// Whether an answer was sent for with other rights than the load was asked for with: somebody has changed the downloader's fields
    /// meanwhile, and what came is not to be found under the load's key.
    func isForOthers(_ response: HTTPResponse?) -> Bool {
        guard rights.isKnown, let sent = response?.exchange?.rights else { return false }
        return sent.digest != rights.digest
    }

    /// What the loader is asked for.
    private func request(_ priority: LoadPriority) -> ImageLoadRequest {
        ImageLoadRequest(
            url: url,
            options: options,
            priority: priority,
            additionalHeaders: headers,
            loadValues: loadValues,
            context: context
        )
    }

    /// Whether the loader serves it.
    var canStart: Bool { loader.canLoad(request(.normal)) }

    func start(_ job: WorkJob) {
        guard canStart else {
            let error = WebImageError(.invalidURL, "the loader does not serve URLs of this kind", url: url)
            return job.finish(.failure(error))
        }
        let (gate, totals) = (job.pipeline.gate, job.pipeline.totals)
        job.note(.queued(.download))
        let ticket = gate.pass(priority: job.priority) { [self] admission in
            guard !job.isCancelled else { return }
            let admission = Lock<ByteReservation?>(admission)
            var request = request(job.priority)
            request.trace = job.trace
            request.partialData = job.pipeline.partialBodies.source(for: loadKey)
            job.note(.downloadStarted)
            totals.noteDownload()
            let operation = loader.load(request) { progress in
                job.report(progress)
            } completion: { [url] result in
                totals.noteEnd(of: result)
                if case .success(let loaded) = result {
                    job.note(.downloaded(byteCount: loaded.data.count, loaded.metrics))
                }
                // The bytes are counted before the admission is given back, so that the gate does not open in between.
                let outcome = result.map { WorkOutput.loaded($0, gate.reserve($0.data.count)) }
                    .mapError { $0.with(url: url) }
                withExtendedLifetime(admission.withLock { $0.take() }) {}
                job.finish(outcome)
            }
            job.hold(
                WorkJob.Handle(
                    cancel: { operation.cancel() },
                    setPriority: { operation.setPriority($0) }
                )
            )
        }
        guard let ticket else { return }
        job.holdUnlessHolding(
            WorkJob.Handle(cancel: { ticket.cancel() }, setPriority: { ticket.setPriority($0) })
        )
    }
}

extension WebImageOptions {
    /// The options that change what a loader sends or accepts, and so which loads can be one.
    static let affectingRequest: WebImageOptions = [.handleCookies, .allowInvalidSSLCertificates]
}
