import FoundationEssentials

/// Going on where an earlier attempt broke off, and leaving what there is for a later one.
extension DownloadTransfer {
    // MARK: Before the request is sent

    /// Looks for what an earlier attempt has left, and then sends the request.
    func resume(_ request: DownloadRequest) {
        let former = former.flatMap { $0.head.key == PartialKey(request) ? $0 : nil }
        self.former = nil
        let isLooking = plan.store(for: request)?.find(request, limit: plan.config.maximumResponseByteCount) {
            found in
            self.part = found ?? former
            self.send(request)
        }
        guard isLooking != true else { return }
        part = former
        send(request)
    }

    /// Puts what is there of the body into its buffer.
    func beginBody() {
        emptyBody()
        guard let part else { return }
        let isThere = life.withLock { life -> Bool in
            if let total = part.head.total { life.body.expect(total) }
            do throws(WebImageError) {
                try part.bytes.withBytes { bytes throws(WebImageError) in try life.body.append(bytes) }
                return true
            } catch {
                return false
            }
        }
        if !isThere { self.part = nil }
    }

    /// Shows what is there of the body to those who want previews, before the server has said anything: unless it is cookies that
    /// say who may see it.
    func showPart() {
        guard let part, let request, !request.handlesCookies, plan.hooks.decryptor == nil else { return }
        guard let (place, data) = bytesToShow() else { return }
        place.begin()
        place.update(data, expectedByteCount: part.head.total)
    }

    private func emptyBody() {
        life.withLock { $0.body = BodyBuffer(limit: plan.config.maximumResponseByteCount) }
        (lastReportedFraction, lastLeftByteCount) = (0, 0)
        (overlap, resumedByteCount) = (0, 0)
    }

    // MARK: The answer

    /// What an answer is taken for; nil when it is refused, because the whole has to be asked for.
    func taken(_ response: HTTPResponse) -> HTTPResponse? {
        guard let part else { return response }
        switch PartialAnswer(response, part: part.head, count: part.bytes.count) {
        case .rest(let whole):
            overlap = part.bytes.count - part.start
            resumedByteCount = part.bytes.count
            // The body begins with them.
            self.part?.bytes = Data()
            return whole
        case .whole:
            dropPart()
            emptyBody()
            return response
        case .useless:
            askAnew()
            return nil
        case .unrelated:
            emptyBody()
            return response
        }
    }

    /// Looks at bytes that are there already, and leaves those that are new. False when they are others.
    func passOverlap(_ bytes: inout UnsafeRawBufferPointer) -> Bool {
        let count = min(overlap, bytes.count)
        guard count > 0 else { return true }
        let known = UnsafeRawBufferPointer(rebasing: bytes[..<count])
        let offset = resumedByteCount - overlap
        guard life.withLock({ $0.body.holds(known, at: offset) }) else { return false }
        overlap -= count
        bytes = UnsafeRawBufferPointer(rebasing: bytes[count...])
        return true
    }

    /// Has the whole asked for once the present transfer has ended.
    func askAnew() {
        dropPart()
        next = request
    }

    /// The error that ends a transfer whose answer does not serve; nobody gets to see it.
    var partRefusal: WebImageError { WebImageError(.invalidDownloadResponse, "the rest is not of the same picture") }

    /// Removes what there was.
    func dropPart() {
        let (store, key) = life.withLock { life in
            defer { life.keeping.end() }
            return (life.keeping.store, life.keeping.savedKey)
        }
        if let key = key ?? part?.head.key { store?.remove(key) }
        part = nil
    }

    // MARK: Keeping what has come

    /// Has what has come of a slow body written. Whether there is one.
    func keepSlowBody(now: UInt64) -> Bool {
        let wallTime = core.clock.wallTime()
        let (isUnderWay, store, part) = life.withLock { life -> (Bool, (any PartialBodyStore)?, PartialDownload?) in
            guard life.keeping.isUnderWay, case .running = life.stage else { return (false, nil, nil) }
            return (true, life.keeping.store, life.keeping.slowPart(of: life.body, now: now, wallTime: wallTime))
        }
        if let part { store?.save(part, completion: nil) }
        return isUnderWay
    }

    /// Has what has come of a body written that nobody waits for any more: the same may be asked for again before the transport has
    /// ended this.
    func keepCancelledBody() {
        let wallTime = core.clock.wallTime()
        let (store, part) = life.withLock { life -> ((any PartialBodyStore)?, PartialDownload?) in
            // What is there is not this transfer's any more.
            defer { life.keeping.store = nil }
            guard life.body.count > life.keeping.savedCount else { return (nil, nil) }
            return (life.keeping.store, life.keeping.part(of: life.body, wallTime: wallTime))
        }
        if let part { store?.save(part, completion: nil) }
    }

    /// What another attempt can begin with after this one has failed.
    ///
    /// - Parameter completion: called when it is on disk, if it is to be there: who is told of a failure may leave at once.
    func keepFailedBody(_ error: WebImageError, completion: @escaping @Sendable () -> Void) {
        // Under a policy an attempt begins with nothing: each body is judged from its own first byte.
        let isTrusted = plan.config.isTrusted
        guard error.code != .limitExceeded, isTrusted else {
            dropPart()
            return completion()
        }
        let wallTime = core.clock.wallTime()
        let (store, kept) = life.withLock { life -> ((any PartialBodyStore)?, PartialDownload?) in
            (life.keeping.store, life.keeping.part(of: life.body, wallTime: wallTime))
        }
        leftover = kept ?? part
        part = nil
        guard let kept, let store else { return completion() }
        store.save(kept, completion: completion)
    }

    /// The body is there, and nothing of it has to be kept any more. A part that it is not of may serve later.
    func forgetKeptBody() { if part == nil || resumedByteCount > 0 { dropPart() } }
}
