/// How long a frame is really shown.
package enum FrameDuration {
    /// Shown in place of a duration that no program takes at its word, in seconds.
    package static let standard = 0.1

    /// `seconds`, or ``standard`` for anything shorter than 11 ms: such files were made for programs that ignored it.
    package static func corrected(_ seconds: Double) -> Double { seconds < 0.011 ? standard : seconds }

    /// The same for a number that may be none.
    package static func usable(_ seconds: Double) -> Double { seconds.isFinite ? corrected(seconds) : standard }
}
