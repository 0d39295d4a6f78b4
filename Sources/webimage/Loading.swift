import FoundationEssentials
import WebImage

/// The outcome of one source.
struct SourceOutcome: Sendable {
    var source: Source
    var result: Result<WebImageResult, WebImageError>
    var elapsedMilliseconds: Double
}

/// Runs an operation over a list with limited concurrency.
enum Loading {
    /// Calls `body` for every element, at most `width` at a time; returns the number of failures.
    static func forEach<Element: Sendable>(
        _ elements: [Element],
        width: Int,
        _ body: @escaping @Sendable (Int, Element) async -> Bool
    ) async -> Int {
        await withTaskGroup(of: Bool.self) { group in
            var failures = 0
            var next = 0
            func add() {
                let (index, element) = (next, elements[next])
                next += 1
                group.addTask { await body(index, element) }
            }
            while next < min(width, elements.count) { add() }
            while let isWell = await group.next() {
                if !isWell { failures += 1 }
                if next < elements.count { add() }
            }
            return failures
        }
    }

    /// Loads a source with progress bars.
    static func load(
        _ source: Source,
        id: Int,
        session: Session,
        context: WebImageContext,
        display: ProgressDisplay
    ) async -> SourceOutcome {
        let start = ContinuousClock.now
        let result: Result<WebImageResult, WebImageError>
        do throws(WebImageError) {
            result = .success(
                try await session.manager.result(
                    with: source.url,
                    options: session.common.options,
                    context: context
                ) { progress in
                    display.update(
                        id,
                        label: source.label,
                        received: progress.receivedByteCount,
                        expected: progress.expectedByteCount,
                        rate: progress.bytesPerSecond
                    )
                }
            )
        } catch {
            result = .failure(error)
        }
        return SourceOutcome(source: source, result: result, elapsedMilliseconds: milliseconds(since: start))
    }

    static func milliseconds(since start: ContinuousClock.Instant) -> Double {
        let duration = ContinuousClock.now - start
        let microseconds = Double(duration.components.seconds) * 1e6 + Double(duration.components.attoseconds) / 1e12
        return (microseconds / 10).rounded() / 100
    }

    /// Reports a failed source on standard error, or as JSON.
    static func report(
        _ error: WebImageError,
        _ source: Source,
        pass: Int? = nil,
        explanation: String? = nil,
        json: Bool,
        _ display: ProgressDisplay
    ) async {
        let failure = JSONLine.Failure(
            source: source.text,
            error: .init(code: error.code.rawValue, message: error.plainMessage),
            pass: pass,
            explanation: explanation
        )
        await report(failure, name: source.shortText, json: json, display)
    }

    /// Reports an invalid line of a list.
    static func report(_ line: SourceList.BadLine, pass: Int?, json: Bool, _ display: ProgressDisplay) async {
        let code = WebImageError.Code.invalidURL.rawValue
        let failure = JSONLine.Failure(source: line.text, error: .init(code: code, message: line.message), pass: pass)
        await report(failure, name: nil, json: json, display)
    }

    private static func report(
        _ failure: JSONLine.Failure,
        name: String?,
        json: Bool,
        _ display: ProgressDisplay
    ) async {
        if json {
            await display.print(JSONLine.text(failure), to: 1)
        } else {
            let start = name.map { $0 + ": " } ?? ""
            await display.print("webimage: \(start)\(Terminal.plain(failure.error.message))\n", to: 2)
        }
    }
}

extension WebImageError {
    /// The message and its cause, without the URL.
    var plainMessage: String { underlyingError.map { "\(message) (\($0))" } ?? message }
}

extension ImageCacheType {
    /// The name in JSON.
    var word: String {
        switch self {
        case .none: "none"
        case .disk: "disk"
        case .memory: "memory"
        case .all: "all"
        }
    }
}
