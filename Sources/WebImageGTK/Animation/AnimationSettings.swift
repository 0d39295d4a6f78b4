import WebImage

/// The settings of an ``AnimatedImageView``.
struct AnimationSettings {
    var shouldCustomLoopCount = false
    var repeatCount = 0
    var playbackRate = 1.0
    var playbackMode = AnimationPlaybackMode.normal
    var maxBufferSize = 0
    var shouldIncrementalLoad = true
    var clearBufferWhenStopped = false
    var resetFrameIndexWhenStopped = false
    var autoPlay = true
    var transformer: (any ImageTransformer)?

    /// Applies the settings to a player.
    func apply(to player: AnimatedImagePlayer) {
        player.totalLoopCount = shouldCustomLoopCount ? repeatCount : player.provider.loopCount
        // Set only if changed: setting the buffer size makes the player query the available memory again.
        if player.maxBufferSize != maxBufferSize { player.maxBufferSize = maxBufferSize }
        player.playbackRate = playbackRate
        player.playbackMode = playbackMode
    }

    /// Returns whether an image is played.
    ///
    /// A partially loaded image plays only in normal mode: playing backwards needs the last frame.
    func plays(_ image: Image) -> Bool {
        image.animation != nil && (!image.metadata.isIncremental || shouldIncrementalLoad && playbackMode == .normal)
    }
}
