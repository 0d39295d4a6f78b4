// Works on a cache directory while its disk fails, with the library of Tests/FaultShim preloaded, and says what came of it: a line for
// each way of failing, and one that begins with FAILED for everything that should not have come. Exit 1 for any of those.
//
//   disk-faults store DIRECTORY OTHER STRIDE [NAME]…   goes through the calls that the steps of FaultOperation.workload make on files
//                                                      below DIRECTORY, every STRIDE-th of them, and disturbs each in every way
//                                                      (or in those that are named); OTHER should be on another file system
//   disk-faults load DIRECTORY STRIDE [NAME]…          the same with pictures that a manager loads from a server
//   disk-faults limited DIRECTORY KIND                 a cache in a process at its bound of descriptors, memory or file-size
//   disk-faults slow DIRECTORY                         says in which order things come while the disk is slow
//   disk-faults load-once DIRECTORY                    loads the pictures once, and says "ok" if they are what they should be
import Glibc
import TestSupport

let arguments = Array(CommandLine.arguments.dropFirst())
switch (arguments.first, arguments.count) {
case ("store", 4...):
    guard FaultPlan.isAvailable, let stride = Int(arguments[3]), stride > 0 else { exit(64) }
    var runs = StoreRuns(directory: arguments[1], other: arguments[2], stride: stride)
    for disturbance in Disturbance.chosen(arguments.dropFirst(4)) { runs.run(disturbance) }
    exit(runs.failureCount == 0 ? 0 : 1)
case ("load", 3...):
    guard FaultPlan.isAvailable, let stride = Int(arguments[2]), stride > 0 else { exit(64) }
    let runs = try LoadRuns(directory: arguments[1], stride: stride)
    var failures = 0
    for disturbance in Disturbance.chosen(arguments.dropFirst(3)) where !disturbance.isDeadly {
        failures += await runs.run(disturbance)
    }
    exit(failures == 0 ? 0 : 1)
case ("load-once", 2):
    let failures = await (try LoadRuns(directory: arguments[1], stride: 1)).loadAll()
    for failure in failures { say("FAILED \(failure)") }
    if failures.isEmpty { say("ok") }
    exit(failures.isEmpty ? 0 : 1)
case ("limited", 3):
    let failures = LimitedRun(directory: arguments[1]).run(arguments[2])
    say(failures.isEmpty ? "ok" : "FAILED \(failures)")
    exit(failures.isEmpty ? 0 : 1)
case ("slow", 2):
    guard FaultPlan.isAvailable else { exit(64) }
    for line in try await SlowRun.run(arguments[1]) { say(line) }
default: exit(64)
}
