/// Corrections to the durations in files.
package enum FrameDuration {
    /// The duration in seconds that replaces one that is too short.
    package static let standard = 0.1

    /// Returns `seconds`, or ``standard`` for less than 11 ms: such files were made for programs that ignored short durations.
    package static func corrected(_ seconds: Double) -> Double { seconds < 0.011 ? standard : seconds }

    /// Returns the same for a number that may be infinite or NaN, which count as too short.
    package static func usable(_ seconds: Double) -> Double { seconds.isFinite ? corrected(seconds) : standard }
}
