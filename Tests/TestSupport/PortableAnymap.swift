public import FoundationEssentials

/// Expected pixels as another program wrote them: PGM (P5), PPM (P6) or PAM (P7), 8 bits per sample.
public struct PortableAnymap: Sendable {
    /// The error of a malformed file.
    public struct Malformed: Error {
        /// The expected content.
        public let expected: String
    }

    /// Width in pixels.
    public private(set) var width = 0
    /// Height in pixels.
    public private(set) var height = 0
    /// Samples per pixel: 1 grey, 2 grey and alpha, 3 RGB, 4 RGB and straight alpha.
    public private(set) var channels = 0
    /// Row by row, without padding.
    public private(set) var samples: [UInt8] = []

    /// Pixels from memory.
    public init(width: Int, height: Int, channels: Int, samples: [UInt8]) {
        self.width = width
        self.height = height
        self.channels = channels
        self.samples = samples
    }

    /// Parses a file.
    ///
    /// - Throws: ``Malformed``.
    public init(_ data: Data) throws {
        let bytes = [UInt8](data)
        var position = 0
        let magic = Self.token(bytes, &position)
        var maximum = 0
        switch magic {
        case "P5", "P6":
            channels = magic == "P5" ? 1 : 3
            width = try Self.number(bytes, &position)
            height = try Self.number(bytes, &position)
            maximum = try Self.number(bytes, &position)
        case "P7":
            while true {
                let key = Self.token(bytes, &position)
                if key == "ENDHDR" { break }
                switch key {
                case "WIDTH": width = try Self.number(bytes, &position)
                case "HEIGHT": height = try Self.number(bytes, &position)
                case "DEPTH": channels = try Self.number(bytes, &position)
                case "MAXVAL": maximum = try Self.number(bytes, &position)
                case "TUPLTYPE": _ = Self.token(bytes, &position)
                default: throw Malformed(expected: "a header field, not '\(key)'")
                }
            }
        default: throw Malformed(expected: "P5, P6 or P7")
        }
        guard maximum == 255 else { throw Malformed(expected: "8 bits per sample") }
        samples = Array(bytes.dropFirst(position + 1))
        guard samples.count == width * height * channels else {
            throw Malformed(expected: "\(width * height * channels) samples, not \(samples.count)")
        }
    }

    /// The four components of a pixel, alpha 255 when there is none.
    public func rgba(x: Int, y: Int) -> [UInt8] {
        let start = (y * width + x) * channels
        // Slices and `map` are slow in code that is not optimized, and this is called for each pixel.
        return switch channels {
        case 1: [samples[start], samples[start], samples[start], 255]
        case 2: [samples[start], samples[start], samples[start], samples[start + 1]]
        case 3: [samples[start], samples[start + 1], samples[start + 2], 255]
        default: [samples[start], samples[start + 1], samples[start + 2], samples[start + 3]]
        }
    }

    private static func token(_ bytes: [UInt8], _ position: inout Int) -> String {
        while position < bytes.count {
            if bytes[position] == 0x23 {
                while position < bytes.count, bytes[position] != 0x0A { position += 1 }
            } else if bytes[position] > 0x20 {
                break
            }
            position += 1
        }
        let start = position
        while position < bytes.count, bytes[position] > 0x20 { position += 1 }
        return String(decoding: bytes[start..<position], as: UTF8.self)
    }

    private static func number(_ bytes: [UInt8], _ position: inout Int) throws -> Int {
        guard let number = Int(token(bytes, &position)) else { throw Malformed(expected: "a number") }
        return number
    }
}
