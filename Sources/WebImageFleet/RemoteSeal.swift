import FoundationEssentials
import WebImageCache

/// Message authentication codes at the end of a value, by which machines with a secret recognise what others with it have stored.
///
///     file │ code of image and records, codes of both slots (32 bytes each), mark (8 bytes)
///
/// The codes are HMAC-SHA256. They cover the name, so a value cannot be moved to another name. Slots have their own, so that an amendment can
/// replace one of them with its code, without the image.
struct RemoteSeal: Sendable, Hashable {
    private static let mark = Data("\u{1a}WISEAL1".utf8)
    private static let codeByteCount = SHA256.byteCount
    static let byteCount = 3 * codeByteCount + mark.count

    /// The result of opening a value.
    enum Opened: Sendable, Hashable {
        case file(Data)
        /// It has no code, or a wrong one.
        case refused
    }

    /// The first one seals; values that any of them has sealed are accepted. Without secrets, nothing is sealed, and all values are accepted.
    private let secrets: [Data]

    /// - Parameter secrets: those that are empty are ignored.
    init(_ secrets: [Data] = []) { self.secrets = secrets.filter { !$0.isEmpty } }

    // MARK: Values

    /// Returns the value for a file.
    func seal(_ file: Data, as name: String) -> Data? {
        guard let secret = secrets.first else { return file }
        guard let layout = EntryFile.layout(of: file), let codes = Self.codes(of: file, layout, name, secret) else {
            return nil
        }
        return file + codes.reduce(Data(), +) + Self.mark
    }

    /// Returns the file in a value.
    func open(_ value: Data, as name: String) -> Opened {
        guard value.count >= Self.byteCount, value.suffix(Self.mark.count) == Self.mark else {
            return secrets.isEmpty ? .file(value) : .refused
        }
        let file = value.prefix(value.count - Self.byteCount)
        guard !secrets.isEmpty else { return .file(Data(file)) }
        let given = Data(value[file.endIndex...].dropLast(Self.mark.count))
        guard let layout = EntryFile.layout(of: file) else { return .refused }
        for secret in secrets {
            guard let codes = Self.codes(of: file, layout, name, secret) else { continue }
            if Self.areEqual(codes.reduce(Data(), +), given) { return .file(Data(file)) }
        }
        return .refused
    }

    private static func areEqual(_ first: Data, _ second: Data) -> Bool {
        guard first.count == second.count else { return false }
        return zip(first, second).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }

    // MARK: Amendments

    /// Returns the end of the file within the end of a value, and whether the value is sealed.
    func end(of value: Data) -> (file: Data, isSealed: Bool) {
        guard value.count >= Self.byteCount, value.suffix(Self.mark.count) == Self.mark else { return (value, false) }
        return (Data(value.dropLast(Self.byteCount)), true)
    }

    /// Returns the pieces of a value that an amendment changes; nil if it cannot be sealed.
    ///
    /// - Parameters:
    ///   - change: the change of the file.
    ///   - end: the end of the value.
    ///   - byteCount: the length of the file.
    func pieces(of change: EntryFile.Amendment, end: Data, byteCount: Int) -> [RemotePiece]? {
        let slot = RemotePiece(offset: change.offset, bytes: change.bytes)
        let (_, isSealed) = self.end(of: end)
        guard isSealed else { return secrets.isEmpty ? [slot] : nil }
        let seal = end.suffix(Self.byteCount)
        guard let secret = secrets.first,
            let code = Self.code(ofSlot: change.index, change.bytes, seal.prefix(Self.codeByteCount), secret)
        else { return nil }
        return [slot, RemotePiece(offset: byteCount + (1 + change.index) * Self.codeByteCount, bytes: code)]
    }

    // MARK: Codes

    private static func codes(of file: Data, _ layout: EntryFile.Layout, _ name: String, _ secret: Data) -> [Data]? {
        let start = file.startIndex
        let slots = layout.slots
        guard let image = code(of: file.prefix(layout.imageByteCount), secret),
            let records = code(of: file[(start + layout.recordsOffset)...], secret),
            let whole = code(of: Data("wi1 entry \(name)\n".utf8) + image + records, secret)
        else { return nil }
        let codes = slots.enumerated().compactMap { index, range in
            code(ofSlot: index, file[(start + range.lowerBound)..<(start + range.upperBound)], whole, secret)
        }
        guard codes.count == slots.count else { return nil }
        // A file without slots has nothing that could be amended.
        return [whole] + (codes.isEmpty ? [whole, whole] : codes)
    }

    /// - Parameter bytes: the used bytes of the slot.
    private static func code(ofSlot index: Int, _ bytes: Data, _ whole: Data, _ secret: Data) -> Data? {
        code(of: Data("wi1 slot \(index)\n".utf8) + whole + bytes, secret)
    }

    private static func code(of bytes: Data, _ secret: Data) -> Data? {
        SHA256.code(of: bytes, key: secret).map { Data($0) }
    }
}
