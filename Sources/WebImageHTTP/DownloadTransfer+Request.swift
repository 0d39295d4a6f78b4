/// What is sent, and where it goes on.
extension DownloadTransfer {
    /// Sends a request, for the rest of the body if a part is there.
    func send(_ request: DownloadRequest) {
        // A modifier, a handler or the server may have chosen the place.
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
            // The transport may have gone on to a redirect meanwhile.
            if life.requestCount == number, !life.stage.isDecrypting { life.stage = .running(running) }
            return false
        }
        if isOver { running.cancel() }
    }

    /// What a redirect is answered with; nil to take it for the answer.
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
        // Refuses the redirect's own body; the download goes on at its end.
        return WebImageError(.badRedirect, "the request goes elsewhere", response: response)
    }

    /// What was said to get a response.
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
    /// Leaves a request the time that is left of the whole download's.
    ///
    /// - Throws: ``WebImageError/Code/timedOut`` when none is.
    func bound(_ request: inout HTTPTransferRequest, at now: UInt64) throws(WebImageError) {
        guard let deadline else { return }
        guard now < deadline else {
            let seconds = config.value.sourcePolicy.maximumDuration
            throw WebImageError(.timedOut, "the download with its further attempts took longer than \(seconds) s")
        }
        let left = Double(deadline - now) / 1e9
        request.totalTimeout = request.totalTimeout > 0 ? min(request.totalTimeout, left) : left
    }
}
