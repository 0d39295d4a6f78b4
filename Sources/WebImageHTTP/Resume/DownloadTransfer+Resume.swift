import FoundationEssentials

/// Resumes interrupted attempts, and keeps parts for later ones.
extension DownloadTransfer {
    // MARK: Before the request is sent

    /// Looks up the part of an earlier attempt, and then sends the request.
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

    /// Copies the part into the body's buffer.
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

    /// Shows the part as a preview before the server responds, unless cookies decide who may see it.
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

    // MARK: The response

    /// Returns the response to continue with; nil if it is refused because the whole body must be requested.
    func taken(_ response: HTTPResponse) -> HTTPResponse? {
        guard let part else { return response }
        switch RangeResponse(response, part: part.head, count: part.bytes.count) {
        case .rest(let whole):
            overlap = part.bytes.count - part.start
            resumedByteCount = part.bytes.count
            // The buffer already contains these bytes.
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

    /// Compares bytes that repeat the part, and removes them from `bytes`. False if they differ.
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

    /// Requests the whole body after the current transfer has ended.
    func askAnew() {
        dropPart()
        next = request
    }

    /// The error that ends a transfer with a useless response; it is never delivered.
    var partRefusal: WebImageError { WebImageError(.invalidDownloadResponse, "the rest belongs to a different image") }

    /// Removes the part.
    func dropPart() {
        let (store, key) = life.withLock { life in
            defer { life.keeping.end() }
            return (life.keeping.store, life.keeping.savedKey)
        }
        if let key = key ?? part?.head.key { store?.remove(key) }
        part = nil
    }

    // MARK: Keeping received bytes

    /// Writes the received bytes of a slow body. Returns whether a body is arriving.
    func keepSlowBody(now: UInt64) -> Bool {
        let wallTime = core.clock.wallTime()
        let (isUnderWay, store, part) = life.withLock { life -> (Bool, (any PartialBodyStore)?, PartialDownload?) in
            guard life.keeping.isUnderWay, case .running = life.stage else { return (false, nil, nil) }
            return (true, life.keeping.store, life.keeping.slowPart(of: life.body, now: now, wallTime: wallTime))
        }
        if let part { store?.save(part, completion: nil) }
        return isUnderWay
    }

    /// Writes the received bytes of a cancelled body: the same image may be requested again before the transport has ended this
    /// transfer.
    func keepCancelledBody() {
        let wallTime = core.clock.wallTime()
        let (store, part) = life.withLock { life -> ((any PartialBodyStore)?, PartialDownload?) in
            // The stored part no longer belongs to this transfer.
            defer { life.keeping.store = nil }
            guard life.body.count > life.keeping.savedCount else { return (nil, nil) }
            return (life.keeping.store, life.keeping.part(of: life.body, wallTime: wallTime))
        }
        if let part { store?.save(part, completion: nil) }
    }

    /// Keeps the part that another attempt can start from after this one has failed.
    ///
    /// - Parameter completion: called when the part is on disk, if it is stored there: a program may exit as soon as it gets the
    ///   failure.
    func keepFailedBody(_ error: WebImageError, completion: @escaping @Sendable () -> Void) {
        // Under a policy, each attempt starts from zero: each body is checked from its first byte.
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

    /// Removes the kept part after the body is complete. A part of another body is kept for later.
    func forgetKeptBody() { if part == nil || resumedByteCount > 0 { dropPart() } }
}
