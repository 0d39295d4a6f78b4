/// A fault in one of the model's doubles, to check that the model detects it.
enum ModelMutant: CaseIterable, Sendable {
    /// A load calls its completion twice.
    case doubleCompletion
    /// A transfer never ends.
    case lostCompletion
    /// A transfer continues when it is cancelled.
    case lostCancel
    /// A load reports progress after its end.
    case lateProgress
    /// Waiting transfers start in the wrong order.
    case priorityOrder
    /// Transfers are not notified of changes of priority.
    case lostPriority
    /// A thumbnail is stored under the key of the whole image, too.
    case previewUnderFullKey
    /// The pixels are now and then another URL's.
    case wrongImage
    /// The disk keeps one entry when it is cleared.
    case storeAfterClear
    /// The disk keeps an entry that should be removed.
    case lostRemoval
    /// The disk does not write.
    case lostStore
    /// The disk writes the old entry instead of the new one.
    case staleStore
    /// Memory grows without a limit.
    case memoryWithoutLimit
    /// A failed URL is not remembered.
    case forgottenFailure
}
