import CWebImageGTK4
import WebImage

/// Drives a player from the frame clock of its view, and pauses the callbacks while a frame is shown for a long time.
@MainActor
final class FrameClockLink: @MainActor AnimationDisplayLink {
    /// The shortest pause in seconds; a shorter one is not worth it.
    static let shortestRest = 0.06
    /// Seconds before the next frame is due when the callbacks resume, so that GTK can start its frame clock.
    static let lead = 0.03
    /// The longest pause in seconds. After it, the remaining time is computed again, because the owner of the player may have changed its
    /// rate.
    static let longestRest = 0.25

    /// Returns the seconds until the next frame can be due.
    var timeUntilNextFrame: (() -> Double)?

    private let clock: FrameClock
    private var tick: ((_ seconds: Double) -> Void)?
    private var listener: Int?
    private var timer: guint = 0

    init(_ clock: FrameClock) { self.clock = clock }

    isolated deinit { stop() }

    /// True while callbacks are paused until shortly before the next frame is due.
    var isResting: Bool { timer != 0 }

    func start(_ tick: @escaping (_ seconds: Double) -> Void) {
        self.tick = tick
        listen()
    }

    func stop() {
        tick = nil
        endRest()
        if let listener { clock.remove(listener) }
        listener = nil
    }

    /// Ends a pause early, after a change that its length did not account for.
    func wake() {
        guard isResting else { return }
        endRest()
        if tick != nil { listen() }
    }

    private func listen() {
        endRest()
        guard listener == nil else { return }
        listener = clock.add { [weak self] in self?.advance(to: $0) }
    }

    private func advance(to seconds: Double) {
        tick?(seconds)
        guard tick != nil, let rest = timeUntilNextFrame?(), rest > Self.shortestRest else { return }
        if let listener { clock.remove(listener) }
        listener = nil
        beginRest(min(rest - Self.lead, Self.longestRest))
    }

    private func beginRest(_ seconds: Double) {
        endRest()
        let link = Unmanaged.passRetained(WeakLink(self))
        timer = g_timeout_add_full(
            Int32(G_PRIORITY_DEFAULT),
            guint(seconds * 1000),
            { data in
                guard let data else { return 0 }
                nonisolated(unsafe) let box = data
                MainActor.assumeIsolated {
                    guard let link = Unmanaged<WeakLink>.fromOpaque(box).takeUnretainedValue().link else { return }
                    link.timer = 0
                    if link.tick != nil { link.listen() }
                }
                return 0
            },
            link.toOpaque(),
            { if let data = $0 { Unmanaged<WeakLink>.fromOpaque(data).release() } }
        )
    }

    private func endRest() {
        if timer != 0 { g_source_remove(timer) }
        timer = 0
    }

    private final class WeakLink: Sendable {
        @MainActor weak var link: FrameClockLink?
        @MainActor init(_ link: FrameClockLink) { self.link = link }
    }
}
