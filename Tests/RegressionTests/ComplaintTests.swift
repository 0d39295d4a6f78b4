import ModelTestSupport
import Testing

/// Common complaints of users of image loaders, each with a test of its name.
@Suite(.tags(.threadSanitizer, .addressSanitizer), .timeLimit(.minutes(10))) struct ComplaintTests {}
