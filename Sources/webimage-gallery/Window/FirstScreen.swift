import CWebImageGTK4
import WebImageGTK

/// Closes a window as soon as its first screen is complete, to measure how soon that is.
@MainActor
enum FirstScreen {
    /// Prints the number of images on the screen, and closes the window, after the frame that shows the last of them has been drawn.
    static func end(_ window: GalleryWindow) {
        guard let clock = gtk_widget_get_frame_clock(window.widget) else { return }
        Signal("after-paint", of: UnsafeMutableRawPointer(clock)) { [weak window] in
            guard let window, !window.isClosed, let count = window.grid.screenCount else { return }
            print("first-screen\t\(count)\timages")
            fflush(nil)
            gtk_window_destroy(window.widget.cast())
        }
    }
}
