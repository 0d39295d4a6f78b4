import WebImage

/// The `--explain` output of one source.
struct Explanation: Sendable {
    let recording = LoadRecording()
    private let isJSON: Bool
    private let descriptor: Int32

    /// - Parameter target: The output of images; if it is standard output, the text goes to standard error.
    init(_ target: OutputFiles.Target, json: Bool) {
        isJSON = json
        if case .standardOutput = target { descriptor = 2 } else { descriptor = 1 }
    }

    /// The explanation, without terminal control characters.
    var text: String { Terminal.plain(recording.explanation) }

    /// The explanation as a field of the source's JSON object; nil if it is printed.
    var field: String? { isJSON ? text : nil }

    /// Prints the explanation under the line about the source.
    func print(_ display: ProgressDisplay) async {
        if !isJSON { await display.print("  \(text)\n", to: descriptor) }
    }
}
