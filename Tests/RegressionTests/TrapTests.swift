import ModelTestSupport
import Testing

/// Traps that image loaders fall into, each with a test of its name.
@Suite(.tags(.threadSanitizer, .addressSanitizer)) struct TrapTests {}
