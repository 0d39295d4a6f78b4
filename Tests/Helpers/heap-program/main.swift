// Measures what the library takes from the heap, with a counting malloc. Tests run it and do not depend on it: what they depend on is
// linked into them.
//
//   heap-program COMMAND ARGUMENT…
//
// The file of each command says what it takes and prints.
import TestSupport

runCommand(of: [
    "decode-memory": DecodeMemory.run,
    "hit-cost": HitCost.run,
])
