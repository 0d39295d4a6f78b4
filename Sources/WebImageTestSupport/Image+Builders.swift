public import WebImage

extension Image {
    /// Makes an image of one colour.
    ///
    /// - Parameters:
    ///   - color: The colour; the image has alpha unless it is opaque.
    ///   - width: The number of pixels across, at least 1.
    ///   - height: The number of pixels down, at least 1.
    /// - Throws: ``WebImageError/Code/outOfMemory``.
    public static func solid(_ color: ImageColor, width: Int = 16, height: Int = 16) throws(WebImageError) -> Image {
        try drawn(width, height, hasAlpha: color.alpha < 1) { _, _ in color }
    }

    /// Makes an image whose colour changes from the left to the right.
    ///
    /// - Throws: ``WebImageError/Code/outOfMemory``.
    public static func gradient(
        from first: ImageColor,
        to last: ImageColor,
        width: Int = 16,
        height: Int = 16
    ) throws(WebImageError) -> Image {
        try drawn(width, height, hasAlpha: first.alpha < 1 || last.alpha < 1) { x, _ in
            let share = width > 1 ? Double(x) / Double(width - 1) : 0
            func mix(_ first: Double, _ last: Double) -> Double { first + (last - first) * share }
            return ImageColor(
                red: mix(first.red, last.red),
                green: mix(first.green, last.green),
                blue: mix(first.blue, last.blue),
                alpha: mix(first.alpha, last.alpha)
            )
        }
    }

    /// Makes an image that shows a number, white on a colour that is different for each of ten successive numbers. The corners have the colour.
    ///
    /// - Throws: ``WebImageError/Code/outOfMemory``.
    public static func numbered(_ number: Int, width: Int = 32, height: Int = 32) throws(WebImageError) -> Image {
        let digits = Digits(number)
        let scale = max(min((width - 2) / digits.width, (height - 2) / Digits.height), 1)
        let (left, top) = ((width - digits.width * scale) / 2, (height - Digits.height * scale) / 2)
        let background = Digits.color(of: number)
        return try drawn(width, height, hasAlpha: false) { x, y in
            guard x >= left, y >= top else { return background }
            return digits.isSet((x - left) / scale, (y - top) / scale) ? .white : background
        }
    }

    /// Makes an animated image of numbered frames, from 0.
    ///
    /// - Parameters:
    ///   - frameCount: The number of frames, at least 2.
    ///   - frameDuration: The duration of each frame in seconds.
    ///   - loopCount: The number of times the animation plays; 0 means forever.
    ///   - width: The number of pixels across.
    ///   - height: The number of pixels down.
    /// - Throws: ``WebImageError/Code/outOfMemory``.
    public static func animated(
        frameCount: Int,
        frameDuration: Double = 0.1,
        loopCount: Int = 0,
        width: Int = 32,
        height: Int = 32
    ) throws(WebImageError) -> Image {
        var frames: [ImageFrame] = []
        for number in 0..<max(frameCount, 2) {
            frames.append(
                ImageFrame(image: try numbered(number, width: width, height: height), duration: frameDuration)
            )
        }
        let first = frames[0].image
        guard let sequence = ImageFrameSequence(frames: frames, loopCount: loopCount) else { return first }
        let animation = try AnimatedImage(provider: sequence)
        return Image(bitmap: first.bitmap, metadata: animation.image.metadata, animation: animation)
    }

    private static func drawn(
        _ width: Int,
        _ height: Int,
        hasAlpha: Bool,
        _ color: (_ x: Int, _ y: Int) -> ImageColor
    ) throws(WebImageError) -> Image {
        let format = hasAlpha ? PixelFormat.bgra8Premultiplied : .rgb8
        let bitmap = try Bitmap.allocate(width: max(width, 1), height: max(height, 1), pixelFormat: format)
        func byte(_ value: Double) -> UInt8 { UInt8((value * 255).rounded()) }
        for y in 0..<bitmap.height {
            let row = bitmap.mutableRow(y).assumingMemoryBound(to: UInt8.self)
            for x in 0..<bitmap.width {
                let (color, pixel) = (color(x, y), row + x * format.bytesPerPixel)
                if hasAlpha {
                    pixel[0] = byte(color.blue * color.alpha)
                    pixel[1] = byte(color.green * color.alpha)
                    pixel[2] = byte(color.red * color.alpha)
                    pixel[3] = byte(color.alpha)
                } else {
                    pixel[0] = byte(color.red)
                    pixel[1] = byte(color.green)
                    pixel[2] = byte(color.blue)
                }
            }
        }
        return Image(bitmap: bitmap)
    }
}

/// A number in a font of 3 × 5 pixels.
private struct Digits {
    static let height = 5
    /// The rows of each character from the top, 3 bits each; the last one is the minus sign.
    private static let font: [[UInt8]] = [
        [7, 5, 5, 5, 7], [2, 6, 2, 2, 7], [7, 1, 7, 4, 7], [7, 1, 7, 1, 7], [5, 5, 7, 1, 1], [7, 4, 7, 1, 7],
        [7, 4, 7, 5, 7], [7, 1, 1, 2, 2], [7, 5, 7, 5, 7], [7, 5, 7, 1, 7], [0, 0, 7, 0, 0],
    ]
    private let characters: [[UInt8]]

    init(_ number: Int) { characters = String(number).map { Self.font[$0.wholeNumberValue ?? 10] } }

    var width: Int { characters.count * 4 - 1 }

    func isSet(_ x: Int, _ y: Int) -> Bool {
        guard x / 4 < characters.count, x % 4 < 3, y < Self.height else { return false }
        return characters[x / 4][y] & (4 >> UInt8(x % 4)) != 0
    }

    static func color(of number: Int) -> ImageColor {
        let parts = [
            0x80_0000, 0x00_8000, 0x00_0080, 0x80_8000, 0x80_0080, 0x00_8080, 0xC0_4000, 0x40_00C0, 0x40_4040,
            0x60_3010,
        ]
        let part = parts[Int(number.magnitude % 10)]
        return ImageColor(
            red: Double(part >> 16) / 255,
            green: Double(part >> 8 & 255) / 255,
            blue: Double(part & 255) / 255
        )
    }
}
