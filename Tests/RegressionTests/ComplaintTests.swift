import ModelTestSupport
import Testing

/// What users of image loaders have complained of, each with a test of its name.
@Suite(.tags(.threadSanitizer, .addressSanitizer), .timeLimit(.minutes(2))) struct ComplaintTests {}
