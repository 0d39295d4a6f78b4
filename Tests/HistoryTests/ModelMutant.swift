/// A fault in one of the model's doubles, to see that the model finds it.
enum ModelMutant: CaseIterable, Sendable {
    /// A load calls its completion twice.
    case doubleCompletion
    /// A transfer never ends.
    case lostCompletion
    /// A transfer goes on when it is cancelled.
    case lostCancel
    /// A load tells how far it is after its end.
    case lateProgress
    /// Transfers that wait are begun in the wrong order.
    case priorityOrder
    /// Transfers do not hear that they have become more or less urgent.
    case lostPriority
    /// A thumbnail lies under the key of the whole picture, too.
    case previewUnderFullKey
    /// The pixels are now and then another URL's.
    case wrongPicture
    /// The disk keeps one entry when it is cleared.
    case storeAfterClear
    /// The disk keeps what it is told to remove.
    case lostRemoval
    /// The disk does not write.
    case lostStore
    /// The disk writes what it had before when it is told to write something else.
    case staleStore
    /// Memory grows without a limit.
    case memoryWithoutLimit
    /// A failed URL is not remembered.
    case forgottenFailure
}
