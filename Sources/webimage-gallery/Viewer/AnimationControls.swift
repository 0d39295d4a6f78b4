import CWebImageGTK4
import WebImage
import WebImageGTK

/// Playback controls: play, speed and direction. Visible while an animated image is shown.
@MainActor
final class AnimationControls {
    let widget: Widget
    let view: AnimatedImageView
    let play: Widget
    let rate: Widget
    let direction: Widget
    private let position = Make.label(classes: "numeric", "dim-label")
    private var frameCount = 0
    private var showsPlaying = true

    private static let rates = [0.25, 0.5, 1, 2, 4]
    private static let directions: [(title: String, mode: AnimationPlaybackMode)] = [
        ("Forwards", .normal), ("Backwards", .reverse), ("Bounce", .bounce),
        ("Reverse bounce", .reversedBounce),
    ]

    /// - Parameter view: the view whose animation is controlled.
    init(_ view: AnimatedImageView) {
        self.view = view
        rate = Self.dropDown(Self.rates.map { $0 < 1 ? "×\($0)" : "×\(Int($0))" }, selected: 2, "Speed")
        direction = Self.dropDown(Self.directions.map(\.title), selected: 0, "Direction")
        play = Make.required(gtk_button_new_from_icon_name("media-playback-pause-symbolic"))
        widget = Make.box(GTK_ORIENTATION_HORIZONTAL, spacing: 6, play, rate, direction, position)
        Make.onClick(play) { [weak self] in self?.toggle() }
        Signal("notify::selected", of: UnsafeMutableRawPointer(rate)) { [weak self] in self?.applyRate() }
        Signal("notify::selected", of: UnsafeMutableRawPointer(direction)) { [weak self] in self?.applyDirection() }
        view.animationFrameHandler = { [weak self] index, _ in self?.showPosition(index) }
        // Playback ends after the last loop.
        view.animationLoopHandler = { [weak self] _ in self?.showState() }
        gtk_widget_set_visible(widget, 0)
        showState()
    }

    private static func dropDown(_ titles: [String], selected: Int, _ title: String) -> Widget {
        let copies = titles.map { g_strdup($0) }
        defer { for copy in copies { g_free(copy) } }
        var strings = copies.map { $0.map { UnsafePointer($0) } } + [nil]
        let widget = Make.required(gtk_drop_down_new_from_strings(&strings))
        gtk_drop_down_set_selected(widget.opaque, guint(selected))
        gtk_widget_set_tooltip_text(widget, title)
        Make.setAccessibleLabel(of: widget, title)
        return widget
    }

    /// Updates the controls for a loaded image; hides them if it is not animated.
    func show(_ image: Image?) {
        frameCount = image?.metadata.frameCount ?? 0
        gtk_widget_set_visible(widget, image?.animation == nil ? 0 : 1)
        applyRate()
        applyDirection()
        showPosition(view.currentFrameIndex)
        showState()
    }

    /// True while the animation is playing.
    var isPlaying: Bool { view.isAnimating }

    /// Toggles between playing and paused.
    func toggle() {
        guard gtk_widget_get_visible(widget) != 0 else { return }
        view.isAnimating ? view.stopAnimating() : view.startAnimating()
        showState()
    }

    private func applyRate() {
        let index = Int(gtk_drop_down_get_selected(rate.opaque))
        if Self.rates.indices.contains(index) { view.playbackRate = Self.rates[index] }
    }

    private func applyDirection() {
        let index = Int(gtk_drop_down_get_selected(direction.opaque))
        guard Self.directions.indices.contains(index), view.playbackMode != Self.directions[index].mode else { return }
        let wasPlaying = view.isAnimating
        // A player reads its mode when it starts.
        if wasPlaying { view.stopAnimating() }
        view.playbackMode = Self.directions[index].mode
        if wasPlaying { view.startAnimating() }
    }

    private func showPosition(_ index: Int) {
        gtk_label_set_text(position.opaque, frameCount > 0 ? "\(index + 1) of \(frameCount)" : "")
        if view.isAnimating != showsPlaying { showState() }
    }

    private func showState() {
        let isPlaying = view.isAnimating
        showsPlaying = isPlaying
        gtk_button_set_icon_name(
            play.cast(),
            isPlaying ? "media-playback-pause-symbolic" : "media-playback-start-symbolic"
        )
        let title = isPlaying ? "Pause (Space)" : "Play (Space)"
        gtk_widget_set_tooltip_text(play, title)
        Make.setAccessibleLabel(of: play, title)
    }
}
