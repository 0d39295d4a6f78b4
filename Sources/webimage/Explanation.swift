import WebImage

/// What `--explain` tells of one source.
struct Explanation: Sendable {
    let recording = LoadRecording()
    private let isJSON: Bool
    private let descriptor: Int32

    /// - Parameter target: where pictures go; standard output is not for words then.
    init(_ target: OutputFiles.Target, json: Bool) {
        isJSON = json
        if case .standardOutput = target { descriptor = 2 } else { descriptor = 1 }
    }

    /// The paragraph, without what would steer a terminal.
    var text: String { Terminal.plain(recording.explanation) }

    /// The paragraph as a field of the source's JSON object; nil when it is printed.
    var field: String? { isJSON ? text : nil }

    /// Prints the paragraph under the line about the source.
    func print(_ display: ProgressDisplay) async {
        if !isJSON { await display.print("  \(text)\n", to: descriptor) }
    }
}
