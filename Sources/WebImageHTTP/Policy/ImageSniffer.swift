package import FoundationEssentials

/// Detects from the first bytes of a body whether it can be an image. Pure.
package struct ImageSniffer: Sendable {
    enum Verdict: Equatable {
        case image(ImageFormat)
        /// More bytes are needed.
        case undecided
        case refused(WebImageError)
    }

    /// The accepted formats.
    let formats: Set<ImageFormat>

    package init(formats: Set<ImageFormat>) { self.formats = formats }

    /// The maximum length of a signature, except those of SVG and PDF.
    static let signatureLength = 32
    /// The number of bytes of a document within which its root element must begin.
    static let textLength = 64 << 10
    /// The maximum number of bytes of an ISO `ftyp` box, which has the brand list, to wait for.
    private static let brandLength = 1040

    /// Returns the verdict on a body.
    ///
    /// - Parameters:
    ///   - bytes: all bytes that have arrived.
    ///   - isWhole: true if the body is complete.
    func verdict(_ bytes: UnsafeRawBufferPointer, isWhole: Bool) -> Verdict {
        if Self.isText(bytes) { return textVerdict(bytes, isWhole: isWhole) }
        guard isWhole || bytes.count >= Self.signatureLength else { return .undecided }
        if !isWhole, Self.lacksBrands(bytes) || Self.lacksDocumentType(bytes) { return .undecided }
        let format = ImageFormat(detecting: bytes)
        // Raw files of cameras begin like TIFF; the directories that show the difference may be at the end.
        if format == .tiff, !isWhole, formats.contains(.raw), !formats.contains(.tiff) { return .undecided }
        // The header of PDF may follow other bytes.
        let mayBePDF = format == .undefined && formats.contains(.pdf) && bytes.count < ImageFormat.pdfHeaderEnd
        return mayBePDF && !isWhole ? .undecided : verdict(of: format)
    }

    func verdict(_ data: Data, isWhole: Bool) -> Verdict { data.withUnsafeBytes { verdict($0, isWhole: isWhole) } }

    /// Returns the error for a complete body, or nil.
    package func problem(of data: Data) -> WebImageError? {
        switch verdict(data, isWhole: true) {
        case .image: nil
        case .refused(let error): error
        case .undecided: Self.noImage
        }
    }

    private func verdict(of format: ImageFormat) -> Verdict {
        if formats.contains(format) { return .image(format) }
        guard format != .undefined else { return .refused(Self.noImage) }
        return .refused(WebImageError(.unsupportedFormat, "images of the format \(format) are refused"))
    }

    private static let noImage = WebImageError(.badImageData, "the body is not an image of a known format")

    // MARK: Text

    /// Returns whether the body begins like a document, or with characters that may precede one.
    private static func isText(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var rest = bytes[...]
        if rest.starts(with: [0xEF, 0xBB, 0xBF]) { rest = rest.dropFirst(3) }
        let first = rest.first { $0 != 0x20 && !(0x09...0x0D).contains($0) }
        return first == nil || first == UInt8(ascii: "<")
    }

    private func textVerdict(_ bytes: UnsafeRawBufferPointer, isWhole: Bool) -> Verdict {
        let start = UnsafeRawBufferPointer(rebasing: bytes.prefix(Self.textLength))
        if isWhole { return verdict(of: ImageFormat(detecting: bytes)) }
        // Up to the last complete tag: a partial name must not be judged.
        guard let end = start.lastIndex(of: UInt8(ascii: ">")) else {
            return bytes.count < Self.textLength ? .undecided : .refused(Self.noImage)
        }
        switch SVGSniffer.root(of: UnsafeRawBufferPointer(rebasing: start[...end])) {
        case .svg: return verdict(of: .svg)
        case .other: return .refused(Self.noImage)
        case .outOfSight: return bytes.count < Self.textLength ? .undecided : .refused(Self.noImage)
        }
    }

    /// Returns whether the body is a Matroska file whose header, which distinguishes WebM, has not arrived completely.
    private static func lacksDocumentType(_ bytes: UnsafeRawBufferPointer) -> Bool {
        bytes.starts(with: [0x1A, 0x45, 0xDF, 0xA3]) && bytes.count < documentTypeLength
    }

    /// The number of bytes of a Matroska file to wait for.
    private static let documentTypeLength = 128

    // MARK: Brands

    /// Returns whether the body is an ISO media file whose brand list has not arrived completely.
    private static func lacksBrands(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard bytes.count >= 12, bytes[4..<8].elementsEqual("ftyp".utf8) else { return false }
        let size = Int(UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: 0, as: UInt32.self)))
        // A box of size 0 extends to the end of the file.
        return bytes.count < min(size == 0 ? brandLength : size, brandLength)
    }
}
