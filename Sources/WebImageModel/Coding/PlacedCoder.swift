package import FoundationEssentials

/// A coder that decodes outside this process, on threads that wait for it.
package protocol PlacedCoder: ImageCoder {
    /// The queue whose threads wait for the decoders of such data; nil for what is decoded in this process.
    func queue(for data: Data) -> WorkQueue?
    /// The source policy that decoding memory is counted under; empty for the program's own images.
    var memoryDomain: String { get }
}

/// An animation whose frames are decoded outside this process.
package protocol PlacedAnimation: AnimatedImageProvider {
    /// The queue whose threads wait for frames.
    var queue: WorkQueue { get }
}
