extension TIFFSamples {
    /// Converts each sample of a channel to a float, four floats apart in `output`: integers to 0...1 over their whole range, floating point
    /// unchanged, NaN to 0.
    func widen(_ place: Place, count: Int, channel: Int, to output: UnsafeMutablePointer<Float>) {
        let isInverted = pixels.isInverted && channel != pixels.alpha
        if pixels.isFloat {
            for index in 0..<count {
                let value = Float(Self.real(place, index, bits: pixels.bits))
                // The range of half floats, beyond which they would be infinite.
                let number = value.isNaN ? 0 : min(max(value, -65_504), 65_504)
                output[4 * index] = isInverted ? 1 - number : number
            }
        } else {
            let isSigned = pixels.isSigned || pixels.hasSignedColors && channel > 0 && channel != pixels.alpha
            let most = pixels.bits == 32 ? 4_294_967_295 : Double((1 << pixels.bits) - 1)
            let sign = isSigned ? 1 << (pixels.bits - 1) : 0
            forEachNumber(place, count) { index, number in
                let value = Double(number ^ sign) / most
                output[4 * index] = Float(isInverted ? 1 - value : value)
            }
        }
    }
}
