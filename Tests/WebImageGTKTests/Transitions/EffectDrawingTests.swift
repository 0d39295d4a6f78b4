import CWebImageGTK4
import Testing
import WebImage

@testable import WebImageGTK

/// Drawing of transitions, without a display. Positions were calculated by hand from the documentation.
@Suite(.serialized) @MainActor struct EffectDrawingTests {
    private nonisolated static let whole = ImageRect(x: 0, y: 0, width: 40, height: 20)
    private nonisolated static let size = ImageSize(width: 40, height: 20)

    private func draw(_ name: String, _ progress: Double, isOpaque: Bool = false) throws -> Drawing {
        try TransitionMoment.draw(
            Effects.named(name),
            progress,
            in: Self.size,
            old: (Quarters.old(isOpaque: isOpaque), Self.whole),
            new: (Quarters.new(isOpaque: isOpaque), Self.whole)
        )
    }

    struct Look: Sendable, CustomTestStringConvertible {
        let name: String
        let progress: Double
        /// Places and their colours.
        let pixels: [(x: Int, y: Int, color: [UInt8])]
        var testDescription: String { "\(name) at \(progress)" }

        init(_ name: String, _ progress: Double, _ pixels: [(x: Int, y: Int, color: [UInt8])]) {
            (self.name, self.progress, self.pixels) = (name, progress, pixels)
        }
    }

    private nonisolated static let (red, green, blue, white): ([UInt8], [UInt8], [UInt8], [UInt8]) = (
        [255, 0, 0, 255], [0, 255, 0, 255], [0, 0, 255, 255], [255, 255, 255, 255]
    )
    private nonisolated static let (cyan, magenta, yellow, black): ([UInt8], [UInt8], [UInt8], [UInt8]) = (
        [0, 255, 255, 255], [255, 0, 255, 255], [255, 255, 0, 255], [0, 0, 0, 255]
    )
    private nonisolated static let clear: [UInt8] = [0, 0, 0, 0]

    private nonisolated static let looks: [Look] =
        [
            Look("fade", 0.25, [(10, 5, [191, 64, 64, 255]), (30, 15, [191, 191, 191, 255])]),
            Look("fade", 0.5, [(10, 5, [128, 128, 128, 255]), (30, 5, [128, 128, 128, 255])]),
            Look(
                "zoom",
                0.25,
                [(17, 9, cyan), (23, 11, black), (5, 5, [191, 0, 0, 191]), (35, 5, [0, 191, 0, 191])]
            ),
            Look(
                "zoom",
                0.5,
                [(12, 7, cyan), (28, 13, black), (5, 5, [128, 0, 0, 128]), (12, 17, [0, 0, 128, 128])]
            ),
            // The line at 15 and at 10, and a roll of 4 above it.
            Look("curlUp", 0.25, [(10, 5, red), (10, 10, blue), (10, 13, [128, 128, 255, 255]), (10, 17, yellow)]),
            Look("curlUp", 0.5, [(10, 3, red), (10, 8, [128, 128, 255, 255]), (30, 12, black), (10, 12, yellow)]),
            Look("curlUp", 0.75, [(30, 3, [128, 255, 128, 255]), (10, 7, cyan), (30, 17, black)]),
            Look("curlDown", 0.25, [(10, 0, cyan), (10, 3, [128, 255, 255, 255]), (10, 7, red), (30, 17, white)]),
            Look("curlDown", 0.5, [(30, 3, magenta), (10, 8, [255, 255, 128, 255]), (10, 12, blue)]),
            Look("slideFromLeft", 0.25, [(5, 5, magenta), (15, 5, red), (35, 5, green), (5, 15, black)]),
            Look("slideFromLeft", 0.5, [(10, 5, magenta), (30, 5, red), (30, 15, blue)]),
            Look("slideFromRight", 0.25, [(5, 5, red), (15, 5, green), (35, 5, cyan), (35, 15, yellow)]),
            Look("slideFromRight", 0.5, [(10, 5, green), (30, 5, cyan)]),
            Look("slideFromTop", 0.25, [(10, 2, yellow), (10, 7, red), (10, 17, blue)]),
            Look("slideFromTop", 0.5, [(30, 5, black), (30, 15, green)]),
            Look("slideFromBottom", 0.25, [(10, 2, red), (10, 12, blue), (10, 17, cyan)]),
            Look("slideFromBottom", 0.5, [(30, 5, white), (30, 15, magenta)]),
        ]
        + ["flipFromLeft", "flipFromRight"].flatMap { name in
            [
                // Narrower by the cosine of 45 degrees: from 5.9 to 34.1.
                Look(name, 0.25, [(3, 5, clear), (10, 5, red), (30, 15, white), (36, 15, clear)]),
                Look(name, 0.5, [(10, 5, clear), (20, 10, clear)]),
                Look(name, 0.75, [(3, 5, clear), (10, 5, cyan), (30, 15, black), (36, 15, clear)]),
            ]
        }
        + ["flipFromTop", "flipFromBottom"].flatMap { name in
            [
                Look(name, 0.25, [(10, 1, clear), (10, 6, red), (30, 14, white), (30, 18, clear)]),
                Look(name, 0.5, [(10, 5, clear), (20, 10, clear)]),
                Look(name, 0.75, [(10, 1, clear), (10, 6, cyan), (30, 14, black), (30, 18, clear)]),
            ]
        }

    @Test(arguments: looks) func `Halfway both images are in their places`(look: Look) throws {
        let drawing = try draw(look.name, look.progress)
        for pixel in look.pixels {
            let found = drawing.rgba(pixel.x, pixel.y)
            #expect(found.isClose(to: pixel.color), "\(pixel), not \(found)")
        }
    }

    @Test(arguments: Effects.names) func `At 0 a transition is the old image to the bit, and at 1 the new one`(
        name: String
    )
        throws
    {
        for isOpaque in [false, true] {
            let old = try Quarters.old(isOpaque: isOpaque)
            let new = try Quarters.new(isOpaque: isOpaque)
            let expected = try [old, new].map { image in
                try Drawing(40, 20) { PaintableContent(image)?.draw(into: $0, Self.whole) }
            }
            #expect(expected[0].rgba(10, 5) == Quarters.red && expected[1].rgba(10, 5) == Quarters.cyan)
            #expect(try draw(name, 0, isOpaque: isOpaque) == expected[0])
            #expect(try draw(name, 1, isOpaque: isOpaque) == expected[1])
        }
    }

    @Test(arguments: Effects.names) func `Near its ends a transition looks nearly like them`(name: String) throws {
        for (progress, end) in [(0.002, 0.0), (0.998, 1.0)] {
            let (near, exact) = (try draw(name, progress, isOpaque: true), try draw(name, end, isOpaque: true))
            // The corners of quarters, and the two rows or columns where something moves, are left out.
            for (x, y) in [(5, 5), (15, 5), (25, 5), (35, 5), (5, 15), (35, 15)] {
                #expect(near.rgba(x, y).isClose(to: exact.rgba(x, y), by: 4), "\(progress) \(x) \(y)")
            }
        }
    }

    @Test(arguments: Effects.names) func `Transitions lead from nothing to an image, and from an image to nothing`(
        name: String
    ) throws {
        let effect = Effects.named(name)
        for step in 0...8 {
            let progress = Double(step) / 8
            let coming = try TransitionMoment.draw(
                effect,
                progress,
                in: Self.size,
                old: (nil, Self.whole),
                new: (Quarters.new(), Self.whole)
            )
            let going = try TransitionMoment.draw(
                effect,
                progress,
                in: Self.size,
                old: (Quarters.old(), Self.whole),
                new: (nil, Self.whole)
            )
            if step == 0 { #expect(coming.rgba(10, 5) == Self.clear && going.rgba(10, 5) == Self.red) }
            if step == 8 { #expect(coming.rgba(10, 5) == Self.cyan && going.rgba(10, 5) == Self.clear) }
            let nothing = try TransitionMoment.draw(
                effect,
                progress,
                in: Self.size,
                old: (nil, Self.whole),
                new: (nil, Self.whole)
            )
            #expect(nothing.bytes.allSatisfy { $0 == 0 })
        }
    }

    @Test func `The half of a flipped image that turns away lies in shadow, which tells the four directions apart`()
        throws
    {
        // Of each: a pixel near the viewer and one far away, in the first half and in the second.
        let sides: [(name: String, first: (Int, Int), second: (Int, Int))] = [
            ("flipFromLeft", (9, 4), (31, 4)), ("flipFromRight", (31, 4), (9, 4)),
            ("flipFromTop", (5, 5), (5, 14)), ("flipFromBottom", (5, 14), (5, 5)),
        ]
        for side in sides {
            for (progress, bright, dark) in [(0.25, side.first, side.second), (0.75, side.second, side.first)] {
                let (plain, shaded) = (try draw(side.name, progress), try draw(side.name, progress, isOpaque: true))
                #expect(plain.rgba(bright.0, bright.1) == shaded.rgba(bright.0, bright.1), "\(side.name) \(progress)")
                let (light, shadow) = (plain.rgba(dark.0, dark.1), shaded.rgba(dark.0, dark.1))
                let sums = (light.map(Int.init).reduce(0, +), shadow.map(Int.init).reduce(0, +))
                #expect(sums.1 < sums.0 && shadow[3] == 255, "\(side.name) \(progress): \(light) \(shadow)")
            }
        }
    }

    @Test(arguments: Effects.names) func `Pixels transparent in both images stay so`(name: String) throws {
        let hole = [Self.clear, Self.red, Self.clear, Self.red]
        let image = try Quarters.picture(40, 20, hole, isOpaque: false)
        let upright = !["slideFromLeft", "slideFromRight"].contains(name)
        for step in 0...8 where upright {
            let drawing = try TransitionMoment.draw(
                Effects.named(name),
                Double(step) / 8,
                in: Self.size,
                old: (image, Self.whole),
                new: (image, Self.whole)
            )
            for y in 0..<20 { #expect(drawing.rgba(4, y) == Self.clear, "\(step) \(y)") }
        }
    }

    @Test(arguments: Effects.names) func `Images of different aspect ratios lie in their own places`(name: String)
        throws
    {
        // In a view of 60 by 60, whole: one lies across, the other one stands.
        let (across, upright) = (
            ImageRect(x: 0, y: 15, width: 60, height: 30), ImageRect(x: 15, y: 0, width: 30, height: 60)
        )
        let size = ImageSize(width: 60, height: 60)
        let (old, new) = (try Quarters.old(60, 30), try Quarters.new(30, 60))
        func draw(_ progress: Double) throws -> Drawing {
            try TransitionMoment.draw(Effects.named(name), progress, in: size, old: (old, across), new: (new, upright))
        }
        let (begin, end) = (try draw(0), try draw(1))
        #expect(begin.rgba(2, 20) == Self.red && begin.rgba(58, 40) == Self.white && begin.rgba(30, 10) == Self.clear)
        #expect(end.rgba(20, 2) == Self.cyan && end.rgba(40, 58) == Self.black && end.rgba(10, 30) == Self.clear)
        let quarter = try draw(0.25)
        let expected: [(Int, Int, [UInt8])] =
            switch name {
            // 15 to the right; the new one from 15 - 45.
            case "slideFromLeft": [(10, 20, Self.clear), (20, 20, Self.red), (58, 20, Self.green), (5, 5, Self.clear)]
            case "slideFromRight":
                [(10, 20, Self.red), (20, 20, Self.green), (50, 20, Self.clear), (58, 5, Self.clear)]
            case "slideFromTop": [(5, 35, Self.red), (5, 50, Self.blue), (20, 10, Self.yellow), (20, 16, Self.clear)]
            case "slideFromBottom": [(5, 5, Self.red), (5, 20, Self.blue), (20, 47, Self.cyan), (20, 40, Self.clear)]
            case "curlUp": [(2, 20, Self.red), (2, 50, Self.clear), (20, 50, Self.yellow)]
            case "curlDown": [(20, 2, Self.cyan), (2, 20, Self.red), (58, 40, Self.white)]
            case "flipFromLeft", "flipFromRight": [(5, 20, Self.clear), (12, 20, Self.red), (48, 40, Self.white)]
            case "flipFromTop", "flipFromBottom": [(2, 17, Self.clear), (2, 25, Self.red), (58, 35, Self.white)]
            case "fade": [(2, 20, [191, 0, 0, 191]), (20, 5, [0, 64, 64, 64])]
            default: [(2, 20, [191, 0, 0, 191]), (28, 25, Self.cyan), (32, 35, Self.black)]
            }
        for (x, y, color) in expected {
            #expect(quarter.rgba(x, y).isClose(to: color), "\(x) \(y): \(quarter.rgba(x, y))")
        }
    }

    @Test func `A custom transition draws anything`() throws {
        let own = WebImageTransition(duration: 1, timing: .linear) { moment in
            if moment.progress < 0.75 { moment.drawOld() } else { moment.drawNew() }
            #expect(moment.viewRect == Self.whole && moment.oldRect == Self.whole)
        }
        for (progress, color) in [(0.0, Self.red), (0.5, Self.red), (0.75, Self.cyan), (1.0, Self.cyan)] {
            let drawing = try TransitionMoment.draw(
                own,
                progress,
                in: Self.size,
                old: (Quarters.old(), Self.whole),
                new: (Quarters.new(), Self.whole)
            )
            #expect(drawing.rgba(10, 5) == color)
        }
    }
}
