import FoundationEssentials

/// Gets the bytes of a URL from a loader, when the gate has room.
struct FetchWork: Work {
    let plan: Boxed<LoadPlan.Fetch>

    var url: URL { plan.value.url.value }
    var loader: any ImageLoading { plan.value.loader.value }
    var headers: HTTPHeaders { plan.value.headers }

    var key: WorkKey { .fetch(plan) }

    /// The same, with the conditions that the bytes differ from those with these validators; conditions of the context's
    /// header fields win.
    func conditional(on validators: CacheValidators?) -> FetchWork {
        let own = ["If-None-Match", "If-Modified-Since"]
        guard let conditions = validators?.conditions, !conditions.fields.isEmpty,
            own.allSatisfy({ headers[$0] == nil })
        else { return self }
        return FetchWork(plan: plan.with { $0.headers = headers.overlaid(with: conditions) })
    }

    /// Whether an answer was sent for with other rights than the load was asked for with: somebody has changed the downloader's fields
    /// meanwhile, and what came is not to be found under the load's key.
    func isForOthers(_ response: HTTPResponse?) -> Bool {
        guard plan.value.rights.isKnown, let sent = response?.exchange?.rights else { return false }
        return sent.digest != plan.value.rights.digest
    }

    /// What the loader is asked for.
    private func request(_ priority: LoadPriority) -> ImageLoadRequest {
        ImageLoadRequest(
            url: url,
            options: plan.value.options,
            priority: priority,
            additionalHeaders: headers,
            loadValues: plan.value.loadValues,
            context: plan.value.rare.value.map { WebImageContext($0) }
        )
    }

    /// Whether the loader serves it.
    var canStart: Bool { loader.canLoad(request(.normal)) }

    func start(_ job: WorkJob) {
        guard canStart else {
            let error = WebImageError(.invalidURL, "the loader does not serve URLs of this kind", url: url)
            return job.finish(.failure(error))
        }
        job.note(.queued(.download))
        guard plan.value.isGated.value else { return load(job, admission: nil) }
        if let ticket = job.pipeline.gate.pass(priority: job.priority, { load(job, admission: $0) }) {
            job.hold(ticket, isOvertaken: true)
            if job.skipsGate { ticket.enter() }
        }
    }

    private func load(_ job: WorkJob, admission: ByteReservation?) {
        guard !job.isCancelled else { return }
        let (gate, totals) = (job.pipeline.gate, job.pipeline.totals)
        let admission = admission.map { Lock<ByteReservation?>($0) }
        var request = request(job.priority)
        request.trace = job.trace
        request.partialData = PartialImageData {
            job.pipeline.wantsPartialData(of: job)
        } receive: {
            job.send(.partial($0))
        }
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
            withExtendedLifetime(admission?.withLock { $0.take() }) {}
            job.finish(outcome)
        }
        job.hold(operation)
    }
}

extension ImageLoading {
    /// Who serves a request in the end, what it is told apart by, and which of its settings hold.
    func source(of request: ImageLoadRequest) -> (loader: any ImageLoading, id: ObjectIdentifier, generation: Int) {
        switch self {
        case let manager as ImageLoadersManager:
            // One that nobody serves may be served by the time it starts.
            guard let loader = manager.loader(for: request) else { return (self, ObjectIdentifier(self), 0) }
            return loader.source(of: request)
        case let downloader as WebImageDownloader:
            return (self, ObjectIdentifier(downloader.core), downloader.core.generation.value)
        case let core as DownloaderCore:
            return (self, ObjectIdentifier(core), core.generation.value)
        default:
            return (self, ObjectIdentifier(self), 0)
        }
    }
}

extension WebImageOptions {
    /// The options that change what a loader sends or accepts, and so which loads can be one.
    static let affectingRequest: WebImageOptions = [.handleCookies, .allowInvalidSSLCertificates]
}
