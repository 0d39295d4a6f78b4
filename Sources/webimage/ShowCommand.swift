import FoundationEssentials
import Glibc
import WebImage

/// `webimage show`: draws images in the terminal.
enum ShowCommand: Command {
    static let name = "show"
    static let usage = "[options] SOURCE…"
    static let summary = "Draws each URL or file in the terminal and plays animations until a key is pressed."
    static let specs =
        [
            OptionSpec(
                "--size",
                value: "COLSxROWS",
                "fill this many character cells; by default the image's own size, if it fits"
            ),
            OptionSpec(
                "--symbols",
                "draw with characters even if the terminal supports sixel, kitty or iTerm2 graphics"
            ),
            OptionSpec("--loops", value: "N", "loop count of animations; 0 is forever; by default that of the file"),
            OptionSpec("--first-frame", "show only the first frame of an animation"),
        ] + CommonOptions.loadSpecs.filter { $0.name != "--json" }

    static func run(_ arguments: ParsedArguments) async throws -> Int32 {
        let common = try CommonOptions(arguments)
        guard !arguments.positional.isEmpty else { throw UsageError("no source given") }
        let sources = arguments.positional
        let canvas = try ImageCanvas(arguments, namesImages: sources.count > 1)
        let (named, session) = try await blocking { (try sources.map { try Source($0) }, Session(common)) }
        let display = ProgressDisplay(total: named.count, isEnabled: !common.isQuiet)
        var failures = 0
        var loads = named.enumerated().makeIterator()
        var running: [Task<SourceOutcome, Never>] = []
        func startNext() {
            guard let (id, source) = loads.next() else { return }
            let context = canvas.context(session.context(for: source))
            running.append(
                Task {
                    let outcome = await Loading.load(
                        source,
                        id: id,
                        session: session,
                        context: context,
                        display: display
                    )
                    if case .success = outcome.result {
                        display.finish(id, failed: false)
                    } else {
                        display.finish(id, failed: true)
                    }
                    return outcome
                }
            )
        }
        for _ in 0..<common.maxConcurrent { startNext() }
        // In the order given, while later ones load.
        while !running.isEmpty {
            let outcome = await running.removeFirst().value
            startNext()
            await display.hold()
            switch outcome.result {
            case .success(let result):
                if try await !canvas.show(result.image, outcome.source) { failures += 1 }
            case .failure(let error):
                failures += 1
                await Loading.report(error, outcome.source, json: false, display)
            }
            display.release()
        }
        await display.close()
        await session.close()
        return failures == 0 ? ExitStatus.success : ExitStatus.failure
    }
}

/// The drawing area and settings of `show`.
private struct ImageCanvas: Sendable {
    private let screen = TerminalScreen.standardOutput
    private let size: [Int]?
    private let usesSymbols: Bool
    private let loopCount: Int?
    private let namesImages: Bool
    private let firstFrameOnly: Bool
    /// The available pixels.
    private var box = ImageSize(width: 1, height: 1)

    init(_ arguments: ParsedArguments, namesImages: Bool) throws {
        usesSymbols = arguments.has("--symbols")
        loopCount = try arguments.integer("--loops", in: 0...65_535)
        size = try arguments.value("--size").map(Self.size)
        self.namesImages = namesImages
        firstFrameOnly = arguments.has("--first-frame") || !screen.canPlay
        let grid = try painter().grid
        guard !grid.isTooBig else {
            throw UsageError(
                "--size is too large: \(grid.columns)x\(grid.rows) cells are \(grid.width)x\(grid.height) pixels here"
            )
        }
        box = ImageSize(width: grid.width, height: grid.height)
    }

    private static func size(_ text: String) throws -> [Int] {
        let sides = text.lowercased().split(separator: "x", omittingEmptySubsequences: false).map { Int($0) ?? 0 }
        guard sides.count == 2, sides.allSatisfy((1...500).contains) else {
            throw UsageError("--size takes columns and rows up to 500 such as 80x24, not '\(text)'")
        }
        return sides
    }

    private func painter() throws -> TerminalPainter {
        try TerminalPainter(
            screen,
            size: size.map { ($0[0], $0[1]) },
            usesSymbols: usesSymbols,
            namesImages: namesImages
        )
    }

    /// Returns a context that decodes the image at its drawn size. The result is not cached, but its original is.
    func context(_ context: WebImageContext) -> WebImageContext {
        var context = context
        context.thumbnailPixelSize = box
        context.imageScaleFactor = 1
        var options = ImageDecodeOptions()
        options.decodeFirstFrameOnly = firstFrameOnly
        context.decodeOptions = options
        context.storeCacheType = ImageCacheType.none
        return context
    }

    /// Draws the image, and plays an animation to its end; false if writing failed.
    func show(_ image: Image, _ source: Source) async throws -> Bool {
        let (canvas, name) = (self, namesImages ? source.shortText + "\n" : "")
        return try await blocking {
            let painter = try canvas.painter()
            Terminal.print(name)
            if !canvas.firstFrameOnly, let player = AnimatedImagePlayer(image: image) {
                TerminalPlayer(painter: painter, loopCount: canvas.loopCount).play(image, player)
                return Terminal.outputFailure == 0
            }
            return painter.still(image.bitmap).withUnsafeBytes { Terminal.print($0) }
        }
    }
}
