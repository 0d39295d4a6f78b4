import Glibc

/// The program that decodes isolated images.
///
/// The product `webimage-decoder` is such a program, with the coders of all formats. It is searched in this order: at
/// ``DecodeIsolation/workerPath``; at the path in the environment variable `WEBIMAGE_DECODER`; this program itself, if it has
/// called ``runIfRequested(coder:)``; beside this program; in `../libexec` relative to it.
///
/// PDF is drawn by another program, `webimage-decoder-pdf`, because its library is GPL. It is searched at
/// ``DecodeIsolation/pdfWorkerPath``; at the path in the environment variable `WEBIMAGE_DECODER_PDF`; beside the program at
/// ``DecodeIsolation/workerPath``; beside this program; in `../libexec`. So is `webimage-decoder-video`, the program for videos, at
/// ``DecodeIsolation/videoWorkerPath`` and `WEBIMAGE_DECODER_VIDEO`.
public enum DecodeWorker {
    /// Makes a program its own worker. Call it first in `main`, once coders are registered and before there are threads: in a
    /// worker it decodes until its parent is gone, and never returns. In all other processes it returns at once.
    ///
    /// - Parameter coder: the coder that the worker decodes with.
    public static func runIfRequested(coder: any ImageCoder) {
        guard let words = request else { return WorkerProgram.isOwnWorker.withLock { $0 = true } }
        guard words.count == 3, let kind = WorkerKind(rawValue: words[0]) else { exit(64) }
        guard let memory = Int(words[1]), memory > 0, let decodes = Int(words[2]), decodes > 0 else { exit(64) }
        DecodingPlace.becomeWorker()
        DecodeWorkerLoop(coder, kind, memory: memory, decodes: decodes).run()
    }

    /// The arguments that a worker was started with; nil in other programs.
    private static var request: [String]? {
        let words = CommandLine.arguments.dropFirst()
        return words.first == WorkerProgram.argument ? Array(words.dropFirst()) : nil
    }
}
