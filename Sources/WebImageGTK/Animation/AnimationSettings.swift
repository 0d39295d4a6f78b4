import WebImage

/// How a view plays what moves.
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

    /// Tells a player of it.
    func apply(to player: AnimatedImagePlayer) {
        player.totalLoopCount = shouldCustomLoopCount ? repeatCount : player.provider.loopCount
        // What has not changed is left alone: the player looks at the memory anew when the buffer's size is set.
        if player.maxBufferSize != maxBufferSize { player.maxBufferSize = maxBufferSize }
        player.playbackRate = playbackRate
        player.playbackMode = playbackMode
    }

    /// Whether an image is played.
    ///
    /// What has not all come yet has no end to play back from.
    func plays(_ image: Image) -> Bool {
        image.animation != nil && (!image.metadata.isIncremental || shouldIncrementalLoad && playbackMode == .normal)
    }
}
