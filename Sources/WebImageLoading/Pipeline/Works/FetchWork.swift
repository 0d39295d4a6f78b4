import FoundationEssentials

/// Gets the bytes of a URL from a loader, subject to back-pressure.
struct FetchWork: Work {
    let plan: Boxed<LoadPlan.Fetch>

    var url: URL { plan.value.url.value }
    var loader: any ImageLoading { plan.value.loader.value }
    var headers: HTTPHeaders { plan.value.headers }

    var key: WorkKey { .fetch(plan) }

    /// Returns the work with a conditional request for bytes other than those with these validators; conditions in the context's
    /// header fields take precedence.
    func conditional(on validators: CacheValidators?) -> FetchWork {
        let own = ["If-None-Match", "If-Modified-Since"]
        guard let conditions = validators?.conditions, !conditions.fields.isEmpty,
            own.allSatisfy({ headers[$0] == nil })
        else { return self }
        return FetchWork(plan: plan.with { $0.headers = headers.overlaid(with: conditions) })
    }

    /// Returns whether the request was sent with other access rights than the load's: the downloader's fields were changed meanwhile,
    /// and the response must not be stored under the load's key.
    func isForOthers(_ response: HTTPResponse?) -> Bool {
        guard plan.value.rights.isKnown, let sent = response?.exchange?.rights else { return false }
        return sent.digest != plan.value.rights.digest
    }

    /// Returns the request to the loader.
    private func request(_ priority: LoadPriority) -> ImageLoadRequest {
        var request = ImageLoadRequest(
            url: url,
            options: plan.value.options,
            priority: priority,
            additionalHeaders: headers,
            loadValues: plan.value.loadValues,
            context: plan.value.rare.value.map { WebImageContext($0) }
        )
        request.readsParts = plan.value.readsParts
        return request
    }

    /// True if the loader handles the URL.
    var canStart: Bool { loader.canLoad(request(.normal)) }

    func start(_ job: WorkJob) {
        guard canStart else {
            let error = WebImageError(.invalidURL, "the loader does not support this kind of URL", url: url)
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
            // The bytes are reserved before the admission is released, so that the gate does not open in between.
            let outcome = result.map {
                WorkOutput.loaded($0, gate.reserve($0.byteSource?.heldByteCount ?? $0.data.count))
            }
            .mapError { $0.with(url: url) }
            withExtendedLifetime(admission?.withLock { $0.take() }) {}
            job.finish(outcome)
        }
        job.hold(operation)
    }
}

extension ImageLoading {
    /// Returns the loader that finally handles a request, its identity, and the generation of its settings.
    func source(of request: ImageLoadRequest) -> (loader: any ImageLoading, id: ObjectIdentifier, generation: Int) {
        switch self {
        case let manager as ImageLoadersManager:
            // A request without a loader may have one by the time it starts.
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
    /// The options that change what a loader sends or accepts, and so which loads can be coalesced.
    static let affectingRequest: WebImageOptions = [.handleCookies, .allowInvalidSSLCertificates]
}
