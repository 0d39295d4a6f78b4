import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing

@testable import WebImageLoading
@testable import WebImageModel
@testable import WebImageSupport

/// A session whose steps run when the test says so.
private final class Stage: Sendable {
    let coder: GrowingCoder
    let queue = WorkQueue(stepped: "decode")
    let clock = ManualClock()
    let previews = Lock<[Int]>([])
    let ends = Lock<[Int?]>([])
    /// The reported widths, and whether anybody wants them.
    let headers = Lock<[Int]>([])
    let isObserved = Lock(true)
    let session: ProgressiveSession

    init(previewSeconds: Double = 0) {
        let clock = clock
        coder = GrowingCoder { clock.advance(previewSeconds) }
        let previews = previews
        let (headers, isObserved) = (headers, isObserved)
        session = ProgressiveSession(
            coder: coder,
            options: ImageDecodeOptions(),
            priority: .normal,
            queue: queue,
            clock: clock.source,
            header: { properties in
                guard isObserved.withLock({ $0 }), let properties = properties() else { return false }
                headers.withLock { $0.append(properties.uprightSize.width) }
                return true
            },
            preview: { image in previews.withLock { $0.append(image.pixelWidth) } }
        )
    }

    func take(_ text: String, attempt: Int = 0, expected: Int64? = nil) {
        session.take(
            PartialImageData.Snapshot(data: Data(text.utf8), expectedByteCount: expected, attempt: attempt)
        )
    }

    func finish(_ text: String) {
        session.finish(Data(text.utf8)) { [ends] image in
            ends.withLock { $0.append(image?.pixelWidth) }
        }
    }

    /// Runs waiting steps and returns their number.
    @discardableResult
    func run() -> Int {
        var count = 0
        while let job = queue.takeNext() {
            job()
            count += 1
        }
        return count
    }

    var seen: [Int] { previews.withLock { $0 } }
    var told: [Int] { headers.withLock { $0 } }
    var ended: [Int?] { ends.withLock { $0 } }
}

@Suite(.tags(.threadSanitizer)) struct ProgressiveSessionTests {
    @Test func `At most one step runs, and it takes all received bytes`() {
        let stage = Stage()
        for length in 4...20 { stage.take("grow" + String(repeating: "x", count: length - 4)) }
        #expect(stage.queue.waitingCount == 1)
        #expect(stage.run() == 1 && stage.seen == [20])
        #expect(stage.coder.log.updates.map(\.byteCount) == [20] && stage.coder.log.decoderCount == 1)
    }

    @Test func `The whole image is decoded by the same incremental decoder`() {
        let stage = Stage()
        stage.take("grow1")
        stage.run()
        stage.take("grow12345")
        stage.run()
        stage.finish("grow123456789")
        stage.run()
        #expect(stage.seen == [5, 9] && stage.ended == [13])
        #expect(stage.coder.log.decoderCount == 1 && stage.coder.log.wholeDecodes == 0)
        #expect(stage.coder.log.updates.map(\.isFinished) == [false, false, true])
    }

    @Test func `The end does not wait for outdated previews`() {
        let stage = Stage()
        stage.take("grow1")
        stage.take("grow12")
        stage.finish("grow123")
        stage.run()
        #expect(stage.seen.isEmpty && stage.ended == [nil], "nothing was begun: it is decoded at once")
        stage.take("grow1234")
        #expect(stage.run() == 0 && stage.ended == [nil])
    }

    @Test func `Data that the coder does not recognize has no previews`() {
        let stage = Stage()
        stage.take("gr")
        stage.run()
        #expect(stage.seen.isEmpty && stage.coder.log.decoderCount == 0)
        stage.take("grow1")
        stage.run()
        #expect(stage.seen == [5], "more bytes have arrived")
        let other = Stage()
        other.take(String(repeating: "x", count: 64 << 10))
        other.run()
        other.take("grow" + String(repeating: "x", count: 64 << 10))
        other.run()
        #expect(other.seen.isEmpty && other.coder.log.decoderCount == 0)
    }

    @Test func `If the incremental decoder fails, the image is decoded at once`() {
        for text in ["growbad", "growonce"] {
            let stage = Stage()
            stage.take("grow1")
            stage.run()
            stage.take(text)
            stage.run()
            stage.take(text + "1")
            stage.run()
            stage.finish(text + "12")
            stage.run()
            #expect(stage.seen == [5] && stage.ended == [nil])
            #expect(stage.coder.log.updates.count == 2, "and is not called again")
        }
    }

    @Test func `A restart is decoded from its first byte`() {
        let stage = Stage()
        stage.take("grow12345", attempt: 1)
        stage.run()
        stage.take("", attempt: 2)
        stage.run()
        stage.take("grow1", attempt: 2)
        stage.run()
        #expect(stage.seen == [9, 5] && stage.coder.log.decoderCount == 2)
        stage.finish("grow12")
        stage.run()
        #expect(stage.ended == [6] && stage.coder.log.decoderCount == 2)
        let late = Stage()
        late.take("grow12345", attempt: 1)
        late.run()
        late.take("", attempt: 2)
        late.finish("grow9")
        late.run()
        #expect(late.ended == [nil], "the decoded bytes were from before the restart")
    }

    @Test func `Fewer bytes than before are another image, even if unannounced`() {
        let stage = Stage()
        stage.take("grow123456789")
        stage.run()
        stage.take("grow12")
        stage.run()
        #expect(stage.seen == [13, 6] && stage.coder.log.decoderCount == 2)
        stage.finish("grow1")
        stage.run()
        #expect(stage.ended == [nil], "a decoder is never given less than it had")
    }

    @Test func `The image's subscriber is released once it is notified`() {
        final class Waiting: Sendable {}
        let stage = Stage()
        weak var former: Waiting?
        do {
            let waiting = Waiting()
            former = waiting
            stage.take("grow1")
            stage.run()
            stage.session.finish(Data("grow12".utf8)) { [ends = stage.ends] image in
                withExtendedLifetime(waiting) { ends.withLock { $0.append(image?.pixelWidth) } }
            }
            stage.run()
        }
        #expect(stage.ends.withLock { $0 } == [6])
        #expect(former == nil)
    }

    @Test func `A cancellation ends everything`() {
        let stage = Stage()
        stage.take("grow1")
        stage.session.cancel()
        stage.run()
        stage.take("grow12")
        stage.finish("grow123")
        #expect(stage.run() == 0 && stage.seen.isEmpty && stage.ended.isEmpty)
    }

    @Test func `Expensive previews are few`() {
        let stage = Stage(previewSeconds: 1)
        for length in 5..<100 {
            stage.take("grow" + String(repeating: "x", count: length - 4), expected: 100)
            stage.run()
        }
        #expect(stage.seen == [5], "decoding takes no time here, so one is all there is time for")
        #expect(stage.coder.log.updates.count == 95, "decoding continues without previews")
        let unknown = Stage(previewSeconds: 1)
        for length in 5..<100 {
            unknown.take("grow" + String(repeating: "x", count: length - 4))
            unknown.run()
        }
        #expect(unknown.seen == [5], "nor do they cost more for an unknown length")
        let cheap = Stage()
        for length in 5..<100 {
            cheap.take("grow" + String(repeating: "x", count: length - 4), expected: 100)
            cheap.run()
        }
        #expect(cheap.seen.count == 95)
    }

    @Test func `The header is reported once, and again when the image turns out to be rotated`() {
        let stage = Stage()
        stage.take("gr")
        stage.run()
        #expect(stage.told.isEmpty)
        for text in ["grow1", "grow12", "grow123turn", "grow123turn4"] {
            stage.take(text)
            stage.run()
        }
        #expect(stage.told == [4, 2])
        stage.finish("grow123turn45")
        stage.run()
        #expect(stage.told == [4, 2] && stage.ended == [13])
    }

    @Test func `The header is parsed only when somebody wants it, and then reported`() {
        let stage = Stage()
        stage.isObserved.withLock { $0 = false }
        stage.take("grow1")
        stage.run()
        stage.isObserved.withLock { $0 = true }
        #expect(stage.told.isEmpty)
        stage.take("grow12")
        stage.run()
        stage.take("grow123")
        stage.run()
        #expect(stage.told == [4])
        stage.take("grow1", attempt: 1)
        stage.run()
        #expect(stage.told == [4, 4], "a restart is another image")
    }

    @Test func `The header of an image not decoded incrementally is reported before the end`() {
        let stage = Stage()
        stage.finish("grow123")
        stage.run()
        #expect(stage.told == [4] && stage.ended == [nil])
        let failed = Stage()
        failed.take("growbad")
        failed.run()
        failed.finish("growbad1")
        failed.run()
        #expect(failed.told == [4] && failed.ended == [nil])
    }

    @Test func `Steps have the load's priority`() {
        let stage = Stage()
        stage.session.setPriority(.high)
        stage.take("grow1")
        let order = Lock<[String]>([])
        stage.queue.submit(priority: .normal) { order.withLock { $0.append("other") } }
        let first = stage.queue.takeNext()
        first?()
        #expect(stage.seen == [5] && order.withLock { $0.isEmpty })
        stage.session.setPriority(.low)
        stage.take("grow12")
        stage.session.setPriority(.high)
        _ = stage.queue.takeNext().map { $0() }
        #expect(stage.seen == [5, 6])
    }
}
