package import FoundationEssentials
import Glibc

/// The threads that decode, transform and encode, as many as the machine has processors, for the whole process; and those that decode
/// the frames of animations that play.
///
/// Loads and frames do not wait for each other: the system shares the processors between the two, half and half when both have more to
/// do than there is time for. In one queue either would have to give way. A load may take as long as a hundred frames, which are late
/// after a few hundredths of a second; and there is no end of frames.
package enum CodingQueue {
    package static let shared = WorkQueue(name: "webimage.coding", width: processorCount)

    /// For the frames of animations that play, by how soon they must be seen: one that should be seen already is of high priority,
    /// the one after it, or after the one that is shown, of normal, others of low.
    package static let frames = WorkQueue(name: "webimage.frames", width: processorCount)

    /// Where a coder is to decode: on the threads that wait for its workers if it has any, so that those of `queue` have no part in that;
    /// else on `queue`.
    package static func queue(of coder: any ImageCoder, for data: Data, else queue: WorkQueue = shared) -> WorkQueue {
        (coder as? any PlacedCoder)?.queue(for: data) ?? queue
    }

    /// The same for what takes frames of an animation.
    package static func queue(of animation: (any AnimatedImageProvider)?, else queue: WorkQueue = shared) -> WorkQueue {
        (animation?.frameDecoder as? any PlacedAnimation)?.queue ?? queue
    }

    /// Processors that are online, at least 1.
    package static var processorCount: Int { max(Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))), 1) }
}
