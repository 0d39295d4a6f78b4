import CGTKTestSupport
import CWebImageGTK4
import Testing

/// The display for tests of widgets.
enum Display {
    /// A Boolean value that indicates whether there is a display: the process was started for that (`Scripts/test` does
    /// it, under Xvfb).
    static var isThere: Bool { cgtktest_has_main_loop() }

    /// Opens it, once.
    @MainActor
    static func open() throws {
        try #require(isOpen, "GTK has no display")
    }

    @MainActor private static let isOpen = gtk_init_check() != 0 && gdk_display_get_default() != nil
}

/// Suites that show widgets: one test at a time, on the main thread, and only with a display.
extension Trait where Self == ConditionTrait {
    static var needsDisplay: ConditionTrait {
        .enabled(if: Display.isThere, "widgets are tested with WEBIMAGE_TEST_VIEWS=1 and a display; see Scripts/test")
    }
}
