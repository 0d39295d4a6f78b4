// Plays an animation through once, as fast as its frames come, and prints what that took:
//
//   play-animation FILE BUFFER_BYTES
//   FRAMES IDLE_BYTES PEAK_BYTES      frames shown; resident memory before the file was read; the most until the end
import FoundationEssentials
import Glibc
import WebImageCodecs
import WebImagePlayer

/// A number of kibibytes in `/proc/self/status`, in bytes.
func status(_ name: String) -> Int {
    guard let text = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8) else { return 0 }
    let line = text.split(separator: "\n").first { $0.hasPrefix(name + ":") }
    return (line?.split(whereSeparator: { !$0.isNumber }).first).flatMap { Int($0) }.map { $0 * 1024 } ?? 0
}

let arguments = CommandLine.arguments
guard arguments.count == 3, let budget = Int(arguments[2]) else { exit(64) }
// What the process needs in any case: decoder threads and tables.
_ = try? AnimatedImage(data: Data())
let idle = status("VmRSS")
let data = try Data(contentsOf: URL(fileURLWithPath: arguments[1]))
let image = try AnimatedImage(data: data)
guard let player = AnimatedImagePlayer(provider: image) else { exit(1) }
nonisolated(unsafe) var shown = 0
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
print(shown, idle, status("VmHWM"))
