import CLinux
import FoundationEssentials
import Glibc

/// The parsed trailer of a cache file.
struct LoadedTrailer: Sendable {
    let footer: EntryFooter
    /// The content of the valid slot; nil if there are no slots, or neither is valid.
    let response: ResponseSlots.Content?
    let trailer: EntryTrailer

    /// Returns the trailer after a change. Records with equal values stay unchanged.
    func amended(by amendment: EntryAmendment) -> EntryTrailer {
        var result = trailer
        let amendment = amendment.applied(to: trailer.validators?.receivedHash ?? footer.contentHash)
        if let data = amendment.extendedData, data != trailer.extendedData { result.extendedData = data }
        if let validators = amendment.validators, validators != trailer.validators { result.validators = validators }
        if let added = amendment.variants?.variants, let variants = trailer.variants {
            result.variants = variants.adding(added)
        }
        return result
    }

    /// Returns the image's bytes with their metadata.
    func content(_ data: Data) -> CachedImageData {
        var content = CachedImageData(
            data: data,
            extendedData: trailer.extendedData,
            validators: trailer.validators,
            thumbHash: trailer.thumbHash
        )
        content.dataHash.value = footer.contentHash
        content.variants.value = trailer.variants
        return content
    }
}

/// A file that was read and verified.
package struct LoadedEntry: Sendable {
    let block: FileBlock
    let found: LoadedTrailer

    package var footer: EntryFooter { found.footer }
    var trailer: EntryTrailer { found.trailer }

    /// The file's state when it was opened.
    var status: stat { block.status }

    /// The image's bytes, without a copy.
    var data: Data { block.data(count: footer.bodyLength) }

    /// The image's bytes with their metadata.
    package var content: CachedImageData { found.content(data) }
}

/// Reads entries and verifies them: length, hashes, key.
struct EntryReader: Sendable {
    enum Outcome {
        /// A valid entry.
        case entry(LoadedEntry)
        /// The file does not exist.
        case absent
        /// The file must not be touched: not a regular file, an entry of another key, or an entry of a later version.
        case foreign
        /// The bytes differ from those that were stored.
        indirect case damaged(stat, reason: String)
        /// The file could not be opened.
        indirect case failed(SystemCallError)
    }

    /// Bigger files have their footer checked before they are read.
    private static let checkFirstSize = 64 << 20
    /// The number of bytes at the end that are read first if only the trailer is needed.
    private static let usualTrailerSize = 4096
    /// The number of attempts to read the slots again if the one written last is not valid.
    private static let slotReadings = 4
    /// The reason for a file that this library did not write, or did not write completely.
    static let noFooter = "there is no footer"

    let calls: FileCalls
    /// The directory of the names, whose files must belong to this user or to root; nil for arbitrary paths.
    var directory: DirectoryHandle?
    /// The owner of the directory, if the operation has just found out that this is the user or root: files nearly always belong to the same, and
    /// then the system is not asked for the user again.
    var owner: uid_t?

    /// Opens a file for reading, and optionally for writing; refuses symbolic links, and never blocks on a FIFO.
    func open(_ name: String, forWriting: Bool = false) throws(SystemCallError) -> (file: Int32, status: stat) {
        let flags = (forWriting ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY
        let file = name.withCString { calls.open(directory?.descriptor ?? AT_FDCWD, $0, flags) }
        // Most lookups are misses: creating the error must be cheap.
        guard file >= 0 else { throw error("open", name, -file) }
        var status = stat()
        guard fstat(file, &status) == 0 else {
            let number = errno
            _ = calls.close(file)
            throw error("fstat", name, number)
        }
        guard isTrusted(status) else {
            _ = calls.close(file)
            throw error("open", name, EPERM, refusal: "it belongs to another user")
        }
        return (file, status)
    }

    /// Returns whether a file belongs to this user or to root.
    private func isTrusted(_ status: stat) -> Bool {
        directory == nil || status.st_uid == owner || status.st_uid == 0 || status.st_uid == geteuid()
    }

    private func error(_ call: String, _ name: String, _ number: Int32, refusal: String? = nil) -> SystemCallError {
        SystemCallError(call: call, directory: directory?.path, path: name, number: number, refusal: refusal)
    }

    /// Reads the entry of `key` (of any key, if nil). Calls `accessed` for a valid entry, before the file is closed.
    func read(
        _ name: String,
        key: String?,
        mapped: Bool = false,
        accessed: (_ file: Int32, _ status: stat) -> Void = { _, _ in }
    ) -> Outcome {
        let (file, status): (Int32, stat)
        do throws(SystemCallError) { (file, status) = try open(name) } catch {
            if error.isAbsence { return .absent }
            return error.refusal != nil || [ELOOP, ENXIO].contains(error.number) ? .foreign : .failed(error)
        }
        defer { _ = calls.close(file) }
        guard status.st_mode & S_IFMT == S_IFREG else { return .foreign }
        let size = Int(status.st_size)
        do throws(EntryFooter.Failure) {
            if size > Self.checkFirstSize, try checkedTrailer(file, status: status) == nil {
                return .damaged(status, reason: Self.noFooter)
            }
        } catch { return .foreign }
        do throws(SystemCallError) {
            let block = try FileBlock.load(
                file,
                status: status,
                mapped: mapped,
                calls: calls,
                path: directory?.path(of: name) ?? name
            )
            let outcome = check(block, key: key, file)
            if case .entry = outcome { accessed(file, status) }
            return outcome
        } catch {
            // A read error of the disk is permanent; a lack of memory is not.
            return error.number == EIO ? .damaged(status, reason: error.description) : .failed(error)
        }
    }

    private func check(_ block: FileBlock, key: String?, _ file: Int32) -> Outcome {
        let footer: EntryFooter
        do throws(EntryFooter.Failure) {
            guard let found = try EntryFooter.read(from: block.bytes, fileSize: block.bytes.count) else {
                return .damaged(block.status, reason: "the records do not fit")
            }
            footer = found
        } catch {
            switch error {
            case .absent: return .damaged(block.status, reason: Self.noFooter)
            case .damaged: return .damaged(block.status, reason: "the trailer is damaged")
            case .unknownVersion: return .foreign
            }
        }
        let found = trailer(in: block.bytes, footer, file, expectedKey: key)
        if let key, found?.trailer.hasKey(key) != true { return .foreign }
        guard let found else { return .damaged(block.status, reason: "there is no key") }
        let body = UnsafeRawBufferPointer(rebasing: block.bytes[..<footer.bodyLength])
        guard Hashing.xxh3(body) == footer.bodyHash else {
            return .damaged(block.status, reason: "the bytes do not match their checksum")
        }
        return .entry(LoadedEntry(block: block, found: found))
    }

    /// Returns the trailer of an entry, without its bytes; nil if there is none. Reads only the end of the file; the bytes are not
    /// verified.
    func trailer(of name: String) -> LoadedTrailer? {
        guard let (file, status) = try? open(name) else { return nil }
        defer { _ = calls.close(file) }
        return status.st_mode & S_IFMT == S_IFREG ? trailer(file, status: status) : nil
    }

    /// Returns the trailer of an open file.
    func trailer(_ file: Int32, status: stat) -> LoadedTrailer? { try? checkedTrailer(file, status: status) }

    /// Returns the trailer of an open file. Throws only ``EntryFooter/Failure/unknownVersion``.
    private func checkedTrailer(_ file: Int32, status: stat) throws(EntryFooter.Failure) -> LoadedTrailer? {
        let size = Int(status.st_size)
        var length = min(size, Self.usualTrailerSize)
        while length >= EntryTrailer.footerSize {
            // The footer claims this length, which may be as large as the file, and larger than all memory.
            guard let base = malloc(length) else { return nil }
            defer { free(base) }
            guard read(file, into: base, count: length, at: size - length) else { return nil }
            let tail = UnsafeRawBufferPointer(start: base, count: length)
            do throws(EntryFooter.Failure) {
                if let footer = try EntryFooter.read(from: tail, fileSize: size), footer.trailerLength <= length {
                    return trailer(in: tail, footer, file)
                }
            } catch { if error == .unknownVersion { throw error } }
            guard length < size, let needed = EntryFooter.claimedTrailerLength(in: tail), needed > length,
                needed <= size
            else { return nil }
            length = needed
        }
        return nil
    }

    /// Returns the trailer in the bytes at the end of an entry.
    ///
    /// - Parameters:
    ///   - file: the open file, from which slots that were being written are read again; nil for none.
    ///   - expectedKey: a key that the file probably has.
    func trailer(
        in tail: UnsafeRawBufferPointer,
        _ footer: EntryFooter,
        _ file: Int32?,
        expectedKey: String? = nil
    ) -> LoadedTrailer? {
        let bytes = UnsafeRawBufferPointer(rebasing: tail.suffix(footer.trailerLength))
        let slotsLength = 2 * footer.slotSize
        let records = UnsafeRawBufferPointer(rebasing: bytes[slotsLength..<(slotsLength + footer.recordsLength)])
        guard var trailer = EntryTrailer(records: records, created: footer.created, expectedKey: expectedKey) else {
            return nil
        }
        let response = response(in: UnsafeRawBufferPointer(rebasing: bytes[..<slotsLength]), of: footer, file)
        if slotsLength > 0 { trailer.response = response.flatMap { $0.bytes.isEmpty ? nil : $0.bytes } }
        trailer.leastSlotSize = footer.slotSize
        return LoadedTrailer(footer: footer, response: response, trailer: trailer)
    }

    private func read(_ file: Int32, into buffer: UnsafeMutableRawPointer, count: Int, at offset: Int) -> Bool {
        (try? calls.readFully(file, into: buffer, count: count, at: offset, path: "")) != nil
    }

    /// Returns the content of the valid slot of an open entry.
    private func response(
        in bytes: UnsafeRawBufferPointer,
        of footer: EntryFooter,
        _ file: Int32?
    ) -> ResponseSlots.Content? {
        guard let slots = footer.slots else { return nil }
        var (newest, isLatest) = slots.content(of: bytes)
        guard !isLatest, let file else { return newest }
        // Writers changed the slots during the read, unless the bytes stay as they are: then the latest write has failed.
        var former = [UInt8](bytes)
        for _ in 0..<Self.slotReadings {
            var next = [UInt8](repeating: 0, count: 2 * slots.size)
            let content = next.withUnsafeMutableBytes { buffer -> (valid: ResponseSlots.Content?, isLatest: Bool)? in
                let offset = footer.slotsRange.lowerBound
                guard let base = buffer.baseAddress, read(file, into: base, count: buffer.count, at: offset) else {
                    return nil
                }
                return slots.content(of: UnsafeRawBufferPointer(buffer))
            }
            guard let content else { return newest }
            if content.isLatest || next == former { return content.valid }
            if let valid = content.valid, valid.sequence > newest?.sequence ?? 0 { newest = valid }
            former = next
        }
        return newest
    }
}
