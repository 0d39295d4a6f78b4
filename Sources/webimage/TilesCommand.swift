import FoundationEssentials
import Glibc
import WebImage

/// `webimage tiles`: writes an image as tiles for viewers in web pages.
enum TilesCommand: Command {
    static let name = "tiles"
    static let usage = "[options] FILE"
    static let summary =
        "Writes a local image as tiles of all sizes for viewers in web pages: Deep Zoom or IIIF Image API 3, level 0."
    static let specs: [OptionSpec] = [
        OptionSpec("--output", short: "-o", value: "DIR", "directory for the tiles; required"),
        OptionSpec("--format", short: "-f", value: "dzi|iiif", "Deep Zoom (the default) or IIIF"),
        OptionSpec("--tile-size", value: "N", "side of a tile in pixels, 64 to 2048; 512 by default"),
        OptionSpec("--overlap", value: "N", "Deep Zoom: pixels of its neighbours in a tile, 0 to 16; 1 by default"),
        OptionSpec("--tile-format", value: "jpeg|png|webp", "jpeg (the default), png or webp"),
        OptionSpec("--quality", short: "-q", value: "0-100", "quality of lossy tiles; 85 by default"),
        OptionSpec("--id", value: "URL", "IIIF: the URL under which the directory will be served"),
        OptionSpec(
            "--cache-dir",
            value: "DIR",
            "directory for intermediate tiles; $XDG_CACHE_HOME/webimage-pyramids by default"
        ),
        OptionSpec("--disk-budget", value: "BYTES", "maximum size of intermediate tiles (4G); 1G by default"),
        OptionSpec("--force", "write into a directory that is not empty, and overwrite tiles there"),
        OptionSpec("--json", "one JSON object on standard output"),
        OptionSpec("--quiet", "no line for the result"),
    ]

    private struct Line: Encodable {
        var source: String
        var width: Int
        var height: Int
        var levels: Int
        var tiles: Int
        var bytes: Int
        var elapsedMs: Double
        var output: String
    }

    static func run(_ arguments: ParsedArguments) async throws -> Int32 {
        let start = ContinuousClock.now
        guard arguments.positional.count == 1 else { throw UsageError("exactly one file is needed") }
        let source = try Source(arguments.positional[0], mayBeStandardInput: false)
        guard source.isFile else {
            throw UsageError("'\(source.text)' is not a local file; 'webimage get' downloads images")
        }
        let layout = try TileLayout(arguments)
        let (options, directory) = try (regionOptions(arguments, layout), directory(arguments))
        let json = arguments.has("--json")
        do {
            if !arguments.has("--force") { try await blocking { try checkIsEmpty(directory) } }
            let path = source.url.path(percentEncoded: false)
            let reader = try await ImageCodersManager.shared.regionReader(forFileAt: path, options: options)
            let writer = TileWriter(reader: reader, layout: layout, directory: directory)
            try await writer.write()
            let line = Line(
                source: source.text,
                width: reader.levels[0].width,
                height: reader.levels[0].height,
                levels: writer.levelCount,
                tiles: await writer.counts.tiles,
                bytes: await writer.counts.bytes,
                elapsedMs: Loading.milliseconds(since: start),
                output: writer.entry
            )
            if json {
                Terminal.print(JSONLine.text(line))
            } else if !arguments.has("--quiet") {
                let bytes = ByteCount.describe(Int64(line.bytes))
                Terminal.print(
                    "\(Terminal.plain(line.output))  \(line.width)x\(line.height) \(line.tiles) tiles \(bytes)\n"
                )
            }
            return ExitStatus.success
        } catch let error as WebImageError {
            await Loading.report(error, source, json: json, ProgressDisplay(total: 1, isEnabled: false))
        } catch let error as OutputError {
            let failure = WebImageError(.fileAccessFailed, error.message)
            await Loading.report(failure, source, json: json, ProgressDisplay(total: 1, isEnabled: false))
        }
        return ExitStatus.failure
    }

    private static func directory(_ arguments: ParsedArguments) throws -> String {
        guard let output = arguments.value("--output"), !output.isEmpty else {
            throw UsageError("--output DIR is needed")
        }
        return output.hasSuffix("/") && output.count > 1 ? String(output.dropLast()) : output
    }

    /// - Throws: If the directory has files, which tiles could overwrite.
    private static func checkIsEmpty(_ directory: String) throws {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        guard names.isEmpty else {
            throw OutputError(
                message: "\(directory): the directory is not empty; --force writes the tiles there nevertheless",
                number: EEXIST
            )
        }
    }

    private static func regionOptions(_ arguments: ParsedArguments, _ layout: TileLayout) throws -> RegionOptions {
        var options = RegionOptions()
        // Deep Zoom ends with a level of one pixel, which is reduced from the last that the reader has.
        options.tileSize = layout.tileSize
        // The file is the user's own, and is meant to be huge.
        options.limits.maximumSideLength = 1 << 24
        options.limits.maximumEncodedByteCount = 4 << 30
        var cache = CacheCommand.pyramids(arguments)
        if let text = arguments.value("--disk-budget") {
            guard let bytes = ByteCount.parse(text), bytes >= 1_000_000 else {
                throw UsageError("--disk-budget takes a number of bytes of at least 1M, such as 4G, not '\(text)'")
            }
            cache?.maximumByteCount = Int(bytes)
        }
        options.pyramids = cache
        return options
    }
}

/// The options for the form of the tiles.
struct TileLayout: Sendable {
    enum Kind: Sendable { case deepZoom, iiif }

    var kind = Kind.deepZoom
    var tileSize = 512
    var overlap = 1
    var format = ImageFormat.jpeg
    var encoding = ImageEncodeOptions()
    var id: String?

    init(_ arguments: ParsedArguments) throws {
        switch arguments.value("--format") ?? "dzi" {
        case "dzi": kind = .deepZoom
        case "iiif": kind = .iiif
        case let other: throw UsageError("--format takes dzi or iiif, not '\(other)'")
        }
        tileSize = try arguments.integer("--tile-size", in: 64...2048) ?? 512
        overlap = try arguments.integer("--overlap", in: 0...16) ?? 1
        guard kind == .deepZoom || !arguments.has("--overlap") else { throw UsageError("IIIF has no --overlap") }
        guard kind == .iiif || !arguments.has("--id") else { throw UsageError("--id needs --format iiif") }
        id = arguments.value("--id")
        switch arguments.value("--tile-format") ?? "jpeg" {
        case "jpeg": format = .jpeg
        case "png": format = .png
        case "webp": format = .webp
        case let other: throw UsageError("--tile-format takes jpeg, png or webp, not '\(other)'")
        }
        encoding.compressionQuality = (try arguments.number("--quality", in: 0...100) ?? 85) / 100
    }

    var fileExtension: String { OutputArguments.fileExtension(of: format) }
}
