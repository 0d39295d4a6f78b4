import ModelTestSupport
import Testing

@testable import WebImageLoading

@Suite(.tags(.threadSanitizer)) struct StoreGroupTests {
    @Test func `Waiting loads are notified when the last write has ended`() {
        let group = StoreGroup()
        let told = Lock(0)
        group.whenDone { told.withLock { $0 += 1 } }
        #expect(told.withLock { $0 } == 1, "nothing is under way")
        group.enter()
        group.enter()
        group.whenDone { told.withLock { $0 += 1 } }
        group.leave()
        #expect(told.withLock { $0 } == 1)
        group.leave()
        #expect(told.withLock { $0 } == 2)
    }

    @Test func `Bytes are stored once however many decodes use them`() {
        let held = Lock<[StoreGroup]>([])
        let store = StoreOnce { _, group in held.withLock { $0.append(group) } }
        let told = Lock(0)
        store.whenDone { told.withLock { $0 += 1 } }
        #expect(told.withLock { $0 } == 1, "the write was never started")
        let contents = StoreContents(image: nil, coder: PlainCoder(), encodeOptions: ImageEncodeOptions())
        let noted = Lock(0)
        #expect(!store.isStarted)
        for _ in 0..<2 { store.start(contents) { noted.withLock { $0 += 1 } } }
        #expect(store.isStarted)
        #expect(held.withLock { $0.count } == 1 && noted.withLock { $0 } == 1)
        store.whenDone { told.withLock { $0 += 1 } }
        #expect(told.withLock { $0 } == 1)
        held.withLock { $0[0] }.leave()
        #expect(told.withLock { $0 } == 2)
    }

    @Test func `A write that begins is waited for, and counts as started once it has begun`() {
        let (began, told) = (Lock<StoreOnce?>(nil), Lock(0))
        let store = StoreOnce { _, group in
            let store = began.withLock { $0.take() }
            #expect(store?.isStarted == false)
            store?.whenDone { told.withLock { $0 += 1 } }
            #expect(told.withLock { $0 } == 0)
            group.leave()
        }
        began.withLock { $0 = store }
        store.start(StoreContents(image: nil, coder: PlainCoder(), encodeOptions: ImageEncodeOptions())) {}
        #expect(store.isStarted && told.withLock { $0 } == 1)
    }
}

@Suite(.tags(.threadSanitizer)) struct BackPressureLimiterTests {
    @Test func `The limiter opens again when bytes are returned, the most urgent load first`() {
        let gate = BackPressureLimiter(limit: 100, estimate: 100)
        let log = Lock<[String]>([])
        let admissions = Lock<[ByteReservation]>([])
        func pass(_ name: String, _ priority: LoadPriority) -> BackPressureLimiter.Ticket? {
            gate.pass(priority: priority) { admission in
                log.withLock { $0.append(name) }
                admissions.withLock { $0.append(admission) }
            }
        }
        #expect(pass("first", .normal) == nil)
        #expect(pass("slow", .low) != nil)
        #expect(pass("fast", .high) != nil)
        #expect(gate.reservedByteCount == 100)
        withExtendedLifetime(admissions.withLock { $0.popLast() }) {}
        #expect(log.withLock { $0 } == ["first", "fast"])
        withExtendedLifetime(admissions.withLock { $0.popLast() }) {}
        #expect(log.withLock { $0 } == ["first", "fast", "slow"])
        withExtendedLifetime(admissions.withLock { $0.popLast() }) {}
        #expect(gate.reservedByteCount == 0)
    }

    @Test func `A place in the queue can be cancelled, and moved`() {
        let gate = BackPressureLimiter(limit: 1, estimate: 1)
        let log = Lock<[String]>([])
        let blocking = Lock<ByteReservation?>(gate.reserve(10))
        let left = gate.pass(priority: .high) { _ in log.withLock { $0.append("left") } }
        _ = gate.pass(priority: .normal) { _ in log.withLock { $0.append("normal") } }
        let moved = gate.pass(priority: .low) { _ in log.withLock { $0.append("moved") } }
        left?.cancel()
        moved?.setPriority(.high)
        withExtendedLifetime(blocking.withLock { $0.take() }) {}
        #expect(log.withLock { $0 } == ["moved", "normal"])
        #expect(gate.reservedByteCount == 0)
    }
}
