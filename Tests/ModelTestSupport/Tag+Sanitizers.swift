package import Testing

/// Tags of suites that `Scripts/test` runs in a sanitized build. It runs them without a sanitizer, too, if they do less work in a
/// sanitized build, as ``TestEffort`` says.
extension Tag {
    /// It uses several threads.
    @Tag package static var threadSanitizer: Self
    /// It passes memory to C.
    @Tag package static var addressSanitizer: Self
}
