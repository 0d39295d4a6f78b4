import FoundationEssentials
import Glibc
import WebImage

/// `webimage get`: loads, transforms, converts and writes images.
enum GetCommand: Command {
    static let name = "get"
    static let usage = "[options] SOURCE…"
    static let summary =
        "Loads each URL or file through the cache, transforms it in the order of the options, converts and writes it."
    static let specs =
        OutputArguments.specs + ImageArguments.specs + CommonOptions.loadSpecs + CommonOptions.memorySpecs + [
            OptionSpec("--explain", "explain what happened to each image and why, in a paragraph")
        ]

    private struct Line: Encodable {
        var source: String
        var key: String
        var cacheType: String
        var format: String
        var width: Int
        var height: Int
        var frames: Int
        var bytes: Int
        var elapsedMs: Double
        var output: String
        var stale: Bool
        var ageSeconds: Double?
        var explanation: String?
    }

    static func run(_ arguments: ParsedArguments) async throws -> Int32 {
        let common = try CommonOptions(arguments)
        let image = try ImageArguments(arguments)
        let output = try OutputArguments(arguments)
        guard !arguments.positional.isEmpty else { throw UsageError("no source given") }
        let (sources, files, session) = try await blocking {
            let sources = try arguments.positional.map { try Source($0) }
            return (sources, try output.files(for: sources), Session(common))
        }
        if case .standardOutput = files.target {
            guard !common.json else { throw UsageError("--json and -o - both write to standard output") }
            guard isatty(STDOUT_FILENO) == 0 else {
                throw UsageError("standard output is a terminal; use 'show' to draw images there")
            }
        }
        try checkExtension(files.target, output)
        let explains = arguments.has("--explain")
        let display = ProgressDisplay(total: sources.count, isEnabled: !common.isQuiet)
        let failures = await Loading.forEach(sources, width: common.maxConcurrent) { id, source in
            let start = ContinuousClock.now
            var context = session.context(for: source)
            image.apply(to: &context)
            if writesOneFrame(files.target, output) { context.decodeOptions?.decodeFirstFrameOnly = true }
            // The result goes to a file, so it is not needed in memory.
            context.storeCacheType = source.isRemote && common.usesCache ? .disk : ImageCacheType.none
            let explanation = explains ? Explanation(files.target, json: common.json) : nil
            context.observer = explanation?.recording
            let cropped = await RegionLoading.load(source, image, session, context)
            let outcome =
                if let cropped { cropped } else {
                    await Loading.load(source, id: id, session: session, context: context, display: display)
                }
            do {
                let result = try outcome.result.get()
                let written = try await write(result, source, image, output, files)
                display.finish(id, failed: false)
                await tell(
                    result,
                    source,
                    written,
                    Loading.milliseconds(since: start),
                    files,
                    common,
                    explanation,
                    display
                )
                await explanation?.print(display)
                return true
            } catch let error as WebImageError {
                display.finish(id, failed: true)
                await Loading.report(error, source, explanation: explanation?.field, json: common.json, display)
                await explanation?.print(display)
            } catch {
                display.finish(id, failed: true)
                let message = (error as? OutputError)?.message ?? "\(error)"
                let failure = WebImageError(.fileAccessFailed, message)
                await Loading.report(failure, source, explanation: explanation?.field, json: common.json, display)
                await explanation?.print(display)
            }
            return false
        }
        await display.close()
        await session.close()
        return failures == 0 ? ExitStatus.success : ExitStatus.failure
    }

    /// Rejects an output file whose extension names a format that cannot be written.
    private static func checkExtension(_ target: OutputFiles.Target, _ output: OutputArguments) throws {
        if output.options.isLossless {
            let named: ImageFormat? =
                if case .file(let path) = target { OutputArguments.format(named: Source.fileExtension(of: path)) } else
                { nil }
            if let format = output.format ?? named, format == .jpeg || format == .gif {
                throw UsageError("\(format) cannot be written with --lossless")
            }
        }
        guard case .file(let path) = target, output.format == nil else { return }
        let fileExtension = Source.fileExtension(of: path)
        guard !fileExtension.isEmpty, OutputArguments.format(named: fileExtension) == nil,
            !ImageCodersManager.shared.canEncode(to: ImageFormat(fileExtension: fileExtension)),
            ImageFormat(fileExtension: fileExtension) != .undefined
        else { return }
        throw UsageError(
            "\(path): the output formats are \(OutputArguments.formatNames); --format overrides the extension"
        )
    }

    /// Returns whether only the first frame of an animation is written, however many it has.
    private static func writesOneFrame(_ target: OutputFiles.Target, _ output: OutputArguments) -> Bool {
        if output.options.encodeFirstFrameOnly { return true }
        var format = output.format
        if format == nil, case .file(let path) = target {
            format = OutputArguments.format(named: Source.fileExtension(of: path))
        }
        return format.map { !ImageCodersManager.shared.canEncodeAnimation(to: $0) } ?? false
    }

    private struct Written {
        var path: String
        var format: ImageFormat
        var bytes: Int
        var frames: Int
    }

    private static func write(
        _ result: WebImageResult,
        _ source: Source,
        _ image: ImageArguments,
        _ output: OutputArguments,
        _ files: OutputFiles
    ) async throws -> Written {
        let format = outputFormat(result, image, output, files.target)
        let data: Data
        var frames = result.image.metadata.frameCount
        // Bytes that need no change are written as received, without another loss.
        if image.isEmpty, !result.image.metadata.isFirstFrame, let bytes = result.data,
            ImageFormat(detecting: bytes) == format, output.allows(bytes, frames: frames),
            isSeenUpright(result.image, as: format)
        {
            data = bytes
        } else {
            var options = output.options
            // A mere rotation must not make a lossless image lossy.
            if image.isEmpty, !output.changesBytes, format == .webp, let bytes = result.data, isLosslessWebP(bytes) {
                options.isLossless = true
            }
            options.deadline = output.convertTimeout.map { EncodeDeadline(seconds: $0) }
            data = try await result.image.encoded(as: format, options: options)
            let moves = ImageCodersManager.shared.canEncodeAnimation(to: format) && result.image.animation != nil
            if !moves || output.options.encodeFirstFrameOnly { frames = 1 }
        }
        // Each camera has its own extension of raw files.
        let own = Source.fileExtension(of: source.url.lastPathComponent)
        let isRaw = format == .raw && ImageFormat(fileExtension: own) == .raw
        let path = try await files.write(
            data,
            stem: source.outputStem,
            fileExtension: isRaw ? own : OutputArguments.fileExtension(of: format)
        )
        return Written(path: path, format: format, bytes: data.count, frames: frames)
    }

    /// Returns whether other programs display the file's image upright. Many, including some browsers, ignore the orientation tag
    /// of PNG and WebP files.
    private static func isSeenUpright(_ image: Image, as format: ImageFormat) -> Bool {
        image.metadata.sourceOrientation == .up || format != .png && format != .webp
    }

    /// Returns whether the first image of a WebP file is lossless.
    private static func isLosslessWebP(_ data: Data) -> Bool {
        guard ImageFormat(detecting: data) == .webp else { return false }
        var offset = data.startIndex + 12
        while offset + 8 <= data.endIndex {
            switch String(decoding: data[offset..<offset + 4], as: UTF8.self) {
            case "VP8L": return true
            case "VP8 ": return false
            case "ANMF": offset += 24
            default:
                let size = (0..<4).reduce(0) { $0 | Int(data[offset + 4 + $1]) << (8 * $1) }
                offset += 8 + size + size & 1
            }
        }
        return false
    }

    private static func outputFormat(
        _ result: WebImageResult,
        _ image: ImageArguments,
        _ output: OutputArguments,
        _ target: OutputFiles.Target
    ) -> ImageFormat {
        if let format = output.format { return format }
        if case .file(let path) = target, let format = OutputArguments.format(named: Source.fileExtension(of: path)) {
            return format
        }
        let own = result.data.map { ImageFormat(detecting: $0) } ?? result.image.format
        if output.options.isLossless { return own == .png || own == .tiff || own == .jpegXL ? own : .webp }
        // Bytes of a format without an encoder are written as received, or the image in a format with one.
        let isAsItCame = result.data != nil && image.isEmpty && !output.changesBytes
        // A processed still image from a GIF file can have more colours than GIF supports.
        let isHeld = own != .gif || result.image.animation != nil || result.image.metadata.isFirstFrame
        if isAsItCame || ImageCodersManager.shared.canEncode(to: own) && isHeld { return own }
        // JPEG blurs the lines and the text of pages.
        return result.image.hasAlpha || own == .pdf ? .png : .jpeg
    }

    private static func tell(
        _ result: WebImageResult,
        _ source: Source,
        _ written: Written,
        _ elapsed: Double,
        _ files: OutputFiles,
        _ common: CommonOptions,
        _ explanation: Explanation?,
        _ display: ProgressDisplay
    ) async {
        if common.json {
            let line = Line(
                source: source.text,
                key: result.cacheKey,
                cacheType: result.cacheType.word,
                format: "\(written.format)",
                width: result.image.pixelWidth,
                height: result.image.pixelHeight,
                frames: written.frames,
                bytes: written.bytes,
                elapsedMs: elapsed,
                output: written.path,
                stale: result.isStale,
                ageSeconds: result.age,
                explanation: explanation?.field
            )
            await display.print(JSONLine.text(line), to: 1)
        } else if !common.isQuiet, case .standardOutput = files.target {
            return
        } else if !common.isQuiet {
            let size = "\(result.image.pixelWidth)x\(result.image.pixelHeight)"
            let bytes = ByteCount.describe(Int64(written.bytes))
            let origin = result.cacheType == .none ? (source.isRemote ? "network" : "file") : result.cacheType.word
            let stale = result.isStale ? ", stale" : ""
            let path = Terminal.plain(written.path)
            await display.print("\(path)  \(size) \(written.format) \(bytes)  (\(origin)\(stale))\n", to: 1)
        }
    }
}

extension Source {
    /// Returns the extension of a path's last component without the dot, in lower case; empty if there is none.
    static func fileExtension(of path: String) -> String {
        let name = path.split(separator: "/").last ?? ""
        guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return "" }
        return name[name.index(after: dot)...].lowercased()
    }
}
