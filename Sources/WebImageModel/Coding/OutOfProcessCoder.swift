package import FoundationEssentials

/// A coder that decodes outside this process, while threads of this process wait for it.
package protocol OutOfProcessCoder: ImageCoder {
    /// Returns the queue whose threads wait for the decoders of such data; nil for data that is decoded in this process.
    func queue(for data: Data) -> WorkQueue?
    /// The source policy that decoding memory is charged to; empty for the program's own images.
    var memoryDomain: String { get }
}

/// An animation whose frames are decoded outside this process.
package protocol OutOfProcessAnimation: AnimatedImageProvider {
    /// The queue whose threads wait for frames.
    var queue: WorkQueue { get }
}
