/// Several transformers, applied in order.
///
/// Loads share common prefixes: `resize + blur` reuses the `resize` result that another load computes or that is in memory.
public struct PipelineTransformer: ImageTransformer {
    /// The transformers in the order in which they are applied.
    public let transformers: [any ImageTransformer]

    /// Creates a chain of transformers.
    public init(_ transformers: [any ImageTransformer]) { self.transformers = transformers }

    /// The keys of the transformers, joined with "-".
    public var transformerKey: String { transformers.map(\.transformerKey).joined(separator: "-") }

    /// False: every transformer of the chain decides for its own step.
    public var preservesImageMetadata: Bool { false }

    /// True if all transformers of the chain are.
    public var isSizeCovariant: Bool { transformers.allSatisfy(\.isSizeCovariant) }

    /// Applies all transformers; the first error ends the chain.
    public func transform(_ image: Image) throws(WebImageError) -> Image {
        var image = image
        for transformer in transformers { image = try transformer.apply(to: image) }
        return image
    }

    /// The chain with nested chains flattened.
    package var flattened: [any ImageTransformer] {
        transformers.flatMap { ($0 as? PipelineTransformer)?.flattened ?? [$0] }
    }

    /// Returns the memory cost of the step that needs the most, including its input if an earlier step made that.
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
