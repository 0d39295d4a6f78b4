extension DownloadTransfer {
    /// Decrypts on a decode thread, so that the network thread stays free for other transfers.
    func decrypt(_ loaded: LoadedImageData, _ decryptor: DownloadDecryptor, metrics: DownloadMetrics) {
        let limit = plan.config.maximumResponseByteCount
        let sniffer = plan.config.sniffer
        core.networkDidEnd(record)
        let isWanted = life.withLock { life -> Bool in
            if case .over = life.stage { return false }
            let item = CodingQueue.shared.submit {
                self.end(decryptor.decrypted(loaded, limit: limit, sniffer), metrics: metrics)
            }
            life.stage = .decrypting(item)
            return true
        }
        // The bytes are released outside the lock.
        withExtendedLifetime((loaded, isWanted)) {}
    }
}

extension DownloadDecryptor {
    /// Returns the download with its decrypted body.
    fileprivate func decrypted(
        _ loaded: LoadedImageData,
        limit: Int,
        _ sniffer: ImageSniffer?
    ) -> Result<LoadedImageData, WebImageError> {
        var loaded = loaded
        do {
            guard let data = try decrypted(loaded.data, response: loaded.response), !data.isEmpty else {
                return .failure(WebImageError(.badImageData, "the decryptor returned no data"))
            }
            loaded.data = data
        } catch {
            return .failure(WebImageError(.badImageData, "the body cannot be decrypted", underlyingError: error))
        }
        guard loaded.data.count <= limit else {
            return .failure(
                .limitExceeded("maximumResponseByteCount", allowed: limit, required: loaded.data.count)
            )
        }
        if let problem = sniffer?.problem(of: loaded.data) { return .failure(problem) }
        return .success(loaded)
    }
}
