import Testing

extension Tag {
    /// As in the tests of the library, whose tags are not visible here.
    @Tag static var threadSanitizer: Self
}
