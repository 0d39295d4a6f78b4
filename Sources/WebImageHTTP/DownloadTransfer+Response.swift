import FoundationEssentials

/// Handles the response. The transport calls these methods one at a time.
extension DownloadTransfer: HTTPTransferSink {
    package func didReceive(_ response: HTTPResponse) -> WebImageError? {
        guard let request else { return nil }
        outcome.response = response
        if RedirectRules.isRedirect(response), let answer = redirect(response, request) { return answer }
        // From here on, a resumed body is handled like a complete one.
        guard let response = taken(response) else { return partRefusal }
        let modified = plan.hooks.responseModifier.map { $0.modifiedResponse(for: response) } ?? response
        guard var delivered = modified else {
            core.note(response, of: record)
            return WebImageError(.invalidDownloadResponse, "the response modifier returned nil", response: response)
        }
        delivered.exchange = exchange(for: response, request)
        self.response = delivered
        core.note(delivered, of: record)
        let sendsRange = request.headers["Range"] != nil
        let isCut = record.part != nil && response.statusCode == 200
        if var problem = plan.config.value.problem(
            of: delivered,
            received: response,
            sendsRange: sendsRange,
            isCut: isCut
        ) {
            problem.response = delivered
            if problem.code == .invalidDownloadStatusCode, HostReport.asks(delivered.statusCode) {
                problem.retryAfter = delivered.retryAfter(wallTime: core.clock.wallTime())
            }
            return problem
        }
        // Only the first part of a body begins like an image.
        let isBeginning = record.part.map { $0.range.lowerBound == 0 } ?? true
        (sniffer, nextSniff) = (isBeginning ? plan.sniffer : nil, 0)
        if isCut, record.part?.mostOfWhole == 0 {
            return WebImageError(.invalidDownloadResponse, "the server sent the whole file instead of a part")
        }
        if let part = record.part { limitBody(to: isCut ? part.mostOfWhole : part.range.count) }
        // A modifier may change the announced length, so the transport's response counts.
        expected = request.method == "HEAD" ? nil : response.expectedByteCount
        bodyBegins(response)
        return nil
    }

    private func bodyBegins(_ response: HTTPResponse) {
        let isKept = request.map { plan.store(for: $0) != nil } ?? false
        let now = isKept ? core.clock.monotonicNanoseconds() : 0
        let head = resumedByteCount > 0 ? part?.head : nil
        let mayStay = life.withLock { life -> Bool in
            if let expected { life.body.expect(expected) }
            return life.keeping.begin(response, after: head, count: resumedByteCount, now: now)
        }
        if !mayStay { dropPart() }
        if isKept { core.noteBodyToKeep() }
        if resumedByteCount == 0, let partialData, attempt > 1 || hasLeftBytes || partialData.isWanted {
            partialData.begin()
        }
        let progress = LoadProgress(receivedByteCount: Int64(resumedByteCount), expectedByteCount: expected)
        core.report(progress, of: record, resumedByteCount: resumedByteCount)
    }

    package func didReceive(_ bytes: UnsafeRawBufferPointer) -> WebImageError? {
        if !outcome.hasBody, !bytes.isEmpty {
            outcome.hasBody = true
            tellHost()
        }
        var bytes = bytes
        guard overlap == 0 || passOverlap(&bytes) else {
            askAnew()
            return partRefusal
        }
        guard bytes.count > 0 else { return nil }
        let refusal = cutOff(&bytes)
        let byteCount: Int
        do throws(WebImageError) {
            byteCount = try life.withLock { life throws(WebImageError) in
                try life.body.append(bytes)
                return life.body.count
            }
        } catch {
            return error
        }
        if sniffer != nil, let refusal = sniff(byteCount) { return refusal }
        if let refusal { return refusal }
        if resumedByteCount > 0, let expected, Int64(byteCount) > expected {
            askAnew()
            return partRefusal
        }
        let progress = LoadProgress(receivedByteCount: Int64(byteCount), expectedByteCount: expected)
        let interval = plan.config.progressInterval
        if let expected, progress.receivedByteCount < expected {
            guard progress.fraction - lastReportedFraction >= interval else { return nil }
        }
        lastReportedFraction = progress.fraction
        core.report(progress, of: record)
        leavePartialData(interval, byteCount: byteCount)
        return nil
    }

    /// Publishes the bytes so far for previews. Encrypted bytes are not published.
    ///
    /// - Parameter interval: the minimum growth of a body of unknown length, as a fraction of its size at the last publication. For
    ///   known lengths, the caller has checked the interval.
    private func leavePartialData(_ interval: Double, byteCount: Int) {
        guard plan.hooks.decryptor == nil else { return }
        if let expected {
            guard Int64(byteCount) < expected else { return }
        } else {
            guard Double(byteCount - lastLeftByteCount) >= interval * Double(lastLeftByteCount) else { return }
        }
        guard let (place, data) = bytesToShow() else { return }
        place.update(data, expectedByteCount: expected)
    }

    /// Returns the bytes so far and where to publish them; nil if previews are not requested.
    func bytesToShow() -> (place: PartialImageData, data: Data)? {
        guard let place = partialData, place.isWanted else { return nil }
        let data = life.withLock { life -> Data? in
            if case .over = life.stage { return nil }
            return life.body.snapshot()
        }
        guard let data else { return nil }
        (lastLeftByteCount, hasLeftBytes) = (data.count, true)
        return (place, data)
    }

    /// Limits a body of which only a part was asked for.
    private func limitBody(to byteCount: Int) {
        life.withLock { $0.body = BodyBuffer(limit: min(plan.config.maximumResponseByteCount, byteCount)) }
    }

    /// Shortens the bytes to those that are taken of a whole body, when a part was asked for; returns the error that ends the transfer then.
    private func cutOff(_ bytes: inout UnsafeRawBufferPointer) -> WebImageError? {
        guard let part = record.part, response?.statusCode == 200 else { return nil }
        let most = min(part.mostOfWhole, plan.config.maximumResponseByteCount) - life.withLock { $0.body.count }
        guard bytes.count > most else { return nil }
        bytes = UnsafeRawBufferPointer(rebasing: bytes.prefix(max(most, 0)))
        isCutOff = true
        return WebImageError(.cancelled, "the rest of the body is not needed")
    }

    package func didFinish(_ error: WebImageError?, metrics: DownloadMetrics) {
        // The transport ends with the error that was its order to stop.
        let error = isCutOff && error?.code == .cancelled ? nil : error
        outcome.error = error
        if !hasToldHost { tellHost() }
        if let next {
            self.next = nil
            chain.note(metrics)
            return send(next)
        }
        var metrics = chain.completed(metrics)
        metrics.resumedByteCount = Int64(resumedByteCount)
        let result = result(error, metrics: metrics)
        guard case .success(let loaded) = result, let decryptor = plan.hooks.decryptor else {
            return end(result, metrics: metrics)
        }
        decrypt(loaded, decryptor, metrics: metrics)
    }

    /// Reports the current knowledge about the host to the core.
    private func tellHost() {
        let isOver = life.withLock { life -> Bool in
            if case .over = life.stage { return true }
            return false
        }
        guard let request, !isOver else { return }
        hasToldHost = true
        var report = HostReport(request.url, outcome, wallTime: core.clock.wallTime())
        report.origin = chain.origin
        core.note(report, of: record)
    }

    private func result(_ error: WebImageError?, metrics: DownloadMetrics) -> Result<LoadedImageData, WebImageError> {
        if let error { return .failure(error) }
        let byteCount = life.withLock { $0.body.count }
        guard overlap == 0 else {
            return .failure(WebImageError(.networkConnectionLost, "the resumed body ended before its first new byte"))
        }
        if let expected, Int64(byteCount) != expected, !isCutOff {
            let words = "the body has \(byteCount) bytes instead of the announced \(expected)"
            // A body that is too long belongs to another representation.
            if Int64(byteCount) > expected { forgetKeptBody() }
            return .failure(WebImageError(.networkConnectionLost, words))
        }
        guard let data = life.withLock({ $0.body.takeData() }) else {
            return .failure(WebImageError(.badImageData, "the response has no body"))
        }
        if let problem = sniffer?.problem(of: data) { return .failure(problem) }
        if plan.partials != nil || resumedByteCount > 0 { forgetKeptBody() }
        return .success(LoadedImageData(data: data, response: response, metrics: metrics))
    }
}

/// Detects early that a body is not an image.
extension DownloadTransfer {
    /// Checks the first bytes of the body until the format is known; an error ends the transfer.
    ///
    /// - Parameter byteCount: the number of bytes so far. The check runs only when they have doubled: a body may arrive byte by
    ///   byte, and a check may take time proportional to its bytes.
    func sniff(_ byteCount: Int) -> WebImageError? {
        guard let sniffer, byteCount >= nextSniff, let data = life.withLock({ $0.body.snapshot() }) else { return nil }
        switch sniffer.verdict(data, isWhole: false) {
        case .undecided:
            nextSniff = min(max(2 * byteCount, ImageSniffer.signatureLength), ImageSniffer.textLength)
            return nil
        // The whole body is checked once more: raw files of cameras may begin like TIFF.
        case .image: nextSniff = .max
        case .refused(let error): return error
        }
        return nil
    }
}

extension DownloadTransfer.Plan {
    /// Checks the body as it arrives; nil if the policy does not restrict formats, or if the body is an image only after
    /// decryption.
    var sniffer: ImageSniffer? { hooks.decryptor == nil ? config.sniffer : nil }
}

extension WebImageDownloaderConfig {
    /// Checks bodies against the policy's formats; nil if the source is trusted.
    var sniffer: ImageSniffer? { sourcePolicy.isTrusted ? nil : ImageSniffer(formats: sourcePolicy.formats) }
}
