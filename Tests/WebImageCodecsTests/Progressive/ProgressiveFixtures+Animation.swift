extension ProgressiveFixtures {
    /// Animations with all kinds of frames, besides those of ``all``.
    static let animated =
        ["lossy-0", "lossy-1", "lossy-alpha-2", "lossy-alpha-3"].map { "Animation/webp-\($0).webp" }
        + ["rgba-1", "rgb-erased", "rgba16", "first-restored"].map { "Animation/apng-\($0).png" }
        + ["outside", "empty-frames"].map { "Animation/\($0).gif" }
    static let allKinds = all + animated
}
