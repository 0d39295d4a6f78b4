/// Names a piece of shared work by the part of the plan that it performs: loads whose keys are equal at a stage share the work of that
/// stage.
enum WorkKey: Hashable, Sendable {
    /// Reading an entry of a disk cache.
    case diskRead(Boxed<LoadPlan.DiskEntry>)
    /// Making an image of an entry of a disk cache, for queries.
    case entryImage(Boxed<LoadPlan.EntryImage>)
    /// Getting bytes from a loader.
    case fetch(Boxed<LoadPlan.Fetch>)
    /// Finding out whether what is cached of an original serves.
    case revalidation(Boxed<LoadPlan.Original>)
    /// Getting the original bytes, from disk or from a loader.
    case original(Boxed<LoadPlan.Original>)
    /// Storing the original bytes once they have proved to be an image.
    case store(Boxed<LoadPlan.Store>)
    /// Making an image of the original bytes.
    case decode(Boxed<LoadPlan.Decode>)
    /// Applying the first transformers of a chain.
    case transform(Boxed<LoadPlan.Transform>)
    /// Getting the image that callers asked for, stored where they want it.
    case result(Boxed<LoadPlan.Result>)
}
