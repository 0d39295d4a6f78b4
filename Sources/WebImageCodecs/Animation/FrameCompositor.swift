/// Draws the frames of an animation on a canvas, each over the result of the frames before it. It reaches another frame with the
/// fewest steps: from the current frame, from a cached canvas, or from the nearest frame that does not depend on earlier ones.
///
/// The plan is an argument, because animations that begin with the same frames can share a compositor: those of a file that is
/// still downloading.
struct FrameCompositor {
    private let keyframeCapacity: Int
    private var canvas: AnimationCanvas?
    /// The frame that the canvas shows; nil when the canvas holds nothing usable.
    private(set) var current: Int?
    private var keyframes: KeyframeCache<AnimationCanvas>
    /// The requested frame, and the remaining frames before it at which to cache a keyframe.
    private var way: (target: Int, marks: [Int])?
    /// A Boolean value that indicates whether the last step was one frame back.
    private var wentBack = false

    /// - Parameter byteCount: the maximum number of bytes of cached canvases.
    init(_ script: CompositionPlan, byteCount: Int) {
        // A canvas also keeps the pixels that its frame has covered.
        let canvasByteCount = script.width * script.height * 4 * (script.restores ? 2 : 1)
        keyframeCapacity = KeyframeCache<AnimationCanvas>.capacity(
            canvasByteCount: canvasByteCount,
            byteCount: byteCount
        )
        keyframes = KeyframeCache(capacity: keyframeCapacity)
    }

    /// The number of cached canvases.
    var keyframeCount: Int { keyframes.count }

    /// Releases the cached canvases, and the current one unless `keepsCurrent`.
    mutating func release(keepsCurrent: Bool) {
        keyframes = KeyframeCache(capacity: keyframeCapacity)
        way = nil
        guard !keepsCurrent else { return }
        (canvas, current) = (nil, nil)
    }

    /// Selects the canvas from which to draw a frame; nothing is decoded.
    ///
    /// - Throws: ``WebImageError/Code/outOfMemory``.
    mutating func head(for index: Int, in script: CompositionPlan) throws(WebImageError) {
        guard way?.target != index || current == nil else { return }
        way = nil
        let beginning = script.beginning(for: index)
        let cached = keyframes.nearest(to: index, from: beginning)
        if let current, current >= beginning, current <= index, cached.map({ $0.index <= current }) ?? true {
            return goOn(from: current, to: index)
        }
        // A player that steps back frame by frame does not return to this frame, so its canvas is not parked, unless the nearest
        // cached canvas was parked, too, by another player.
        let isBack = current == index + 1
        let goesBack = isBack && wentBack && cached?.isMark ?? true
        wentBack = isBack
        // Taken before the current canvas is parked, which may evict it.
        let isTaken = cached.map { $0.index == index || !$0.isMark && $0.index == index - 1 } ?? false
        let kept = cached.flatMap { isTaken ? keyframes.take($0.index) : keyframes.look($0.index) }
        let spare = leave(parks: !goesBack && current.map(script.isNeededLater) ?? false)
        canvas = if let kept { isTaken ? kept : try kept.copy(into: spare) } else { spare }
        current = kept == nil ? nil : cached?.index
        beginWay(from: current ?? beginning, to: index)
    }

    /// Starts drawing forward from the current frame. A jump leaves a copy of the canvas: another player may have reached this
    /// place frame by frame.
    private mutating func goOn(from place: Int, to index: Int) {
        wentBack = false
        beginWay(from: place, to: index)
        guard index - place > 1, keyframes.capacity > 0, let copy = try? canvas?.copy() else { return }
        keyframes.park(copy, at: place)
    }

    /// Plans the keyframes between two frames, for a caller that may step back later. Drawing the next frame needs none.
    private mutating func beginWay(from place: Int, to index: Int) {
        way = (index, index - place > 1 || current == nil ? keyframes.beginWay(from: place, to: index) : [])
    }

    /// Draws one more frame on the way to the one for which ``head(for:in:)`` was called.
    ///
    /// - Returns: whether the canvas now shows that frame.
    /// - Throws: the errors of `decode`, with the canvas unchanged; ``WebImageError/Code/outOfMemory``.
    mutating func step(
        to index: Int,
        in script: CompositionPlan,
        decode: (_ index: Int) throws(WebImageError) -> Bitmap
    ) throws(WebImageError) -> Bool {
        guard current != index else { return true }
        let next = current.map { $0 + 1 } ?? script.beginning(for: index)
        let frame = script.frames[next]
        // An empty frame has no stored pixels.
        let pixels = frame.width > 0 && frame.height > 0 ? try decode(next) : nil
        var canvas = try usableCanvas(width: script.width, height: script.height)
        let steps = script.steps(to: next, from: current)
        // The canvas holds nothing usable until all steps are done.
        (self.canvas, current) = (canvas, nil)
        for step in steps {
            switch step {
            case .clear: canvas.clear()
            case .draw(let index, let saves):
                if let pixels { try canvas.draw(pixels, script.frames[index], saves: saves) }
            case .erase(let index): canvas.erase(script.frames[index])
            case .restore: canvas.restore()
            }
        }
        (self.canvas, current) = (canvas, next)
        leaveMark()
        return next == index
    }

    /// Returns a copy of the canvas; nil when it does not show the frame.
    ///
    /// - Throws: ``WebImageError/Code/outOfMemory``.
    func makeBitmap(
        of index: Int,
        width: Int,
        height: Int,
        isOpaque: Bool,
        quality: ImageDecodeOptions.ScalingQuality
    ) throws(WebImageError) -> Bitmap? {
        guard let canvas, current == index else { return nil }
        return try canvas.makeBitmap(width: width, height: height, isOpaque: isOpaque, quality: quality)
    }

    /// Leaves the current canvas.
    ///
    /// - Parameter parks: whether to cache the canvas.
    /// - Returns: the canvas if it was not cached, so that its memory can be reused; nil if it was, or if there is none.
    private mutating func leave(parks: Bool) -> AnimationCanvas? {
        defer { (canvas, current) = (nil, nil) }
        guard let canvas, let current, parks, keyframes.capacity > 0 else { return canvas }
        keyframes.park(canvas, at: current)
        return nil
    }

    private func usableCanvas(width: Int, height: Int) throws(WebImageError) -> AnimationCanvas {
        if let canvas { return canvas }
        return try AnimationCanvas(width: width, height: height)
    }

    private mutating func leaveMark() {
        guard let (target, marks) = way, let current, marks.first == current else { return }
        way = (target, Array(marks.dropFirst()))
        // A keyframe only saves time, so running out of memory for it is ignored.
        guard let copy = try? canvas?.copy() else { return }
        keyframes.leave(copy, at: current)
    }
}
