extension ThumbHash {
    /// The longer side of the sampled grid: twice the frequencies that a hash holds.
    private static let gridSide = 16
    /// The maximum number of samples per cell along one side.
    private static let mostSamples = 4

    /// Hashes an image in its upright orientation. Larger images are first scaled to fit into 100 × 100 pixels. Cost: about 2 ms.
    ///
    /// - Throws: ``WebImageError/Code/outOfMemory``.
    public init(_ image: Image) throws(WebImageError) {
        self.init(unchecked: ThumbHashEncoder(try HashedPixels(image)).bytes())
    }

    /// Hashes samples of an image in its upright orientation: about the same result as ``init(_:)`` in a hundredth of the time (20 µs at any size),
    /// negligible beside a decode.
    ///
    /// The aspect ratio is that of the original image in the file, also for a thumbnail that was stretched.
    ///
    /// - Throws: ``WebImageError/Code/outOfMemory``.
    package init(sampling image: Image) throws(WebImageError) {
        guard image.bitmap.pixelFormat == .rgb8 || image.bitmap.pixelFormat == .bgra8Premultiplied else {
            try self.init(image)
            return
        }
        let longest = max(image.pixelWidth, image.pixelHeight)
        let grid = try Bitmap.allocate(
            width: Self.cells(image.pixelWidth, of: longest),
            height: Self.cells(image.pixelHeight, of: longest),
            pixelFormat: image.bitmap.pixelFormat
        )
        Self.fill(grid, from: image.bitmap)
        let upright = try grid.upright(from: image.orientation)
        let metadata = image.metadata
        let isTurned = metadata.sourceOrientation.swapsSides
        let isKnown = metadata.sourceWidth > 0 && metadata.sourceHeight > 0
        let source =
            isTurned ? (metadata.sourceHeight, metadata.sourceWidth) : (metadata.sourceWidth, metadata.sourceHeight)
        let shape = isKnown ? source : (Int(image.size.width * image.scale), Int(image.size.height * image.scale))
        self.init(unchecked: ThumbHashEncoder(HashedPixels(upright), shape: shape).bytes())
    }

    private static func cells(_ side: Int, of longest: Int) -> Int {
        max(min(side, (side * gridSide + longest / 2) / longest), 1)
    }

    /// Fills each cell with the mean of samples spread evenly over it.
    private static func fill(_ grid: Bitmap, from bitmap: Bitmap) {
        let components = bitmap.pixelFormat.bytesPerPixel
        withOffsets(grid.width, bitmap.width, times: components) { columns, across in
            withOffsets(grid.height, bitmap.height, times: 1) { lines, down in
                withUnsafeTemporaryAllocation(of: SIMD2<UInt32>.self, capacity: grid.width) { sums in
                    let count = UInt32(across * down)
                    for row in 0..<grid.height {
                        sums.initialize(repeating: SIMD2())
                        for line in lines[row * down..<(row + 1) * down] {
                            let input = bitmap.mutableRow(line).assumingMemoryBound(to: UInt8.self)
                            add(input, columns, across, components, to: sums)
                        }
                        let output = grid.mutableRow(row).assumingMemoryBound(to: UInt8.self)
                        for column in 0..<grid.width {
                            let (even, odd) = (sums[column].x, sums[column].y)
                            let sum = SIMD4(even & 0xFFFF, odd & 0xFFFF, even >> 16, odd >> 16)
                            let mean = (sum &+ count / 2) / count
                            for component in 0..<components {
                                output[column * components + component] = UInt8(truncatingIfNeeded: mean[component])
                            }
                        }
                    }
                }
            }
        }
    }

    /// Adds `across` samples per cell of a line of three or four components. Even components are in the first number of a sum, odd ones in the
    /// second, with 16 bits each, which the samples of a cell cannot overflow.
    private static func add(
        _ line: UnsafePointer<UInt8>,
        _ columns: UnsafeBufferPointer<Int>,
        _ across: Int,
        _ components: Int,
        to sums: UnsafeMutableBufferPointer<SIMD2<UInt32>>
    ) {
        var sample = 0
        for cell in sums.indices {
            var (even, odd): (UInt32, UInt32) = (0, 0)
            for _ in 0..<across {
                let pixel = UnsafeRawPointer(line + columns[sample])
                // The last three-byte pixel may end the buffer.
                let value =
                    components == 4
                    ? UInt32(littleEndian: pixel.loadUnaligned(as: UInt32.self))
                    : UInt32(UInt16(littleEndian: pixel.loadUnaligned(as: UInt16.self)))
                        | UInt32(pixel.load(fromByteOffset: 2, as: UInt8.self)) << 16
                even &+= value & 0xFF_00FF
                odd &+= value >> 8 & 0xFF_00FF
                sample &+= 1
            }
            sums[cell] &+= SIMD2(even, odd)
        }
    }

    /// Computes the sample positions along a side, and the number of samples per cell: at most the cell's pixels.
    ///
    /// - Parameter step: the distance between two pixels of the side in the results' unit.
    private static func withOffsets(
        _ cells: Int,
        _ side: Int,
        times step: Int,
        _ body: (UnsafeBufferPointer<Int>, Int) -> Void
    ) {
        let perCell = min(mostSamples, (side + cells - 1) / cells)
        let count = cells * perCell
        withUnsafeTemporaryAllocation(of: Int.self, capacity: count) { offsets in
            for index in 0..<count { offsets[index] = min((2 * index + 1) * side / (2 * count), side - 1) * step }
            body(UnsafeBufferPointer(offsets), perCell)
        }
    }
}
