import FoundationEssentials
package import WebImageCodecs

/// A composed animation that logs its decodes. Each frame is 4 × 4 pixels on a canvas of 8 × 4, with its own position
/// and colour.
package struct DrawnAnimation {
    package let animation: ComposedAnimation
    private let log: Lock<[Int]>

    /// - Parameters:
    ///   - frames: By default frames that stay, so that each needs all before it.
    ///   - bad: The frames that cannot be decoded.
    ///   - former: An animation with fewer frames to continue.
    ///   - willDecode: Called before a frame is decoded.
    package init(
        count: Int,
        size: (width: Int, height: Int) = (8, 4),
        frames: [AnimationFrame]? = nil,
        bad: Set<Int> = [],
        options: ImageDecodeOptions = ImageDecodeOptions(),
        continuing former: ComposedAnimation? = nil,
        willDecode: @escaping @Sendable (Int) -> Void = { _ in }
    ) throws {
        let log = Lock<[Int]>([])
        self.log = log
        let frames = frames ?? Self.kept(count)
        var properties = ImageProperties(format: .gif, width: size.width, height: size.height)
        properties.frameCount = frames.count
        animation = try ComposedAnimation(
            Data(),
            frames: frames,
            properties: properties,
            options: options,
            continuing: former
        ) { (index) throws(WebImageError) in
            willDecode(index)
            log.withLock { $0.append(index) }
            guard !bad.contains(index) else { throw WebImageError(.badImageData, "bad") }
            let (width, height) = (max(frames[index].width, 1), max(frames[index].height, 1))
            let bitmap = try Bitmap.allocate(width: width, height: height, pixelFormat: .bgra8Premultiplied)
            for row in 0..<height {
                let bytes = bitmap.mutableRow(row).assumingMemoryBound(to: UInt8.self)
                for x in 0..<width { Self.paint(bytes + x * 4, index, isClear: (x + row + index) % 3 == 0) }
            }
            return bitmap
        }
    }

    /// Frames that stay where they were drawn.
    package static func kept(_ count: Int) -> [AnimationFrame] {
        (0..<count).map { AnimationFrame(left: $0 % 5, width: 4, height: 4, duration: 0.1, disposal: .keep) }
    }

    /// Decoded frames, in order.
    package var decoded: [Int] { log.withLock { $0 } }
    package func forget() { log.withLock { $0 = [] } }

    private static func paint(_ pixel: UnsafeMutablePointer<UInt8>, _ index: Int, isClear: Bool) {
        let number = UInt8(truncatingIfNeeded: index &* 37 &+ 11)
        for component in 0..<3 { pixel[component] = isClear ? 0 : number &* UInt8(component + 1) }
        pixel[3] = isClear ? 0 : 255
    }
}
