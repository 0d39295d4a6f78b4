extension IsolationReply {
    /// Checks that the reply answers the request, within its limits: a worker must obey the limits that decoders obey.
    ///
    /// - Throws: if an uncompromised worker could not send this reply.
    func check(_ request: IsolationRequest) throws(WireError) {
        guard id == request.id else { throw WireError("it answers another request") }
        let limits = request.task.limits
        switch (answer, request.task) {
        case (.failure, _): break
        case (.need, .need): break
        case (.properties(let properties), .properties):
            // The header of a raw file is that of the sensor, whose size is not limited if the preview is decoded. Whether it is one is
            // checked by ``IsolatedImageCoder``, which knows the data.
            if properties.format != .raw { try limits.hold(width: properties.width, height: properties.height) }
            try limits.hold(frameCount: properties.frameCount)
            guard properties.frameDurations.count <= properties.frameCount else {
                throw WireError("\(properties.frameCount) frames have \(properties.frameDurations.count) times")
            }
        case (.animation(let frameCount, _, let durations), .animation):
            try limits.hold(frameCount: frameCount)
            guard durations.count == frameCount else {
                throw WireError("\(frameCount) frames have \(durations.count) times")
            }
        case (.image(let image), .decode(let options)), (.image(let image), .frame(_, _, let options)):
            try limits.hold(width: image.width, height: image.height)
            let swaps = image.orientation.swapsSides
            try ImageBounds(options).hold(
                width: swaps ? image.height : image.width,
                height: swaps ? image.width : image.height,
                frameCount: image.metadata.frameCount
            )
            // An animation with too many frames is accepted as a still image, its first frame.
            if !options.decodeFirstFrameOnly { try limits.hold(frameCount: image.metadata.frameCount) }
        case (.regions, .regions(let task, _)) where task.size == nil: break
        case (.image(let image), .regions(let task, _)):
            guard let size = task.size, image.width == size.width, image.height == size.height,
                image.orientation == .up, image.pixelFormat.bytesPerPixel <= 4
            else { throw WireError("a region of \(image.width)x\(image.height) is not the one asked for") }
        default: throw WireError("it answers another request")
        }
    }
}

extension ImageLimits {
    fileprivate func hold(width: Int, height: Int) throws(WireError) {
        do throws(WebImageError) {
            try check(width: width, height: height)
        } catch {
            throw WireError("an image of \(width)x\(height) is bigger than allowed")
        }
    }

    /// One frame is always allowed, as a still image.
    fileprivate func hold(frameCount: Int) throws(WireError) {
        guard frameCount <= max(maximumFrameCount, 1) else {
            throw WireError("it has \(frameCount) frames, more than the allowed \(maximumFrameCount)")
        }
    }
}

extension IsolationTask {
    /// The maximum number of bytes of an answer: the duration of each frame, and texts.
    var mostAnswerBytes: Int {
        let frames = min(max(limits.maximumFrameCount, 1), WireLimit.frames)
        return WorkerProcess.mostBytes + frames * MemoryLayout<Double>.size
    }
}
