public import FoundationEssentials
import Glibc

extension DesktopThumbnailCache {
    /// The name under which failures are noted: another version may succeed.
    private static let program = "webimage-\(LibraryVersion.current)"

    /// Returns the thumbnail of a local file, which is made and written if there is none, for all programs of the desktop.
    ///
    /// Thumbnails are PNG files of mode 0600 in directories of mode 0700, and appear there complete. A file that cannot be decoded is
    /// noted as failed, and is not decoded again until it changes. Nothing is written for a file that changes meanwhile, for a file in the
    /// thumbnails' own directory, and if the directory cannot be written; then the image is returned all the same. Cost: a decode at that
    /// size, unless there is a thumbnail.
    ///
    /// - Parameters:
    ///   - url: A file URL.
    ///   - size: The size of the thumbnail.
    ///   - manager: Decodes the file, and its place of decoding applies; its caches are neither asked nor changed.
    /// - Returns: The image, which fits into a square of that size and is upright.
    /// - Throws: The error of the load; ``WebImageError/Code/badImageData`` for a file that is noted as failed;
    ///   ``WebImageError/Code/cancelled`` if the task is cancelled.
    public func makeThumbnail(
        of url: URL,
        size: Size = .large,
        with manager: WebImageManager = .shared
    ) async throws(WebImageError) -> Image {
        let before = try await WorkQueue.fileReading.run { () throws(WebImageError) in
            try LocalImageFile(url).identity
        }
        let known = await WorkQueue.fileReading.run { [self] in entry(of: before, size) }
        switch known {
        case .thumbnail(let path):
            // One that cannot be decoded is replaced.
            if let image = try? await manager.image(
                with: URL(filePath: path),
                options: .fromLoaderOnly,
                context: .unstored
            ) {
                return image
            }
        case .failure: throw WebImageError(.badImageData, "the file is noted as one without thumbnail", url: url)
        case nil: break
        }
        var context = WebImageContext.unstored
        context.thumbnailPixelSize = ImageSize(width: Double(size.rawValue), height: Double(size.rawValue))
        do throws(WebImageError) {
            let image = try await manager.image(
                with: url,
                options: [.fromLoaderOnly, .decodeFirstFrameOnly],
                context: context
            )
            await WorkQueue.fileReading.run { [self] in write(image, of: before, url, size) }
            return image
        } catch {
            if error.isAboutContent { await WorkQueue.fileReading.run { [self] in noteFailure(of: before, url) } }
            throw error
        }
    }

    private enum Entry: Sendable {
        case thumbnail(path: String)
        case failure
    }

    private func entry(of file: LocalImageFile.Identity, _ size: Size) -> Entry? {
        let path = path(of: file, size)
        if shows(path, file) { return .thumbnail(path: path) }
        return shows(failurePath(of: file), file) ? .failure : nil
    }

    private func shows(_ path: String, _ file: LocalImageFile.Identity) -> Bool {
        guard let data = Self.read(path), let texts = PNGTexts(data, keywords: ThumbnailText.checked) else {
            return false
        }
        return ThumbnailText.matches(texts, file)
    }

    private func failurePath(of file: LocalImageFile.Identity) -> String {
        "\(directory)/fail/\(Self.program)/\(Hashing.md5Hex(file.uri, suffix: ".png"))"
    }

    private func write(_ image: Image, of file: LocalImageFile.Identity, _ url: URL, _ size: Size) {
        let (width, height) = (image.metadata.sourceWidth, image.metadata.sourceHeight)
        let isTurned = image.metadata.sourceOrientation.swapsSides
        let texts = [
            (ThumbnailText.mimeType, image.format.mimeType),
            (ThumbnailText.width, "\(isTurned ? height : width)"),
            (ThumbnailText.height, "\(isTurned ? width : height)"),
        ]
        guard let data = try? ImageCodersManager.shared.encode(image, to: .png, options: ImageEncodeOptions()) else {
            return
        }
        write(data, texts, of: file, url, to: path(of: file, size))
    }

    private func noteFailure(of file: LocalImageFile.Identity, _ url: URL) {
        guard let data = Data(base64Encoded: Self.emptyImage) else { return }
        write(data, [], of: file, url, to: failurePath(of: file))
    }

    /// A transparent pixel as PNG.
    private static let emptyImage =
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAAC0lEQVR42mNgAAIAAAUAAen63NgAAAAASUVORK5CYII="

    /// Writes a PNG file with the texts of a thumbnail, unless the original has changed. Failures are ignored: the cache can be made again.
    private func write(
        _ data: Data,
        _ texts: [(String, String)],
        of file: LocalImageFile.Identity,
        _ url: URL,
        to path: String
    ) {
        let all =
            [
                (ThumbnailText.uri, file.uri), (ThumbnailText.modificationTime, "\(file.modificationTime)"),
                (ThumbnailText.byteCount, "\(file.byteCount)"),
            ] + texts + [(ThumbnailText.software, "WebImage \(LibraryVersion.current)")]
        guard !contains(file), let data = PNGTexts.adding(all, to: data), (try? LocalImageFile(url).identity) == file
        else { return }
        let folder = path.split(separator: "/").dropLast().reduce(into: "") { $0 += "/" + $1 }
        guard (try? CacheDirectory.makeDirectories(folder)) != nil else { return }
        Self.write(data, to: path)
    }

    /// Writes a file that appears complete, with mode 0600.
    private static func write(_ data: Data, to path: String) {
        let name = "\(path).\(UInt64.random(in: 0 ... .max))"
        let descriptor = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return }
        let isWritten = data.withUnsafeBytes { bytes in
            (try? FileCalls.system.writeFully(
                descriptor,
                bytes,
                UnsafeRawBufferPointer(start: nil, count: 0),
                path: path
            ))
                != nil
        }
        guard close(descriptor) == 0, isWritten, rename(name, path) == 0 else {
            unlink(name)
            return
        }
    }
}

extension WebImageContext {
    /// A load that leaves nothing in the caches.
    fileprivate static var unstored: WebImageContext {
        var context = WebImageContext()
        (context.storeCacheType, context.originalStoreCacheType) = (ImageCacheType.none, ImageCacheType.none)
        context.imageTransformer = .none
        return context
    }
}

extension WebImageError {
    /// Indicates whether a file cannot be decoded as long as it has this content.
    fileprivate var isAboutContent: Bool {
        code == .badImageData
    }
}
