/// What a codec's own header says of a picture, whatever the boxes around it say: a decoder takes memory for this.
package struct CodedPicture: Sendable, Hashable {
    package var width: Int
    package var height: Int
    /// Samples of all planes for two pixels: 2 of grey, 3 of 4:2:0, 4 of 4:2:2, 6 of 4:4:4.
    package var samplesPerTwoPixels: Int
    package var bitsPerSample: Int
    /// Whether grain may be laid over it when it has been decoded, which takes planes of its own.
    package var hasGrain: Bool

    package init(width: Int, height: Int, samplesPerTwoPixels: Int, bitsPerSample: Int, hasGrain: Bool = false) {
        self.width = width
        self.height = height
        self.samplesPerTwoPixels = samplesPerTwoPixels
        self.bitsPerSample = bitsPerSample
        self.hasGrain = hasGrain
    }

    /// Bytes of the planes that a decoder fills.
    package func planeByteCount(pixelCount: Int) -> Int {
        let (samples, overflow) = pixelCount.multipliedReportingOverflow(by: samplesPerTwoPixels)
        let bytes = overflow ? .max / 2 : samples / 2
        return bitsPerSample > 8 ? bytes * 2 : bytes
    }

    package var planeByteCount: Int {
        let (pixels, overflow) = width.multipliedReportingOverflow(by: height)
        return planeByteCount(pixelCount: overflow ? .max : pixels)
    }
}
