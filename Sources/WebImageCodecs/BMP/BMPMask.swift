/// The location of one colour component in a pixel of 16 or 32 bits.
struct BMPMask: Sendable, Hashable {
    /// The bits; 0 for a component that the pixels do not have.
    let bits: UInt32
    private let shift: UInt32
    private let top: UInt64

    init(_ bits: UInt32) {
        self.bits = bits
        shift = bits == 0 ? 0 : UInt32(bits.trailingZeroBitCount)
        top = UInt64(bits >> shift)
    }

    /// Returns the component's level, scaled from all its bits to eight and rounded to nearest; 0 without bits.
    @inline(__always)
    func level(of pixel: UInt32) -> UInt8 {
        guard top != 0 else { return 0 }
        if top == 255 { return UInt8(truncatingIfNeeded: (pixel & bits) >> shift) }
        return UInt8((UInt64((pixel & bits) >> shift) * 255 + top / 2) / top)
    }
}
