import CWebImageGTK4
import Testing
import WebImage

@testable import WebImageGTK

/// Drawing of indicators, without a display. Positions were calculated by hand.
@Suite(.serialized) @MainActor struct IndicatorDrawingTests {
    private static let dark = GdkRGBA(red: 0, green: 0, blue: 0, alpha: 1)
    private static let light = GdkRGBA(red: 1, green: 1, blue: 1, alpha: 1)
    private static let clear: [UInt8] = [0, 0, 0, 0]

    private func draw(
        _ width: Int = 100,
        _ height: Int = 80,
        at time: Double = 0,
        _ color: GdkRGBA = dark,
        isOverContent: Bool = false,
        view: ImageRect? = nil,
        _ body: (IndicatorCanvas) -> Void
    ) throws -> Drawing {
        try Drawing(width, height) { snapshot in
            body(
                IndicatorCanvas(
                    snapshot: snapshot,
                    view: view ?? ImageRect(x: 0, y: 0, width: Double(width), height: Double(height)),
                    time: time,
                    color: color,
                    isOverContent: isOverContent
                )
            )
        }
    }

    // MARK: The ring

    /// The parts of a ring of 32 points around (50, 40), a point inside its edge: above, right, below and left.
    private func ring(_ drawing: Drawing) -> [[UInt8]] {
        [drawing.rgba(50, 26), drawing.rgba(63, 40), drawing.rgba(50, 53), drawing.rgba(36, 40)]
    }

    @Test func `A third of the ring revolves once a second`() throws {
        let (full, faint): ([UInt8], [UInt8]) = ([0, 0, 0, 255], [0, 0, 0, 51])
        // From the top, clockwise, 108 degrees; pixels on that edge are left out.
        for (time, seen) in [(0.1, 1), (0.35, 2), (0.6, 3), (0.85, 0), (7.1, 1)] {
            let drawing = try draw(at: time) { ActivityIndicator.draw($0, .medium) }
            let parts = ring(drawing)
            #expect(parts[seen] == full, "\(time)")
            #expect(parts[(seen + 2) % 4].isClose(to: faint), "\(time)")
            #expect(drawing.rgba(50, 40) == Self.clear && drawing.rgba(50, 20) == Self.clear)
        }
    }

    @Test func `The sizes are 16, 32 and 48 points, less in small views, and zero without space`() throws {
        for size in ActivityIndicator.Size.allCases {
            let drawing = try draw { ActivityIndicator.draw($0, size) }
            let columns = (0..<100).filter { x in (0..<80).contains { drawing.rgba(x, $0)[3] > 25 } }
            let expected = Int(size.diameter)
            #expect(columns.first == 50 - expected / 2 && columns.last == 50 + expected / 2 - 1, "\(size)")
        }
        // A height of 14 leaves space for 10.
        let small = try draw(30, 14, at: 0.1) { ActivityIndicator.draw($0, .large) }
        let rows = (0..<14).filter { y in (0..<30).contains { small.rgba($0, y)[3] > 25 } }
        #expect(rows.first == 2 && rows.last == 11)
        let none = try draw(5, 5) { ActivityIndicator.draw($0, .large) }
        #expect(none.bytes.allSatisfy { $0 == 0 })
    }

    @Test(arguments: [true, false])
    func `Over an image there is a plate below the indicator, in contrast to the text colour`(
        isDark: Bool
    ) throws {
        let color = isDark ? Self.dark : Self.light
        let drawing = try draw(at: 0.1, color, isOverContent: true) { ActivityIndicator.draw($0, .medium) }
        // 0.6 of white or black.
        #expect(drawing.rgba(50, 40).isClose(to: isDark ? [153, 153, 153, 153] : [0, 0, 0, 153]))
        #expect(drawing.rgba(63, 40) == (isDark ? [0, 0, 0, 255] : [255, 255, 255, 255]))
        #expect(drawing.rgba(50, 15) == Self.clear)
    }

    @Test func `The indicator lies in the middle of the view, wherever the image is`() throws {
        let view = ImageRect(x: 20, y: -10, width: 60, height: 100)
        let drawing = try draw(at: 0.1, view: view) { ActivityIndicator.draw($0, .medium) }
        #expect(drawing.rgba(63, 40) == [0, 0, 0, 255])
    }

    // MARK: The bar

    private func bar(
        _ progress: Double,
        at time: Double = 0,
        isOverContent: Bool = false,
        isStill: Bool = false
    ) throws -> Drawing {
        try draw(at: time, isOverContent: isOverContent) {
            ProgressIndicator.draw($0, progress, thickness: 4, isStill: isStill)
        }
    }

    @Test func `The bar lies eight points above the bottom, and is filled by the progress`() throws {
        // From 8 to 92 across, 68 to 72 down.
        for (progress, end) in [(0.25, 29), (0.5, 50), (1.0, 92)] {
            let drawing = try bar(progress)
            for x in [12, 20, 40, 60, 80, 88] {
                let expected: [UInt8] = x < end ? [0, 0, 0, 255] : [0, 0, 0, 51]
                #expect(drawing.rgba(x, 70).isClose(to: expected), "\(progress) \(x)")
            }
            #expect(drawing.rgba(50, 66) == Self.clear && drawing.rgba(50, 73) == Self.clear)
            #expect(drawing.rgba(6, 70) == Self.clear && drawing.rgba(93, 70) == Self.clear)
        }
    }

    @Test func `The bar's corners are round`() throws {
        let drawing = try bar(1)
        #expect(drawing.rgba(8, 68)[3] < 128 && drawing.rgba(91, 71)[3] < 128)
        #expect(drawing.rgba(12, 68) == [0, 0, 0, 255])
    }

    @Test func `While the length is unknown a segment goes back and forth in two seconds`() throws {
        // 84 wide, of which the segment is 25.2: from 8, in the middle, to 92, and back.
        let (full, faint): ([UInt8], [UInt8]) = ([0, 0, 0, 255], [0, 0, 0, 51])
        for (time, place) in [(0.0, 20), (0.5, 50), (1.0, 80), (1.5, 50), (2.0, 20), (12.0, 20)] {
            let drawing = try bar(0, at: time)
            for x in [20, 50, 80] {
                #expect(drawing.rgba(x, 70).isClose(to: x == place ? full : faint), "\(time) \(x)")
            }
        }
        #expect(try bar(0, isStill: true).rgba(50, 70) == full)
    }

    @Test func `Over an image the bar lies on a plate in contrast to the text colour`() throws {
        let drawing = try bar(0.5, isOverContent: true)
        // 0.6 of white below 0.2 of black: 153 * 0.8, and 1 - 0.4 * 0.8 opaque.
        #expect(drawing.rgba(80, 70).isClose(to: [122, 122, 122, 173]))
        #expect(drawing.rgba(20, 70) == [0, 0, 0, 255])
    }

    @Test func `In small views the bar has smaller margins, and in tiny ones there is none`() throws {
        func layout(_ width: Double, _ height: Double, _ thickness: Double = 4) -> ImageRect? {
            ProgressIndicator.layout(
                in: ImageRect(x: 0, y: 0, width: width, height: height),
                1,
                thickness: thickness,
                at: 0,
                isStill: false
            )?.bar
        }
        #expect(layout(24, 24) == ImageRect(x: 3, y: 17, width: 18, height: 4))
        #expect(layout(100, 3) == ImageRect(x: 0, y: 0, width: 100, height: 3))
        #expect(layout(3, 100) == nil && layout(100, 0) == nil && layout(0, 0) == nil)
        #expect(layout(100, 100, -3)?.height == 1)
        #expect(layout(100, 100, .nan)?.height == 4 && layout(100, 100, 1000)?.height == 84)
    }
}
