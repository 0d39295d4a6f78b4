import Glibc

/// An image in a string of 6 to about 30 characters, for a blurred placeholder: the format that Mastodon's API and others send.
///
/// The public BlurHash format of Wolt: the mean colour and the lowest frequencies of linear light, in base 83. Unlike a ``ThumbHash`` it has no
/// transparency and not the image's shape.
public struct BlurHash: Sendable, Hashable {
    /// The hash, as sent by a server: 6 characters for one component and 2 for each further one.
    public let string: String
    /// The number of components across, 1 to 9.
    public let xComponents: Int
    /// The number of components down, 1 to 9.
    public let yComponents: Int
    /// The digits of the string, 0 to 82.
    private let digits: [UInt8]

    /// Creates a hash from its string.
    ///
    /// - Throws: ``WebImageError/Code/badImageData`` if a character is not one of base 83, or the length is not that of the number of components.
    public init(_ string: String) throws(WebImageError) {
        let bytes = string.utf8.prefix(Self.digitCount(81) + 1)
        guard bytes.count >= Self.digitCount(1) else {
            throw WebImageError(.badImageData, "a BlurHash has at least 6 characters, not \(bytes.count)")
        }
        var digits: [UInt8] = []
        digits.reserveCapacity(bytes.count)
        for byte in bytes {
            guard byte < 128, case let digit = Self.values[Int(byte)], digit < 83 else {
                throw WebImageError(.badImageData, "a BlurHash has a character that is not a digit of base 83")
            }
            digits.append(digit)
        }
        guard digits[0] < 81 else {
            throw WebImageError(.badImageData, "a BlurHash declares more than 9 components down")
        }
        xComponents = Int(digits[0]) % 9 + 1
        yComponents = Int(digits[0]) / 9 + 1
        guard digits.count == Self.digitCount(xComponents * yComponents) else {
            throw WebImageError(
                .badImageData,
                "a BlurHash of \(xComponents) × \(yComponents) components has the wrong number of characters"
            )
        }
        self.string = string
        self.digits = digits
    }

    /// Creates a hash from its digits, which an encoder wrote.
    package init(digits: [UInt8]) throws(WebImageError) {
        try self.init(String(decoding: digits.map { Self.alphabet[Int($0)] }, as: UTF8.self))
    }

    private static func digitCount(_ components: Int) -> Int { 4 + 2 * components }

    private static let alphabet = Array(
        "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz#$%*+,-.:;=?@[]^_{|}~".utf8
    )

    /// The digit of each ASCII character; 83 for those that are not one.
    private static let values: [UInt8] = {
        var values = [UInt8](repeating: 83, count: 128)
        for (digit, character) in alphabet.enumerated() { values[Int(character)] = UInt8(digit) }
        return values
    }()

    /// Makes the placeholder. An image of 32 × 32 pixels takes less than 1 ms; views scale it up.
    ///
    /// - Parameters:
    ///   - width: The number of pixels across, 1 to 1024.
    ///   - height: The number of pixels down, 1 to 1024. The string does not contain the image's shape: pass sides in its ratio if it is known.
    ///   - punch: The factor for the contrast; more than 1 makes the colours stronger, 0 leaves only the mean colour. Values below 0 count as 0.
    /// - Throws: ``WebImageError/Code/limitExceeded`` for other sides, ``WebImageError/Code/outOfMemory``.
    public func makeImage(width: Int = 32, height: Int = 32, punch: Double = 1) throws(WebImageError) -> Image {
        guard (1...1024).contains(width), (1...1024).contains(height) else {
            throw WebImageError(
                .limitExceeded,
                "a BlurHash is drawn with 1 to 1024 pixels a side, not \(width) × \(height)"
            )
        }
        let bitmap = try Bitmap.allocate(width: width, height: height, pixelFormat: .rgb8)
        let waves = waves(punch: punch > 0 ? min(punch, 1000) : 0)
        let across = Self.cosines(xComponents, width)
        let down = Self.cosines(yComponents, height)
        var columns = [SIMD4<Double>](repeating: SIMD4(), count: xComponents)
        for y in 0..<height {
            // The sum over the waves down is the same for all pixels of a row.
            for column in 0..<xComponents {
                columns[column] = SIMD4()
                for row in 0..<yComponents { columns[column] += waves[row * xComponents + column] * down[row][y] }
            }
            let line = bitmap.mutableRow(y).assumingMemoryBound(to: UInt8.self)
            for x in 0..<width {
                var light = SIMD4<Double>()
                for column in 0..<xComponents { light += columns[column] * across[column][x] }
                for component in 0..<3 { line[x * 3 + component] = SRGBLight.byte(light[component]) }
            }
        }
        return Image(bitmap: bitmap)
    }

    /// The strength of each wave in linear light, row by row; the first is the mean colour.
    private func waves(punch: Double) -> [SIMD4<Double>] {
        func number(_ range: Range<Int>) -> Int { digits[range].reduce(0) { $0 * 83 + Int($1) } }
        let scale = Double(digits[1] + 1) / 166 * punch
        let mean = number(2..<6)
        // Numbers of five digits of base 16 and more, which no encoder writes, count as the strongest red.
        let color = [min(mean >> 16, 255), mean >> 8 & 255, mean & 255].map { SRGBLight.light(UInt8($0)) }
        var waves = [SIMD4(color[0], color[1], color[2], 0)]
        for index in 1..<xComponents * yComponents {
            let value = number(4 + 2 * index..<6 + 2 * index)
            let steps = [value / 361, value / 19 % 19, value % 19].map { Double($0 - 9) / 9 }
            let strengths = steps.map { $0 * abs($0) * scale }
            waves.append(SIMD4(strengths[0], strengths[1], strengths[2], 0))
        }
        return waves
    }

    /// The cosines along a side, for each component.
    package static func cosines(_ components: Int, _ length: Int) -> [[Double]] {
        (0..<components).map { component in
            let step = .pi * Double(component) / Double(length)
            return (0..<length).map { cos(step * Double($0)) }
        }
    }
}

extension BlurHash: CustomStringConvertible {
    /// The string.
    public var description: String { string }
}

/// The transfer curve of sRGB for 8 bits, as BlurHash defines it.
package enum SRGBLight {
    private static let lights: [Double] = (0...255).map {
        let code = Double($0) / 255
        return code <= 0.04045 ? code / 12.92 : pow((code + 0.055) / 1.055, 2.4)
    }

    /// Returns the linear light of a component, 0...1.
    package static func light(_ component: UInt8) -> Double { lights[Int(component)] }

    /// Returns the component nearest to a linear light.
    package static func byte(_ light: Double) -> UInt8 {
        let light = min(max(light, 0), 1)
        let code = light <= 0.0031308 ? light * 12.92 : 1.055 * pow(light, 1 / 2.4) - 0.055
        return UInt8(code * 255 + 0.5)
    }
}
