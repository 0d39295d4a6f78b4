/// Sends requests and follows redirects.
extension DownloadTransfer {
    /// Sends a request; if a part of the body is there, only for the rest.
    func send(_ request: DownloadRequest) {
        // A modifier, a redirect handler or the server may have chosen the URL.
        if let refusal = core.refusal(of: request.url, by: plan.config) { return end(.failure(refusal)) }
        var transferRequest = HTTPTransferRequest(request, config: plan.config.value)
        do throws(WebImageError) {
            try chain.bound(&transferRequest)
            if attempt > 1 || chain.count > 0 {
                try plan.bound(&transferRequest, at: core.clock.monotonicNanoseconds())
            }
        } catch {
            return end(.failure(error))
        }
        let number = life.withLock { life -> Int? in
            if case .over = life.stage { return nil }
            life.requestCount += 1
            life.keeping.note(request, store: plan.store(for: request))
            return life.requestCount
        }
        guard let number else { return }
        if number == 1, plan.hooks.requestModifier != nil, let refusal = core.refusal(of: request.url, by: record) {
            return end(.failure(refusal))
        }
        self.request = request
        outcome = HostReport.Outcome()
        hasToldHost = false
        requestTime = core.clock.wallTime()
        beginBody()
        part?.apply(to: &transferRequest)
        if number == 1 {
            core.note(request, of: record)
            showPart()
        }
        let running = core.transport.start(transferRequest, sink: self)
        let isOver = life.withLock { life -> Bool in
            if case .over = life.stage { return true }
            // The transport may have continued with a redirect in the meantime.
            if life.requestCount == number, !life.stage.isDecrypting { life.stage = .running(running) }
            return false
        }
        if isOver { running.cancel() }
    }

    /// Returns the error that ends a redirect response; nil to deliver the redirect as the response.
    func redirect(_ response: HTTPResponse, _ request: DownloadRequest) -> WebImageError? {
        let config = plan.config.value
        do throws(WebImageError) {
            let proposed = try RedirectRules.next(after: response, to: request, count: chain.count, config: config)
            switch plan.hooks.redirectHandler?.decision(for: response, next: proposed) {
            case nil: next = proposed
            case .follow(let chosen):
                next = try RedirectRules.checked(chosen, next: proposed, after: request, response, config: config)
            case .stop: return nil
            case .fail(let error): throw error
            }
        } catch {
            return error
        }
        chain.note(response)
        // This error discards the redirect's body; the download continues when the response has ended.
        return WebImageError(.badRedirect, "the request was redirected", response: response)
    }

    /// Returns the request fields, times and redirects that led to a response.
    func exchange(for response: HTTPResponse, _ request: DownloadRequest) -> HTTPExchange {
        HTTPExchange(
            requestHeaders: request.headers,
            requestTime: requestTime,
            responseTime: core.clock.wallTime(),
            redirects: chain.hops,
            rights: rights
        )
    }
}

extension DownloadTransfer.Plan {
    /// Limits a request to the time that remains of the whole download's time limit.
    ///
    /// - Throws: ``WebImageError/Code/timedOut`` if no time remains.
    func bound(_ request: inout HTTPTransferRequest, at now: UInt64) throws(WebImageError) {
        guard let deadline else { return }
        guard now < deadline else {
            let seconds = config.value.sourcePolicy.maximumDuration
            throw WebImageError(.timedOut, "the download including retries took longer than \(seconds) s")
        }
        let left = Double(deadline - now) / 1e9
        request.totalTimeout = request.totalTimeout > 0 ? min(request.totalTimeout, left) : left
    }
}
