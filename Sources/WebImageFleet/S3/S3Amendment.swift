import FoundationEssentials

/// A change of a value's bytes in the metadata of its object, which can be replaced without sending the object again.
///
/// It consists of pairs of an offset and bytes in Base64: first bytes that the value must have, then those that replace others. A value
/// with other bytes is not changed, so it does not matter if the metadata get to another value than the one that was amended. The
/// result is verified like any other value.
struct S3Amendment: Sendable, Hashable {
    static let field = "x-amz-meta-wi1"
    /// S3 allows two kilobytes of metadata, with their names.
    static let mostBytes = 2000
    private static let mostPieces = 2

    private let condition: RemotePiece
    private let pieces: [RemotePiece]

    init(_ pieces: [RemotePiece], ifAt offset: Int, _ bytes: Data) {
        condition = RemotePiece(offset: offset, bytes: bytes)
        self.pieces = pieces
    }

    // MARK: Metadata

    /// Returns nil for a text of another form.
    init?(_ text: String) {
        guard text.utf8.count <= Self.mostBytes else { return nil }
        let words = text.split(separator: ",", omittingEmptySubsequences: false)
        guard words.count.isMultiple(of: 2), (2...(1 + Self.mostPieces)).contains(words.count / 2) else { return nil }
        let pieces = stride(from: 0, to: words.count, by: 2).compactMap { index -> RemotePiece? in
            guard let offset = Int(words[index]), (0...S3Client.mostBytes).contains(offset),
                let bytes = Data(base64Encoded: String(words[index + 1])), !bytes.isEmpty
            else { return nil }
            return RemotePiece(offset: offset, bytes: bytes)
        }
        guard pieces.count == words.count / 2 else { return nil }
        (condition, self.pieces) = (pieces[0], Array(pieces.dropFirst()))
    }

    /// The text; nil if it is too long.
    var text: String? {
        let words = ([condition] + pieces).flatMap { [String($0.offset), $0.bytes.base64EncodedString()] }
        let text = words.joined(separator: ",")
        return text.utf8.count <= Self.mostBytes ? text : nil
    }

    // MARK: Values

    /// Returns the amended value; the same value if it is not the one that was amended.
    func applied(to value: Data) -> Data {
        func range(_ piece: RemotePiece) -> Range<Int>? {
            let end = piece.offset + piece.bytes.count
            return end <= value.count ? value.startIndex + piece.offset..<value.startIndex + end : nil
        }
        guard let place = range(condition), value[place] == condition.bytes else { return value }
        var amended = value
        for piece in pieces {
            guard let place = range(piece) else { return value }
            amended.replaceSubrange(place, with: piece.bytes)
        }
        return amended
    }
}

extension S3Store {
    /// Reads the end of the object as it was written. Amendments replace each other, so each is made for these bytes.
    func readEnd(_ name: String, count: Int, completion: @escaping @Sendable ((end: Data, byteCount: Int)?) -> Void) {
        let operation = S3Client.Operation(
            method: "GET",
            name: Self.objectName(name),
            fields: ["range": "bytes=-\(count)"],
            patience: Self.writePatience,
            byteLimit: count,
            isPart: true
        )
        client.perform(operation) { result in
            guard case .success(let answer) = result else { return completion(nil) }
            completion(Self.byteCount(ofObjectWithEnd: answer).map { (answer.body, $0) })
        }
    }

    private static func byteCount(ofObjectWithEnd answer: S3Exchange.Answer) -> Int? {
        guard answer.statusCode == 206 else { return answer.body.count }
        guard let range = answer.headers["Content-Range"], let slash = range.lastIndex(of: "/"),
            let total = Int(range[range.index(after: slash)...]), total >= answer.body.count,
            range == "bytes \(total - answer.body.count)-\(total - 1)/\(total)"
        else { return nil }
        return total
    }

    /// Lets the service copy the object to itself, with other metadata. If these do not fit, other machines ask the server themselves.
    func overwrite(_ pieces: [RemotePiece], of name: String, ifAt offset: Int, _ bytes: Data, seconds: Int) {
        guard let text = S3Amendment(pieces, ifAt: offset, bytes).text else { return }
        inOrder(name) { [self] done in
            guard state.withLock({ $0.copiesObjects }) else { return done() }
            let operation = S3Client.Operation(
                method: "PUT",
                name: Self.objectName(name),
                body: Data(),
                fields: [
                    "content-type": "application/octet-stream",
                    "x-amz-copy-source": client.configuration.copySource(Self.objectName(name)),
                    "x-amz-metadata-directive": "REPLACE",
                    S3Amendment.field: text,
                ],
                patience: Self.writePatience,
                byteLimit: 64 << 10
            )
            client.perform(operation) { [self] result in
                noteCopy(result)
                done()
            }
        }
    }

    /// A service that does not know copies may have stored an empty object: that must not happen again.
    private func noteCopy(_ result: Result<S3Exchange.Answer, S3Client.Failure>) {
        switch result {
        // An error that occurs during a copy has the status of a success.
        case .success(let answer) where S3Refusal.code(in: answer.body) != nil: break
        case .success(let answer) where answer.body.firstRange(of: Data("<CopyObjectResult".utf8)) != nil: break
        case .success, .failure(.refused(.unsupported)): state.withLock { $0.copiesObjects = false }
        case .failure: break
        }
    }
}
