public import FoundationEssentials
public import WebImage

/// What a view knows of the last load of one of its slots.
public struct ViewLoadState: Sendable {
    /// Where a load stands.
    public enum Phase: Sendable {
        /// It is under way.
        case loading
        /// The picture is there: with the pixels that the view has by now, and without the encoded bytes, which completions are given.
        case loaded(WebImageResult)
        /// There is no picture.
        case failed(WebImageError)
    }

    /// What is loaded; nil if there was no URL.
    public var url: URL?
    /// How much of it has come.
    public var progress: LoadProgress
    /// Where it stands.
    public var phase: Phase

    /// The picture, if it is there.
    public var result: WebImageResult? {
        if case .loaded(let result) = phase { result } else { nil }
    }

    /// Why there is no picture, if that is so.
    public var error: WebImageError? {
        if case .failed(let error) = phase { error } else { nil }
    }

    /// Whether it is under way.
    public var isLoading: Bool {
        if case .loading = phase { true } else { false }
    }
}
