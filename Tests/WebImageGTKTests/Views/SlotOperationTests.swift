import CWebImageGTK4
import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageGTK

/// Custom operations in the slots of a view.
@Suite(.tags(.addressSanitizer), .serialized, .needsDisplay) @MainActor struct SlotOperationTests {
    let bench: ViewBench
    let a = ViewBench.url("a.bmp")

    /// An operation that runs until it is cancelled.
    private final class OwnOperation: WebImageOperation {
        private let count = Lock(0)
        var cancellations: Int { count.withLock { $0 } }
        var isCancelled: Bool { cancellations > 0 }
        func cancel() { count.withLock { $0 += 1 } }
    }

    /// An operation that looks at its slot when it is released.
    private final class LookingOperation: WebImageOperation {
        private let look: @Sendable () -> Void
        var isCancelled: Bool { false }

        init(_ look: @escaping @MainActor @Sendable () -> Void) { self.look = { MainActor.assumeIsolated(look) } }

        deinit { look() }

        func cancel() {}
    }

    init() throws { bench = try ViewBench() }

    private func shown() async throws -> (picture: OpaquePointer, window: TestWindow) {
        let picture = ViewBench.makeImage()
        return (picture, try await TestWindow(UnsafeMutableRawPointer(picture)))
    }

    @Test func `A removed operation is not cancelled, then or later`() async throws {
        let (picture, window) = try await shown()
        let own = OwnOperation()
        picture.removeImageLoadOperation(in: .image)
        picture.setImageLoadOperation(own, in: .image)
        picture.removeImageLoadOperation(in: .named("other"))
        #expect(picture.imageLoadOperation(in: .image) === own)
        picture.removeImageLoadOperation(in: .image)
        #expect(picture.imageLoadOperation(in: .image) == nil && !own.isCancelled)
        picture.cancelCurrentImageLoad(in: .image)
        picture.setImage(with: a, context: bench.context)
        window.close()
        #expect(!own.isCancelled)
    }

    @Test func `Removing the operation does not affect the slot's load`() async throws {
        let (picture, window) = try await shown()
        let load = picture.setImage(with: a, context: bench.context)
        picture.removeImageLoadOperation(in: .image)
        #expect(load?.isCancelled == false && picture.imageLoadOperation(in: .image) === load)
        window.close()
    }

    @Test func `The next load of its slot cancels an operation, and one of another slot does not`() async throws {
        let (picture, window) = try await shown()
        let (own, other) = (OwnOperation(), OwnOperation())
        picture.setImageLoadOperation(own, in: .image)
        picture.setImageLoadOperation(other, in: .named("other"))
        let load = picture.setImage(with: a, context: bench.context)
        #expect(own.cancellations == 1 && !other.isCancelled)
        #expect(picture.imageLoadOperation(in: .image) === load)
        #expect(picture.imageLoadOperation(in: .named("other")) === other)
        window.close()
        #expect(own.cancellations == 1)
    }

    @Test func `The call's slot overrides that of its context, and equals one of the same name`() async throws {
        let (picture, window) = try await shown()
        var context = bench.context
        context.setImageOperationKey = "mine"
        let first = picture.setImage(with: a, in: .named("mine"), context: bench.context)
        let second = picture.setImage(with: a, in: .image, context: context)
        #expect(picture.imageLoadOperation(in: .named("mine")) === first)
        #expect(picture.imageLoadOperation(in: .image) === second && picture.latestImageSlot == .image)
        let third = picture.setImage(with: a, context: context)
        #expect(first?.isCancelled == true && second?.isCancelled == false)
        #expect(picture.imageLoadOperation(in: .named("mine")) === third)
        window.close()
    }

    @Test func `Another operation in its slot cancels it`() async throws {
        let (picture, window) = try await shown()
        let (own, other) = (OwnOperation(), OwnOperation())
        picture.setImageLoadOperation(own, in: .image)
        picture.setImageLoadOperation(other, in: .image)
        #expect(own.cancellations == 1 && !other.isCancelled)
        #expect(picture.imageLoadOperation(in: .image) === other)
        window.close()
    }

    @Test func `An operation replaces a load, which is cancelled`() async throws {
        let (picture, window) = try await shown()
        let (own, told) = (OwnOperation(), Told())
        picture.setImage(with: a, context: bench.context) { told.results.append($0) }
        picture.setImageLoadOperation(own, in: .image)
        #expect(told.codes == [.cancelled] && !own.isCancelled)
        window.close()
    }

    @Test(arguments: ["taken out", "replaced", "with the view"])
    func `An operation that looks at its slot when it is released finds it without itself`(way: String) async throws {
        let (picture, window) = try await shown()
        nonisolated(unsafe) let view = UnsafeMutableRawPointer(picture)
        let told = Lock<[Bool]>([])
        picture.setImageLoadOperation(
            LookingOperation {
                let found = view.imageLoadOperation(in: .image)
                told.withLock { $0.append(found is LookingOperation) }
            },
            in: .image
        )
        switch way {
        case "taken out": picture.removeImageLoadOperation(in: .image)
        case "replaced": picture.setImageLoadOperation(OwnOperation(), in: .image)
        default: break
        }
        window.close()
        #expect(told.withLock { $0 } == [false])
    }

    @Test func `The end of the view cancels its operations`() async throws {
        let before = ViewState.count
        let (picture, window) = try await shown()
        let (own, taken) = (OwnOperation(), OwnOperation())
        picture.setImageLoadOperation(own, in: .image)
        picture.setImageLoadOperation(taken, in: .named("taken"))
        picture.removeImageLoadOperation(in: .named("taken"))
        window.close()
        #expect(own.cancellations == 1 && !taken.isCancelled)
        #expect(await MainLoopTurns.wait { ViewState.count == before })
    }
}
