package import FoundationEssentials

/// The bytes of a file that is read in parts, because it is far bigger than what a decoder needs of it: a video.
package protocol ImageByteSource: AnyObject, Sendable {
    /// The length of the file.
    var byteCount: Int { get }
    /// The first bytes, from which the format is detected.
    var beginning: Data { get }
    /// The bytes that count as undecoded until the source is released (back-pressure): those in memory, and a megabyte for a file descriptor.
    var heldByteCount: Int { get }
    /// Reads bytes from an offset on, and blocks until they are there.
    ///
    /// - Returns: the number of bytes, which can be less than the buffer has room for; 0 only at the end of the file.
    func read(at offset: Int, into buffer: UnsafeMutableRawBufferPointer) throws(WebImageError) -> Int
    /// Reads in the same way while a condition is true. A source that may wait for long ends the wait once it is false.
    ///
    /// - Throws: also ``WebImageError/Code/cancelled``.
    func read(
        at offset: Int,
        into buffer: UnsafeMutableRawBufferPointer,
        while isWanted: () -> Bool
    ) throws(WebImageError) -> Int
}

extension ImageByteSource {
    package var heldByteCount: Int { 0 }

    package func read(
        at offset: Int,
        into buffer: UnsafeMutableRawBufferPointer,
        while isWanted: () -> Bool
    ) throws(WebImageError) -> Int {
        guard isWanted() else { throw .cancelled() }
        return try read(at: offset, into: buffer)
    }

    /// Reads that many bytes, fewer only at the end of the file.
    package func read(at offset: Int, count: Int) throws(WebImageError) -> Data {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: max(count, 1), alignment: 1)
        defer { buffer.deallocate() }
        var done = 0
        while done < count {
            let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[done..<count])
            let read = try read(at: offset + done, into: rest)
            guard read > 0 else { break }
            done += read
        }
        return Data(buffer.prefix(done))
    }
}

/// A coder that decodes files of which it reads only parts.
package protocol ByteSourceCoder: ImageCoder {
    /// Reads the properties.
    func properties(of source: any ImageByteSource, limits: ImageLimits) throws(WebImageError) -> ImageProperties
    /// Returns an estimate of the memory that a decode needs.
    func memoryNeed(of source: any ImageByteSource, options: ImageDecodeOptions) throws(WebImageError)
        -> DecodeMemoryNeed
    /// Decodes an image. ``ImageLimits/maximumEncodedByteCount`` does not apply.
    func decode(_ source: any ImageByteSource, options: ImageDecodeOptions) throws(WebImageError) -> Image
}

extension ImageCoder {
    /// Returns this coder if it decodes files that are read in parts.
    ///
    /// - Throws: ``WebImageError/Code/unsupportedFormat``.
    package func decodingSources(of format: ImageFormat) throws(WebImageError) -> any ByteSourceCoder {
        if let coder = self as? any ByteSourceCoder { return coder }
        throw WebImageError(.unsupportedFormat, "no coder is registered for \(format)")
    }
}
