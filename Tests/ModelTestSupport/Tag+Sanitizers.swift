package import Testing

/// Tags of suites that `Scripts/test` runs again in a sanitized build. It leaves files without them out of that build,
/// because building takes most of the time.
extension Tag {
    /// It uses several threads.
    @Tag package static var threadSanitizer: Self
    /// It passes memory to C.
    @Tag package static var addressSanitizer: Self
}
