import FoundationEssentials

extension WebImageManager {
    /// Whether the delegate allows a URL to be downloaded; asked after a cache miss, and before a refresh. True as long as there
    /// are no delegates.
    func mayDownload(_ url: URL) -> Bool { true }
}
