import FoundationEssentials
import Glibc
import TestSupport
import WebImage

/// Plays an animation through once, as fast as its frames come, and prints what that took:
///
///     play-animation FILE BUFFER_BYTES
///     FRAMES IDLE_BYTES PEAK_BYTES      frames shown; resident memory before the file was read; the most until the end
enum PlayAnimation {
    static func run(_ arguments: [String]) throws {
        guard arguments.count == 2, let budget = Int(arguments[1]) else { throw UsageError() }
        // The process's baseline: decoder threads and tables.
        _ = try? AnimatedImage(data: Data())
        let idle = ProcessStatus.bytes("VmRSS")
        let data = try Data(contentsOf: URL(fileURLWithPath: arguments[0]))
        let image = try AnimatedImage(data: data)
        guard let player = AnimatedImagePlayer(provider: image) else { exit(1) }
        var shown = 0
        player.maxBufferSize = budget
        player.totalLoopCount = 1
        player.animationFrameHandler = { index, _ in
            if index == shown { shown += 1 }
        }
        player.startPlaying()
        var time = 0.0
        while player.isPlaying {
            player.update(at: time)
            time += player.timeUntilNextFrame
            sched_yield()
        }
        print(shown, idle, ProcessStatus.bytes("VmHWM"))
    }
}
