/// The format of an image according to the codec's own bitstream header. Decoders allocate memory by this, whatever the container's boxes
/// state.
package struct BitstreamHeader: Sendable, Hashable {
    package var width: Int
    package var height: Int
    /// The number of samples of all planes for two pixels: 2 for grey, 3 for 4:2:0, 4 for 4:2:2, 6 for 4:4:4.
    package var samplesPerTwoPixels: Int
    package var bitsPerSample: Int
    /// A Boolean value that indicates whether film grain may be applied after decoding, which needs a second set of planes.
    package var hasGrain: Bool

    package init(width: Int, height: Int, samplesPerTwoPixels: Int, bitsPerSample: Int, hasGrain: Bool = false) {
        self.width = width
        self.height = height
        self.samplesPerTwoPixels = samplesPerTwoPixels
        self.bitsPerSample = bitsPerSample
        self.hasGrain = hasGrain
    }

    /// Returns the number of bytes of the planes that a decoder fills.
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
