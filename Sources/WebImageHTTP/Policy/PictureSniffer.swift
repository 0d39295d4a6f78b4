package import FoundationEssentials

/// Tells from the first bytes of a body whether it can be a picture. Pure.
package struct PictureSniffer: Sendable {
    enum Verdict: Equatable {
        case picture(ImageFormat)
        /// More bytes are needed.
        case undecided
        case refused(WebImageError)
    }

    /// The formats that are taken.
    let formats: Set<ImageFormat>

    package init(formats: Set<ImageFormat>) { self.formats = formats }

    /// No format but SVG has its signature further in than this.
    static let signatureLength = 32
    /// How far into a document its root element may begin, and how much of a file's list of brands is waited for.
    static let textLength = 64 << 10
    private static let brandLength = 1040

    /// What can be said of a body.
    ///
    /// - Parameters:
    ///   - bytes: all of it that has come.
    ///   - isWhole: whether that is all there is.
    func verdict(_ bytes: UnsafeRawBufferPointer, isWhole: Bool) -> Verdict {
        if Self.isText(bytes) { return textVerdict(bytes, isWhole: isWhole) }
        guard isWhole || bytes.count >= Self.signatureLength else { return .undecided }
        if !isWhole, Self.lacksBrands(bytes) { return .undecided }
        return verdict(of: ImageFormat(detecting: bytes))
    }

    func verdict(_ data: Data, isWhole: Bool) -> Verdict { data.withUnsafeBytes { verdict($0, isWhole: isWhole) } }

    /// What is wrong with a whole body, or nil.
    package func problem(of data: Data) -> WebImageError? {
        switch verdict(data, isWhole: true) {
        case .picture: nil
        case .refused(let error): error
        case .undecided: Self.noPicture
        }
    }

    private func verdict(of format: ImageFormat) -> Verdict {
        if formats.contains(format) { return .picture(format) }
        guard format != .undefined else { return .refused(Self.noPicture) }
        return .refused(WebImageError(.unsupportedFormat, "pictures of the format \(format) are refused"))
    }

    private static let noPicture = WebImageError(.badImageData, "the body is not a picture of a known format")

    // MARK: Text

    /// Whether it begins like a document, or with what may stand before one.
    private static func isText(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var rest = bytes[...]
        if rest.starts(with: [0xEF, 0xBB, 0xBF]) { rest = rest.dropFirst(3) }
        let first = rest.first { $0 != 0x20 && !(0x09...0x0D).contains($0) }
        return first == nil || first == UInt8(ascii: "<")
    }

    private func textVerdict(_ bytes: UnsafeRawBufferPointer, isWhole: Bool) -> Verdict {
        let start = UnsafeRawBufferPointer(rebasing: bytes.prefix(Self.textLength))
        if isWhole { return verdict(of: ImageFormat(detecting: bytes)) }
        // Up to the last tag that is whole: half a name is none.
        guard let end = start.lastIndex(of: UInt8(ascii: ">")) else {
            return bytes.count < Self.textLength ? .undecided : .refused(Self.noPicture)
        }
        switch SVGSniffer.root(of: UnsafeRawBufferPointer(rebasing: start[...end])) {
        case .svg: return verdict(of: .svg)
        case .other: return .refused(Self.noPicture)
        case .outOfSight: return bytes.count < Self.textLength ? .undecided : .refused(Self.noPicture)
        }
    }

    // MARK: Brands

    /// Whether it is a file of the ISO family whose list of brands has not come to its end.
    private static func lacksBrands(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard bytes.count >= 12, bytes[4..<8].elementsEqual("ftyp".utf8) else { return false }
        let size = Int(UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: 0, as: UInt32.self)))
        // A box of no length goes on to the end of the file.
        return bytes.count < min(size == 0 ? brandLength : size, brandLength)
    }
}
