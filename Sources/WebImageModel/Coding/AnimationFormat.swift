extension AnimatedImageEncoder {
    /// Returns the format for an animation whose own format is unknown or cannot be written: a lossless one if this coder writes one.
    ///
    /// GIF if it holds every frame exactly: at most 256 colours per frame, no translucent pixels, durations of whole hundredths of a second. Else
    /// APNG, which holds all colours, alpha and durations. For a coder that does not write APNG, WebP, or else GIF with fewer colours.
    ///
    /// With ``ImageEncodeOptions/maxFileSize`` a lossy format is preferred: WebP, whose quality can be lowered, then GIF, then APNG. PNG if the coder
    /// writes no animations.
    ///
    /// Cost: frames are decoded up to the first one that GIF cannot hold, usually frame 0.
    package func format(of animation: any AnimatedImageProvider, options: ImageEncodeOptions) -> ImageFormat {
        let isLimited = options.maxFileSize > 0
        if !isLimited, canEncodeAnimation(to: .gif), GIFSuitability.isExact(animation, options) { return .gif }
        let formats: [ImageFormat] = isLimited ? [.webp, .gif, .png] : [.png, .webp, .gif]
        return formats.first { canEncodeAnimation(to: $0) } ?? .png
    }
}

/// Decides if GIF holds an animation without loss.
private enum GIFSuitability {
    private static let mostColors = 256
    private static let longestSide = 65_535

    static func isExact(_ animation: any AnimatedImageProvider, _ options: ImageEncodeOptions) -> Bool {
        let count = animation.frameCount
        guard count > 1, !options.encodeFirstFrameOnly, (options.loopCount ?? animation.loopCount) <= 65_535,
            (0..<count).allSatisfy({ isExact(duration: animation.duration(at: $0)) })
        else { return false }
        var colors = ColorSet(capacity: Self.mostColors)
        return (0..<count).allSatisfy { index in
            // Encoding follows, and throws the same errors.
            do throws(WebImageError) {
                try options.deadline?.check()
                return isExact(try animation.frame(at: index), options, &colors)
            } catch {
                return false
            }
        }
    }

    /// Programs show durations below 0.02 s for longer.
    private static func isExact(duration: Double) -> Bool {
        let ticks = FrameDuration.usable(duration) * 100
        return ticks > 1.5 && ticks < 65_535.5 && abs(ticks - ticks.rounded()) < 1e-6
    }

    private static func isExact(_ frame: Image, _ options: ImageEncodeOptions, _ colors: inout ColorSet) -> Bool {
        let bitmap = frame.bitmap
        guard bitmap.pixelFormat != .rgbaHalfPremultiplied, max(bitmap.width, bitmap.height) <= Self.longestSide else {
            return false
        }
        // Scaling mixes colours.
        if let box = options.maxPixelSize, box.isUsable {
            let swaps = frame.orientation.swapsSides
            let (width, height) = swaps ? (bitmap.height, bitmap.width) : (bitmap.width, bitmap.height)
            guard DecodePlan.fit(width: width, height: height, box: box) == (width, height) else { return false }
        }
        colors.removeAll()
        let step = bitmap.pixelFormat.bytesPerPixel
        // Transparency takes the place of a colour.
        var mostColors = Self.mostColors
        for row in 0..<bitmap.height {
            let pixels = UnsafeRawBufferPointer(start: bitmap.mutableRow(row), count: bitmap.width * step)
            for offset in stride(from: 0, to: pixels.count, by: step) {
                if step == 4, pixels[offset + 3] != 255 {
                    guard pixels[offset + 3] == 0 else { return false }
                    mostColors = Self.mostColors - 1
                } else {
                    let (low, middle, high) = (pixels[offset], pixels[offset + 1], pixels[offset + 2])
                    let color = UInt32(low) | UInt32(middle) << 8 | UInt32(high) << 16
                    guard colors.insert(color) else { return false }
                }
            }
            guard colors.count <= mostColors else { return false }
        }
        return true
    }
}

/// A set of a few colours of 24 bits.
private struct ColorSet {
    private static let empty = UInt32.max
    private var table: [UInt32]
    private var last = empty
    private let capacity: Int
    private(set) var count = 0

    /// - Parameter capacity: a power of two.
    init(capacity: Int) {
        self.capacity = capacity
        table = [UInt32](repeating: Self.empty, count: 4 * capacity)
    }

    mutating func removeAll() {
        for index in table.indices { table[index] = Self.empty }
        (last, count) = (Self.empty, 0)
    }

    /// Adds a colour; returns false if the set is full.
    mutating func insert(_ color: UInt32) -> Bool {
        // Neighbouring pixels are often equal.
        guard color != last else { return true }
        last = color
        var place = Int((color &* 0x9E37_79B1) >> 22) & (table.count - 1)
        while table[place] != Self.empty {
            if table[place] == color { return true }
            place = (place + 1) & (table.count - 1)
        }
        guard count < capacity else { return false }
        table[place] = color
        count += 1
        return true
    }
}
