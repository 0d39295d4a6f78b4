/// Identifies a piece of shared work by the part of the plan that it performs: loads whose keys are equal at a stage share the work of
/// that stage.
enum WorkKey: Hashable, Sendable {
    /// Read an entry of a disk cache.
    case diskRead(Boxed<LoadPlan.DiskEntry>)
    /// Decode an entry of a disk cache, for queries.
    case entryImage(Boxed<LoadPlan.EntryImage>)
    /// Get bytes from a loader.
    case fetch(Boxed<LoadPlan.Fetch>)
    /// Revalidate a cached original.
    case revalidation(Boxed<LoadPlan.Original>)
    /// Get the original bytes, from disk or from a loader.
    case original(Boxed<LoadPlan.Original>)
    /// Store the original bytes once they are verified to be an image.
    case store(Boxed<LoadPlan.Store>)
    /// Decode the original bytes to an image.
    case decode(Boxed<LoadPlan.Decode>)
    /// Apply the first transformers of a chain.
    case transform(Boxed<LoadPlan.Transform>)
    /// Get the requested image and store it in the requested caches.
    case result(Boxed<LoadPlan.Result>)
    /// Get the requested image as encoded bytes.
    case encoded(Boxed<LoadPlan.Encoded>)
}
