extension IsolationReply {
    /// Whether it is what was asked for, within the limits that were set: what decoders are told to keep to, whoever answers has to.
    ///
    /// - Throws: when no honest worker answers so.
    func check(_ request: IsolationRequest) throws(WireError) {
        guard id == request.id else { throw WireError("it answers another question") }
        let limits = request.task.limits
        switch (answer, request.task) {
        case (.failure, _): break
        case (.need, .need): break
        case (.properties(let properties), .properties):
            try limits.hold(width: properties.width, height: properties.height)
            try limits.hold(frameCount: properties.frameCount)
            guard properties.frameDurations.count <= properties.frameCount else {
                throw WireError("\(properties.frameCount) frames have \(properties.frameDurations.count) times")
            }
        case (.animation(let frameCount, _, let durations), .animation):
            try limits.hold(frameCount: frameCount)
            guard durations.count == frameCount else {
                throw WireError("\(frameCount) frames have \(durations.count) times")
            }
        case (.image(let picture), .decode(let options)), (.image(let picture), .frame(_, _, let options)):
            try limits.hold(width: picture.width, height: picture.height)
            let swaps = picture.orientation.swapsSides
            try PictureBounds(options).hold(
                width: swaps ? picture.height : picture.width,
                height: swaps ? picture.width : picture.height,
                frameCount: picture.metadata.frameCount
            )
            // Of more frames than may be, the first is a picture still.
            if !options.decodeFirstFrameOnly { try limits.hold(frameCount: picture.metadata.frameCount) }
        default: throw WireError("it answers another question")
        }
    }
}

extension ImageLimits {
    fileprivate func hold(width: Int, height: Int) throws(WireError) {
        do throws(WebImageError) {
            try check(width: width, height: height)
        } catch {
            throw WireError("a picture of \(width)x\(height) is bigger than it may be")
        }
    }

    /// One frame is a picture, whatever the limit.
    fileprivate func hold(frameCount: Int) throws(WireError) {
        guard frameCount <= max(maximumFrameCount, 1) else {
            throw WireError("it has \(frameCount) frames, and may have \(maximumFrameCount)")
        }
    }
}

extension IsolationTask {
    /// Most bytes of an answer: the time of each frame, and texts.
    var mostAnswerBytes: Int {
        let frames = min(max(limits.maximumFrameCount, 1), WireLimit.frames)
        return WorkerProcess.mostBytes + frames * MemoryLayout<Double>.size
    }
}
