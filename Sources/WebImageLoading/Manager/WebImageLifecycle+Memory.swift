import CLinux

extension WebImageLifecycle {
    /// Releases memory; see ``ImageCache/didReceiveMemoryWarning()``. Also releases animation frames that are not shown next, and
    /// buffers kept for reuse. The library already receives the system's own warnings; call this for others.
    public static func didReceiveMemoryWarning() {
        for upkeep in CacheRegistry.shared.upkeeps { upkeep.didReceiveMemoryWarning() }
        AnimationFramePools.shared.removeAllFrames()
        // After the images: the buffers that they release went there.
        BufferPool.shared.trim(toBytes: 0)
        webimage_transfer_trim()
    }
}
