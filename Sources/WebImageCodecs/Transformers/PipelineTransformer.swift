/// Several transformers, one after the other.
///
/// Loads share the work of equal beginnings: `resize + blur` builds on the `resize` that another load does or has in memory.
public struct PipelineTransformer: ImageTransformer {
    /// The transformers in the order they are applied.
    public let transformers: [any ImageTransformer]

    /// A chain.
    public init(_ transformers: [any ImageTransformer]) { self.transformers = transformers }

    /// The keys of the transformers, joined with "-".
    public var transformerKey: String { transformers.map(\.transformerKey).joined(separator: "-") }

    /// False: every transformer of the chain decides for its own step.
    public var preservesImageMetadata: Bool { false }

    /// Applies all; an error of one ends the chain.
    public func transform(_ image: Image) throws(WebImageError) -> Image {
        var image = image
        for transformer in transformers { image = try transformer.apply(to: image) }
        return image
    }

    /// The chain with nested chains unfolded.
    package var flattened: [any ImageTransformer] {
        transformers.flatMap { ($0 as? PipelineTransformer)?.flattened ?? [$0] }
    }

    /// What the step takes that takes most, with the picture that it is given, if an earlier one made it.
    public func memoryNeed(of input: ImageExtent) -> TransformMemoryNeed {
        var (made, held, most) = (input, 0, 0)
        for transformer in transformers {
            let need = transformer.memoryNeed(of: made)
            most = max(most, held + need.totalByteCount)
            (made, held) = (need.output, need.output.byteCount)
        }
        return TransformMemoryNeed(output: made, workingByteCount: most - held)
    }
}
