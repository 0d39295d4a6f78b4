/// Telling early that a body is no picture.
extension DownloadTransfer {
    /// Looks at the first bytes of the body, until they tell; an answer ends the transfer.
    ///
    /// - Parameter byteCount: how many there are. Looks only when they have doubled: a body may come byte by byte, and a look may take
    ///   as long as there are bytes.
    func sniff(_ byteCount: Int) -> WebImageError? {
        guard let sniffer, byteCount >= nextSniff, let data = life.withLock({ $0.body.snapshot() }) else { return nil }
        switch sniffer.verdict(data, isWhole: false) {
        case .undecided:
            nextSniff = min(max(2 * byteCount, PictureSniffer.signatureLength), PictureSniffer.textLength)
            return nil
        case .picture: self.sniffer = nil
        case .refused(let error): return error
        }
        return nil
    }
}

extension DownloadTransfer.Plan {
    /// What looks at the body as it comes; nil where nothing is asked of it, or where it only becomes a picture afterwards.
    var sniffer: PictureSniffer? { hooks.decryptor == nil ? config.value.sniffer : nil }
}

extension WebImageDownloaderConfig {
    /// What a policy asks of bodies; nil where it asks nothing.
    var sniffer: PictureSniffer? { sourcePolicy.isTrusted ? nil : PictureSniffer(formats: sourcePolicy.formats) }
}
