/// The version of this library.
package enum LibraryVersion {
    package static let current = "0.1.0"
}
