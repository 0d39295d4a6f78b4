import Testing

/// Traps that image loaders fall into, each with a test of its name.
@Suite struct TrapTests {}
