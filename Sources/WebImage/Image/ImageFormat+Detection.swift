public import FoundationEssentials

extension ImageFormat {
    /// The format that the first bytes (for SVG also the last) tell; ``undefined`` when they tell none.
    public init(detecting data: Data) {
        self = .undefined
    }
}
