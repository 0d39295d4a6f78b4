/// Draws the frames of an animation on a canvas, each on what the ones before it have left, and goes to another frame by the shortest
/// way: on from where it is, from a canvas on its shelf, or from the nearest frame that needs none before it.
struct CanvasPainter {
    private let script: CompositionScript
    private let shelfCapacity: Int
    private var canvas: AnimationCanvas?
    /// The frame that is seen on the canvas; nil when the canvas holds nothing of use.
    private(set) var current: Int?
    private var shelf: CanvasShelf<AnimationCanvas>
    /// Where it goes from elsewhere, and where it is still to leave marks on the way.
    private var way: (target: Int, marks: [Int])?
    /// Whether the last step was one back.
    private var wentBack = false

    /// - Parameter byteCount: the most bytes of canvases on the shelf.
    init(_ script: CompositionScript, byteCount: Int) {
        self.script = script
        // What a frame has hidden goes with its canvas.
        let canvasByteCount = script.width * script.height * 4 * (script.restores ? 2 : 1)
        shelfCapacity = CanvasShelf<AnimationCanvas>.capacity(canvasByteCount: canvasByteCount, byteCount: byteCount)
        shelf = CanvasShelf(capacity: shelfCapacity)
    }

    /// Canvases on the shelf.
    var shelfCount: Int { shelf.count }

    /// Lets go of the canvases on the shelf, and of the current one unless it is to stay.
    mutating func release(keepsCurrent: Bool) {
        shelf = CanvasShelf(capacity: shelfCapacity)
        way = nil
        guard !keepsCurrent else { return }
        (canvas, current) = (nil, nil)
    }

    /// Goes where the drawing of a frame begins; nothing is decoded.
    ///
    /// - Throws: ``WebImageError/Code/outOfMemory``.
    mutating func head(for index: Int) throws(WebImageError) {
        guard way?.target != index || current == nil else { return }
        way = nil
        let beginning = script.beginning(for: index)
        let onShelf = shelf.nearest(to: index, from: beginning)
        if let current, current >= beginning, current <= index, onShelf.map({ $0.index <= current }) ?? true {
            return goOn(from: current, to: index)
        }
        // Who goes back frame by frame to where nobody waited does not come here again.
        let isBack = current == index + 1
        let goesBack = isBack && wentBack && onShelf?.isMark ?? true
        wentBack = isBack
        // Before another one is put there, which may drive it out.
        let isTaken = onShelf.map { $0.index == index || !$0.isMark && $0.index == index - 1 } ?? false
        let kept = onShelf.flatMap { isTaken ? shelf.take($0.index) : shelf.look($0.index) }
        let spare = leave(parks: !goesBack)
        canvas = if let kept { isTaken ? kept : try kept.copy(into: spare) } else { spare }
        current = kept == nil ? nil : onShelf?.index
        beginWay(from: current ?? beginning, to: index)
    }

    /// Goes forward. A leap leaves a copy: someone else may have got there frame by frame.
    private mutating func goOn(from place: Int, to index: Int) {
        wentBack = false
        beginWay(from: place, to: index)
        guard index - place > 1, shelf.capacity > 0, let copy = try? canvas?.copy() else { return }
        shelf.park(copy, at: place)
    }

    /// Whoever goes to a frame may go back from there. One frame further nothing can be left.
    private mutating func beginWay(from place: Int, to index: Int) {
        way = (index, index - place > 1 || current == nil ? shelf.beginWay(from: place, to: index) : [])
    }

    /// Draws one more frame on the way to one for which ``head(for:)`` was called.
    ///
    /// - Returns: whether it is seen now.
    /// - Throws: what `decode` throws, and then the canvas is as it was; ``WebImageError/Code/outOfMemory``.
    mutating func step(
        to index: Int,
        decode: (_ index: Int) throws(WebImageError) -> Bitmap
    ) throws(WebImageError) -> Bool {
        guard current != index else { return true }
        let next = current.map { $0 + 1 } ?? script.beginning(for: index)
        let frame = script.frames[next]
        // Nothing is stored of an empty one.
        let pixels = frame.width > 0 && frame.height > 0 ? try decode(next) : nil
        var canvas = try usableCanvas()
        let steps = script.steps(to: next, from: current)
        // Until all is drawn it shows nothing of use.
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

    /// A copy of what is seen; nil when that is not the frame.
    ///
    /// - Throws: ``WebImageError/Code/outOfMemory``.
    func picture(
        of index: Int,
        width: Int,
        height: Int,
        isOpaque: Bool,
        quality: ImageDecodeOptions.ScalingQuality
    ) throws(WebImageError) -> Bitmap? {
        guard let canvas, current == index else { return nil }
        return try canvas.picture(width: width, height: height, isOpaque: isOpaque, quality: quality)
    }

    /// Puts the canvas on the shelf if frames after it need it.
    ///
    /// - Returns: the canvas if it was of no more use.
    private mutating func leave(parks: Bool) -> AnimationCanvas? {
        defer { (canvas, current) = (nil, nil) }
        guard let canvas, let current, parks, shelf.capacity > 0, script.isNeededLater(current) else { return canvas }
        shelf.park(canvas, at: current)
        return nil
    }

    private func usableCanvas() throws(WebImageError) -> AnimationCanvas {
        if let canvas { return canvas }
        return try AnimationCanvas(width: script.width, height: script.height)
    }

    private mutating func leaveMark() {
        guard let (target, marks) = way, let current, marks.first == current else { return }
        way = (target, Array(marks.dropFirst()))
        // It saves time only, so it does not matter if there is no memory for it.
        guard let copy = try? canvas?.copy() else { return }
        shelf.leave(copy, at: current)
    }
}
