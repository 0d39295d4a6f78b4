import ModelTestSupport
import Testing

/// Traps of image loaders, each with a test of its name.
@Suite(.tags(.threadSanitizer, .addressSanitizer)) struct TrapTests {}
