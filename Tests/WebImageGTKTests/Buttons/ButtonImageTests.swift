import CWebImageGTK4
import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageGTK

@Suite(.tags(.addressSanitizer), .serialized, .needsDisplay) @MainActor struct ButtonImageTests {
    private typealias Color = [UInt8]

    let bench: ViewBench
    let told = Told()
    private static let colors: [ButtonState: Color] = [
        .normal: [255, 0, 0, 255], .active: [0, 255, 0, 255], .prelight: [0, 0, 255, 255],
        .insensitive: [255, 255, 0, 255], .checked: [0, 255, 255, 255],
    ]

    init() throws { bench = try ViewBench() }

    private func url(_ state: ButtonState, _ role: ButtonRole = .image) -> URL {
        ViewBench.url("\(role)-\(state).bmp")
    }

    private func slot(_ state: ButtonState, _ role: ButtonRole) -> ImageSlot {
        role == .image ? .image(state) : .background(state)
    }

    private func data(_ state: ButtonState) -> Data {
        let color = Self.colors[state] ?? [0, 0, 0, 255]
        return ViewBench.picture(40, 30, color[0], color[1], color[2])
    }

    private func set(_ button: OpaquePointer, _ state: ButtonState, _ role: ButtonRole = .image) async throws {
        let told = told
        let count = told.results.count
        button.setImage(
            with: url(state, role),
            in: slot(state, role),
            context: bench.context,
            completed: { told.results.append($0) }
        )
        try #require(await bench.loader.request(of: url(state, role)))
        bench.loader.end(url(state, role), with: .success(data(state)))
        try #require(await MainLoopTurns.wait { told.results.count > count })
    }

    /// The colour in the middle of a role's image.
    private func middle(_ window: TestWindow, _ button: OpaquePointer, _ role: ButtonRole = .image) async throws
        -> Color
    {
        await window.frames()
        let picture = role == .image ? button.buttonPicture : button.buttonBackgroundPicture
        return try window.pixels(of: UnsafeMutableRawPointer(try #require(picture))).middle
    }

    private func setFlag(_ flag: GtkStateFlags, _ isSet: Bool, _ button: OpaquePointer) {
        let widget = UnsafeMutableRawPointer(button).widget
        isSet ? gtk_widget_set_state_flags(widget, flag, 0) : gtk_widget_unset_state_flags(widget, flag)
    }

    @Test func `The states are those of GTK`() {
        let flags: [ButtonState: GtkStateFlags] = [
            .normal: GTK_STATE_FLAG_NORMAL, .active: GTK_STATE_FLAG_ACTIVE, .prelight: GTK_STATE_FLAG_PRELIGHT,
            .insensitive: GTK_STATE_FLAG_INSENSITIVE, .checked: GTK_STATE_FLAG_CHECKED,
        ]
        #expect(flags.count == ButtonState.allCases.count)
        for (state, flag) in flags { #expect(state.rawValue == flag.rawValue) }
    }

    @Test func `Each state has its own slots`() {
        let slots = ButtonState.allCases.map { ImageSlot.image($0) }
        let backgrounds = ButtonState.allCases.map { ImageSlot.background($0) }
        let others: [ImageSlot] = [.highlighted, .named("mine"), .named("others")]
        let keys = (slots + backgrounds + others).map(\.operationKey)
        #expect(Set(slots + backgrounds + others).count == 13 && Set(keys).count == 13)
        #expect(keys.prefix(2) == ["image", "GtkButtonImageOperation1"])
        #expect(keys[9] == "GtkButtonBackgroundImageOperation2048")
        #expect(keys.suffix(3) == ["highlightedImage", "mine", "others"])
        #expect(slots[0] == .image && backgrounds[0] == .background && ImageSlot.named("image") == .image)
    }

    @Test(arguments: [ButtonRole.image, .background])
    func `The image of the current state is shown, the first of insensitive, active, checked and prelight`(
        role: ButtonRole
    )
        async throws
    {
        let button = OpaquePointer(try #require(gtk_toggle_button_new()))
        let raw = UnsafeMutableRawPointer(button)
        let window = try await TestWindow(raw)
        for state in ButtonState.allCases { try await set(button, state, role) }
        #expect(told.codes == [nil, nil, nil, nil, nil])
        #expect(try await middle(window, button, role) == Self.colors[.normal])
        setFlag(GTK_STATE_FLAG_PRELIGHT, true, button)
        #expect(try await middle(window, button, role) == Self.colors[.prelight])
        gtk_toggle_button_set_active(raw.assumingMemoryBound(to: GtkToggleButton.self), 1)
        #expect(try await middle(window, button, role) == Self.colors[.checked])
        setFlag(GTK_STATE_FLAG_ACTIVE, true, button)
        #expect(try await middle(window, button, role) == Self.colors[.active])
        gtk_widget_set_sensitive(raw.widget, 0)
        // Themes draw insensitive widgets paler.
        let content = ViewState.of(
            UnsafeMutableRawPointer(
                try #require(
                    role == .image ? button.buttonPicture : button.buttonBackgroundPicture
                )
            )
        ).paintable.content?.image
        #expect(content?.bitmap.pixels.prefix(3) == [0, 255, 255])
        #expect(try await middle(window, button, role) != Self.colors[.active])
        gtk_widget_set_sensitive(raw.widget, 1)
        setFlag(GTK_STATE_FLAG_ACTIVE, false, button)
        gtk_toggle_button_set_active(raw.assumingMemoryBound(to: GtkToggleButton.self), 0)
        setFlag(GTK_STATE_FLAG_PRELIGHT, false, button)
        #expect(try await middle(window, button, role) == Self.colors[.normal])
        window.close()
    }

    @Test func `A state without an image shows that of normal, and its URL`() async throws {
        let button = OpaquePointer(try #require(gtk_button_new()))
        let window = try await TestWindow(UnsafeMutableRawPointer(button))
        #expect(button.currentImageURL == nil && button.imageURL(in: .image) == nil && button.buttonPicture == nil)
        #expect(button.currentBackgroundImageURL == nil && button.imageURL(in: .background(.active)) == nil)
        try await set(button, .normal)
        try await set(button, .active)
        setFlag(GTK_STATE_FLAG_PRELIGHT, true, button)
        #expect(try await middle(window, button) == Self.colors[.normal])
        #expect(button.currentImageURL == url(.normal) && button.imageURL(in: .image(.prelight)) == nil)
        setFlag(GTK_STATE_FLAG_ACTIVE, true, button)
        #expect(try await middle(window, button) == Self.colors[.active])
        #expect(button.currentImageURL == url(.active) && button.imageURL(in: .image(.active)) == url(.active))
        try await set(button, .normal, .background)
        #expect(button.currentBackgroundImageURL == url(.normal, .background))
        #expect(button.imageURL(in: .background) == url(.normal, .background))
        #expect(button.latestImageSlot == .background)
        window.close()
    }

    @Test(arguments: [ButtonRole.image, .background])
    func `Each state's load is cancelled separately, or by the next one of the state`(role: ButtonRole) async throws {
        let button = OpaquePointer(try #require(gtk_button_new()))
        let window = try await TestWindow(UnsafeMutableRawPointer(button))
        var context = bench.context
        context.setImageOperationKey = "not looked at"
        var ended: [ButtonState: [WebImageError.Code?]] = [:]
        func begin(_ state: ButtonState, _ url: URL) async throws {
            let completed = { @MainActor (result: Result<WebImageResult, WebImageError>) in
                if case .failure(let error) = result {
                    ended[state, default: []].append(error.code)
                } else {
                    ended[state, default: []].append(nil)
                }
            }
            button.setImage(with: url, in: slot(state, role), context: context, completed: completed)
            try #require(await bench.loader.request(of: url))
        }
        for state in [ButtonState.normal, .active, .checked] { try await begin(state, url(state, role)) }
        #expect(button.imageLoadOperation(in: slot(.normal, role)) != nil)
        button.cancelCurrentImageLoad(in: slot(.active, role))
        button.cancelCurrentImageLoad(in: slot(.prelight, role))
        #expect(ended == [.active: [.cancelled]])
        let other = ViewBench.url("other.bmp")
        try await begin(.checked, other)
        #expect(ended == [.active: [.cancelled], .checked: [.cancelled]])
        bench.loader.end(url(.normal, role), with: .success(data(.normal)))
        bench.loader.end(other, with: .success(data(.checked)))
        #expect(await MainLoopTurns.wait { ended[.normal] == [nil] && ended[.checked] == [.cancelled, nil] })
        window.close()
    }

    @Test func `A placeholder is shown until the image arrives, and progress is reported`() async throws {
        let button = OpaquePointer(try #require(gtk_button_new()))
        let window = try await TestWindow(UnsafeMutableRawPointer(button))
        let green = try ImageCodersManager.shared.decode(ViewBench.green, options: ImageDecodeOptions())
        let told = told
        button.setImage(
            with: url(.normal),
            in: .image(.normal),
            placeholder: .image(green),
            context: bench.context,
            progress: { told.progress.append($0) },
            completed: { told.results.append($0) }
        )
        #expect(try await middle(window, button) == [0, 255, 0, 255])
        try #require(await bench.loader.request(of: url(.normal)))
        bench.loader.report(1, of: 2, url(.normal))
        #expect(await MainLoopTurns.wait { told.progress.last?.fraction == 0.5 })
        bench.loader.end(url(.normal), with: .success(data(.normal)))
        #expect(await MainLoopTurns.wait { told.codes == [nil] })
        #expect(try await middle(window, button) == Self.colors[.normal])
        #expect(button.setImage(with: nil, in: .image(.normal), completed: { told.results.append($0) }) == nil)
        #expect(told.codes.last == .invalidURL && button.imageURL(in: .image(.normal)) == nil)
        #expect(try await middle(window, button)[3] == 0, "a nil placeholder does not remove the image")
        window.close()
    }

    @Test func `The async forms return the image or throw the error`() async throws {
        let button = OpaquePointer(try #require(gtk_button_new()))
        let window = try await TestWindow(UnsafeMutableRawPointer(button))
        let context = bench.context
        let (a, b) = (url(.normal), url(.active))
        for role in ButtonRole.allCases {
            await bench.cache.clear(.all)
            let (normal, active) = (slot(.normal, role), slot(.active, role))
            let first = Task { try await button.setImage(awaiting: a, in: normal, context: context) }
            try #require(await bench.loader.request(of: a))
            bench.loader.end(a, with: .success(data(.normal)))
            #expect(try await first.value.url == a)
            let second = Task { () -> WebImageError.Code? in
                do throws(WebImageError) {
                    try await button.setImage(awaiting: b, in: active, context: context)
                    return nil
                } catch { return error.code }
            }
            try #require(await bench.loader.request(of: b))
            second.cancel()
            #expect(await second.value == .cancelled)
        }
        window.close()
    }

    @Test func `setImage without a state sets the normal state`() async throws {
        let button = OpaquePointer(try #require(gtk_button_new()))
        let window = try await TestWindow(UnsafeMutableRawPointer(button))
        let told = told
        button.setImage(with: url(.active), context: bench.context, completed: { told.results.append($0) })
        try #require(await bench.loader.request(of: url(.active)))
        button.cancelCurrentImageLoad()
        #expect(told.codes == [.cancelled])
        button.setImage(with: url(.normal), context: bench.context, completed: { told.results.append($0) })
        try #require(await bench.loader.request(of: url(.normal)))
        bench.loader.end(url(.normal), with: .success(data(.normal)))
        #expect(await MainLoopTurns.wait { told.codes == [.cancelled, nil] })
        #expect(try await middle(window, button) == Self.colors[.normal])
        #expect(button.imageURL == url(.normal) && button.imageURL(in: .image(.normal)) == url(.normal))
        window.close()
    }
}
