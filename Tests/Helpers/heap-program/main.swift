// Measures the library's heap allocations, with a counting malloc. Tests run it and do not depend on it: dependencies
// are linked into them.
//
//   heap-program COMMAND ARGUMENT…
//
// The file of each command describes its arguments and output.
import TestSupport

runCommand(of: [
    "decode-memory": DecodeMemory.run,
    "hit-cost": HitCost.run,
])
