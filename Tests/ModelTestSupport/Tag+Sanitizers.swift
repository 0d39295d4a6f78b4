package import Testing

/// What `Scripts/test` runs again in a sanitized build: suites with these tags. It leaves files without them out of that build, because building
/// takes most of the time.
extension Tag {
    /// Several threads meet in it.
    @Tag package static var threadSanitizer: Self
    /// It gives memory to C.
    @Tag package static var addressSanitizer: Self
}
