import FoundationEssentials

/// Going on where an earlier attempt broke off, and leaving what there is for a later one.
extension DownloadTransfer {
    // MARK: Before the request is sent

    /// Looks for what an earlier attempt has left, and then sends the request.
    func resume(_ request: DownloadRequest, _ plan: Plan) {
        let former = former.flatMap { $0.head.key == PartialKey(request) ? $0 : nil }
        self.former = nil
        let isLooking = plan.store(for: request)?.claim(request, limit: plan.config.value.maximumResponseByteCount) {
            found in
            self.part = found ?? former
            self.send(request, plan)
        }
        guard isLooking != true else { return }
        part = former
        send(request, plan)
    }

    /// Puts what is there of the body into its buffer.
    func beginBody(_ plan: Plan) {
        emptyBody(plan)
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
    func showPart(_ plan: Plan) {
        guard let part, let request, !request.handlesCookies, plan.hooks.decryptor == nil else { return }
        guard let (place, data) = bytesToShow() else { return }
        place.begin()
        place.update(data, expectedByteCount: part.head.total)
    }

    private func emptyBody(_ plan: Plan) {
        life.withLock { $0.body = BodyBuffer(limit: plan.config.value.maximumResponseByteCount) }
        (lastReportedFraction, lastLeftByteCount) = (0, 0)
        (overlap, resumedByteCount) = (0, 0)
    }

    // MARK: The answer

    /// What an answer is taken for; nil when it is refused, because the whole has to be asked for.
    func taken(_ response: HTTPResponse, _ plan: Plan) -> HTTPResponse? {
        guard let part else { return response }
        switch part.answer(response) {
        case .rest(let whole):
            overlap = part.bytes.count - part.start
            resumedByteCount = part.bytes.count
            // The body begins with them.
            self.part?.bytes = Data()
            return whole
        case .whole:
            dropPart()
            emptyBody(plan)
            return response
        case .useless:
            askAnew()
            return nil
        case .unrelated:
            emptyBody(plan)
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
        part?.writer?.remove()
        part = nil
        let writer = life.withLock { $0.keeping.end() }
        writer?.remove()
    }

    // MARK: Keeping what has come

    /// Has what has come of a slow body written. Whether there is one.
    func keepSlowBody(now: UInt64) -> Bool {
        let wallTime = core.clock.wallTime()
        let (isUnderWay, writer, bytes) = life.withLock { life -> (Bool, PartialWriter?, Data?) in
            guard life.keeping.isUnderWay, case .running = life.stage else { return (false, nil, nil) }
            let count = life.body.count
            let writer = life.keeping.writerForSlowBody(of: count, now: now, wallTime: wallTime)
            return (true, writer, writer == nil ? nil : life.body.snapshot())
        }
        if let writer, let bytes { writer.save(bytes) }
        return isUnderWay
    }

    /// Has what has come of a body written that nobody waits for any more, and lets others have the file at once: the same may be
    /// asked for again before the transport has let go of this.
    func keepCancelledBody() {
        let wallTime = core.clock.wallTime()
        let (writer, bytes) = life.withLock { life -> (PartialWriter?, Data?) in
            let count = life.body.count
            if life.keeping.isUnderWay, let writer = life.keeping.writerForBody(of: count, wallTime: wallTime) {
                return (writer, life.body.snapshot())
            }
            return (life.keeping.claimed, nil)
        }
        writer?.close(saving: bytes)
    }

    /// What another attempt can begin with after this one has failed.
    ///
    /// - Parameter completion: called when it is on disk, if it is to be there: who is told of a failure may leave at once.
    func keepFailedBody(_ error: WebImageError, completion: @escaping @Sendable () -> Void) {
        // Under a policy an attempt begins with nothing: each body is judged from its own first byte.
        let isTrusted = plan?.config.value.sourcePolicy.isTrusted ?? true
        guard error.code != .limitExceeded, isTrusted else {
            dropPart()
            return completion()
        }
        let wallTime = core.clock.wallTime()
        let former = part
        part = nil
        let (kept, writer) = life.withLock { life -> (PartialDownload?, PartialWriter?) in
            // While the overlap is being received, nothing is there that was not there before.
            if overlap > 0, let former {
                return (life.body.snapshot().map { PartialDownload(head: former.head, bytes: $0) }, nil)
            }
            let count = life.body.count
            guard let head = life.keeping.headOfBody(of: count, wallTime: wallTime), let bytes = life.body.snapshot()
            else { return (nil, nil) }
            let writer = life.keeping.writerForBody(of: count, wallTime: wallTime)
            return (PartialDownload(head: head, bytes: bytes), writer)
        }
        leftover = kept ?? former
        // Whoever is told may ask again at once, so others must be able to have the file by then.
        leftover?.writer = nil
        if let writer {
            writer.close(saving: kept?.bytes, completion: completion)
        } else if let writer = former?.writer {
            writer.close(completion: completion)
        } else {
            completion()
        }
    }

    /// The body is there; nothing of it has to be kept any more.
    func forgetKeptBody() {
        let (writer, claimed) = life.withLock { life -> (PartialWriter?, PartialWriter?) in
            let claimed = life.keeping.claimed
            return (life.keeping.end(), claimed)
        }
        // What came may have said nothing of what there was.
        if let writer { writer.remove() } else { claimed?.close() }
        if resumedByteCount > 0 { part = nil }
    }
}
