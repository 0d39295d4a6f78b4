extension ImageLimits {
    /// Checks the number of frames of an animation.
    ///
    /// - Throws: ``WebImageError/Code/limitExceeded``.
    public func check(frameCount: Int) throws(WebImageError) {
        guard frameCount <= maximumFrameCount else {
            throw .limitExceeded("maximumFrameCount", allowed: maximumFrameCount, required: frameCount)
        }
    }
}
