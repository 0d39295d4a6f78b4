import Glibc
import WebImage

/// Plays an animation in the terminal on the calling thread, which sleeps between frames.
struct TerminalPlayer {
    let painter: TerminalPainter
    /// The number of times to play; nil for the animation's own, 0 for forever.
    let loopCount: Int?

    /// Returns at the end of the animation, or when a key is pressed. A signal received meanwhile ends the program.
    func play(_ image: Image, _ player: AnimatedImagePlayer) {
        var pipes: [Int32] = [-1, -1]
        // Without a pipe, a signal ends the program at once; the only drawback is an image that is cut off.
        if pipe(&pipes) != 0 { pipes = [-1, -1] }
        for end in pipes { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        let readsKeys = LiveTerminal.hasKeys
        let rows = painter.layout(of: image.bitmap).rows
        var isWell = Self.write(TerminalPainter.reserve(rows))
        if let loopCount { player.totalLoopCount = loopCount }
        let painter = painter
        player.animationFrameHandler = { _, frame in
            // After a failed write, nothing more is written.
            if isWell { isWell = Self.write(painter.frame(frame.bitmap)) }
        }
        LiveTerminal.begin(wake: pipes[1], readsKeys: readsKeys)
        player.startPlaying()
        var shown = -1
        while player.isPlaying, isWell {
            player.update(at: Self.now)
            let wait = Self.milliseconds(player, movedFrom: shown)
            shown = player.currentFrameIndex
            if player.isPlaying, Self.isEnded(within: wait, signals: pipes[0], readsKeys: readsKeys) { break }
        }
        player.stopPlaying()
        let signal = LiveTerminal.signal
        if isWell { _ = Self.write(TerminalPainter.leave(rows)) }
        LiveTerminal.restore()
        if signal != 0 { TemporaryFiles.end(by: signal) }
        for end in pipes where end >= 0 { close(end) }
    }

    /// Returns the milliseconds until the next update. A frame that is still being decoded is polled soon.
    private static func milliseconds(_ player: AnimatedImagePlayer, movedFrom index: Int) -> Int32 {
        let seconds = player.timeUntilNextFrame
        guard seconds > 0 else { return player.currentFrameIndex == index ? 3 : 0 }
        return Int32(min((seconds * 1000).rounded(.up), 60_000))
    }

    /// Waits; true if a key was pressed, a signal was received, or the terminal is closed.
    private static func isEnded(within milliseconds: Int32, signals: Int32, readsKeys: Bool) -> Bool {
        var files = [
            pollfd(fd: signals, events: Int16(POLLIN), revents: 0),
            pollfd(fd: readsKeys ? STDIN_FILENO : -1, events: Int16(POLLIN), revents: 0),
        ]
        return poll(&files, 2, milliseconds) > 0
    }

    private static var now: Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    private static func write(_ bytes: [UInt8]) -> Bool { bytes.withUnsafeBytes { Terminal.print($0) } }
}
