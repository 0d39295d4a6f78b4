public import FoundationEssentials
public import WebImage

/// The state of the last load of a slot.
public struct ViewLoadState: Sendable {
    /// The phase of a load.
    public enum Phase: Sendable {
        /// The load is in progress.
        case loading
        /// The image has been loaded. The result has the pixels that the view shows now, but no encoded data, which only completions get.
        case loaded(WebImageResult)
        /// The load has failed.
        case failed(WebImageError)
    }

    /// The URL of the image; nil if there was none.
    public var url: URL?
    /// The progress of the load.
    public var progress: LoadProgress
    /// The phase of the load.
    public var phase: Phase

    /// The result; nil unless the image has been loaded.
    public var result: WebImageResult? {
        if case .loaded(let result) = phase { result } else { nil }
    }

    /// The error; nil unless the load has failed.
    public var error: WebImageError? {
        if case .failed(let error) = phase { error } else { nil }
    }

    /// A Boolean value that indicates whether the load is in progress.
    package var isLoading: Bool {
        if case .loading = phase { true } else { false }
    }
}
