import CLinux

extension WebImageLifecycle {
    /// Memory is short; see ``ImageCache/didReceiveMemoryWarning()``. Frames of animations that are not shown next go, too, and
    /// memory that is kept for the next picture. The system tells the library of that already; call this when something else does.
    public static func didReceiveMemoryWarning() {
        for upkeep in CacheRegistry.shared.upkeeps { upkeep.didReceiveMemoryWarning() }
        AnimationFramePools.shared.removeAllFrames()
        // After the images: what they let go of went there.
        BufferPool.shared.trim(toBytes: 0)
        webimage_transfer_trim()
    }
}
