// Parts of tests that need a separate process: one that is killed, whose disk fails, whose memory is measured, or that
// has its main thread to itself.
//
//   test-program COMMAND ARGUMENT…
//
// The file of each command describes its arguments and output. This file must not be `async`: `main-queue` runs the
// main queue on the main thread, and `disk-faults` copies a process that has one thread.
import TestSupport

runCommand(of: [
    "cache-hammer": CacheHammer.run,
    "disk-faults": DiskFaults.run,
    "main-queue": MainQueue.run,
    "memory-storm": MemoryStorm.run,
    "play-animation": PlayAnimation.run,
])
