import FoundationEssentials
import WebImage

/// `webimage prefetch`: loads a list into the cache.
///
/// It loads as `get` does, in the order of the list, `--max-concurrent` at a time. It does not use ``WebImagePrefetcher``, which
/// reports only how many URLs are finished and how many have no image. With `--json`, the command prints a line for each URL: key,
/// source, format, size, age, bytes or error; otherwise progress, errors and a summary.
enum PrefetchCommand: Command {
    static let name = "prefetch"
    static let usage = "[options] [FILE|URL|-]…"
    static let summary = "Loads a list of URLs into the cache: one per line, from files or standard input."
    static let specs =
        ImageArguments.specs + [
            OptionSpec("--repeat", value: "N", "load the whole list N times in this process; 1 by default")
        ] + CommonOptions.loadSpecs + CommonOptions.memorySpecs

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
        var stale: Bool
        var ageSeconds: Double?
        var pass: Int
    }

    private struct Totals: Sendable {
        var network = 0
        var disk = 0
        var memory = 0
        var failed = 0
        var bytes: Int64 = 0
    }

    static func run(_ arguments: ParsedArguments) async throws -> Int32 {
        let common = try CommonOptions(arguments)
        guard common.usesCache else {
            throw UsageError("prefetch needs a cache and cannot be combined with --no-cache")
        }
        let image = try ImageArguments(arguments)
        let passes = try arguments.integer("--repeat", in: 1...1000) ?? 1
        let words = arguments.positional.isEmpty ? ["-"] : arguments.positional
        let (sources, session) = try await blocking {
            let sources = try words.flatMap {
                Source.isURL($0) ? [.success(try Source($0))] : try SourceList.read($0)
            }
            return (sources, Session(common))
        }
        var failures = 0
        for pass in 1...passes {
            let start = ContinuousClock.now
            let totals = await run(sources, pass: pass, session: session, image: image)
            failures += totals.failed
            if !common.json, !common.isQuiet {
                try await summarise(totals, pass, passes, Loading.milliseconds(since: start))
            }
        }
        await session.close()
        return failures == 0 ? ExitStatus.success : ExitStatus.failure
    }

    private static func run(
        _ sources: [Result<Source, SourceList.BadLine>],
        pass: Int,
        session: Session,
        image: ImageArguments
    ) async -> Totals {
        let common = session.common
        let display = ProgressDisplay(total: sources.count, isEnabled: !common.isQuiet)
        let counter = TotalsCounter()
        _ = await Loading.forEach(sources, width: common.maxConcurrent) { id, line in
            let source: Source
            switch line {
            case .success(let named): source = named
            case .failure(let bad):
                display.finish(id, failed: true)
                await counter.countFailure()
                await Loading.report(bad, pass: pass, json: common.json, display)
                return false
            }
            var context = session.context(for: source)
            image.apply(to: &context)
            let outcome = await Loading.load(source, id: id, session: session, context: context, display: display)
            switch outcome.result {
            case .success(let result):
                display.finish(id, failed: false)
                await counter.count(result)
                if common.json { await display.print(JSONLine.text(self.line(outcome, result, pass)), to: 1) }
                return true
            case .failure(let error):
                display.finish(id, failed: true)
                await counter.countFailure()
                await Loading.report(error, source, pass: pass, json: common.json, display)
                return false
            }
        }
        await display.close()
        return await counter.totals
    }

    private actor TotalsCounter {
        var totals = Totals()

        func count(_ result: WebImageResult) {
            switch result.cacheType {
            case .none: totals.network += 1
            case .disk: totals.disk += 1
            case .memory, .all: totals.memory += 1
            }
            totals.bytes += result.metrics?.receivedByteCount ?? 0
        }

        func countFailure() { totals.failed += 1 }
    }

    private static func line(_ outcome: SourceOutcome, _ result: WebImageResult, _ pass: Int) -> Line {
        Line(
            source: outcome.source.text,
            key: result.cacheKey,
            cacheType: result.cacheType.word,
            format: "\(result.image.format)",
            width: result.image.pixelWidth,
            height: result.image.pixelHeight,
            frames: result.image.metadata.frameCount,
            bytes: Int(result.metrics?.receivedByteCount ?? Int64(result.data?.count ?? 0)),
            elapsedMs: outcome.elapsedMilliseconds,
            stale: result.isStale,
            ageSeconds: result.age,
            pass: pass
        )
    }

    private static func summarise(_ totals: Totals, _ pass: Int, _ passes: Int, _ milliseconds: Double) async throws {
        let number = passes > 1 ? "pass \(pass): " : ""
        let loaded = totals.network + totals.disk + totals.memory
        var text = "\(number)\(loaded) images in \((milliseconds / 10).rounded() / 100) s: "
        text += "\(totals.network) loaded (\(ByteCount.describe(totals.bytes))), \(totals.disk) from disk, "
        text += "\(totals.memory) from memory"
        if totals.failed > 0 { text += ", \(totals.failed) failed" }
        let line = text + "\n"
        try await blocking { Terminal.print(line) }
    }
}
