import Glibc
import ModelTestSupport
import TestSupport
import Testing
import WebImageSupport

@Suite(.tags(.threadSanitizer)) struct WorkQueueTests {
    @Test func `A burst of jobs gets as many threads as the queue is wide, also when one sleeps`() async {
        for _ in 0..<50 {
            let queue = WorkQueue(name: "test", width: 2)
            let ended = Latch()
            queue.submit { ended.open() }
            #expect(await ended.opens())
            // Each waits for the other: one thread would never end.
            let first = Latch()
            let second = Latch()
            let both = Monitor(0)
            queue.submit {
                first.open()
                if second.wait(seconds: 10) { both.withLock { $0 += 1 } }
            }
            queue.submit {
                second.open()
                if first.wait(seconds: 10) { both.withLock { $0 += 1 } }
            }
            #expect(await both.value(seconds: 20, until: { $0 == 2 ? true : nil }) == true)
        }
    }

    @Test func `A patient job runs on the thread of the brief one that it waited for, if it is not hurried`() async {
        for isHurried in [false, true] {
            let queue = WorkQueue(name: "test", width: 2)
            let gate = Gate()
            let threads = Monitor<[UInt]>([])
            queue.submit(priority: .normal, isBrief: true) {
                gate.wait()
                threads.withLock { $0.append(pthread_self()) }
            }
            #expect(await gate.arrivals())
            queue.submit(priority: .low, isBrief: true, isPatient: true) {
                threads.withLock { $0.append(pthread_self()) }
            }
            if isHurried {
                queue.hurry()
                #expect(await threads.value { $0.isEmpty ? nil : true } == true)
            } else {
                #expect(queue.waitingCount == 1)
            }
            gate.open()
            let seen = await threads.value { $0.count == 2 ? $0 : nil } ?? []
            #expect(Set(seen).count == (isHurried ? 2 : 1))
        }
    }

    @Test func `A patient job waits neither for one that is not brief nor for more than one`() async {
        let queue = WorkQueue(name: "test", width: 2)
        let gate = Gate()
        let ended = Monitor(0)
        queue.submit { gate.wait() }
        #expect(await gate.arrivals())
        queue.submit(priority: .low, isBrief: true, isPatient: true) { ended.withLock { $0 += 1 } }
        #expect(await ended.value { $0 == 1 ? true : nil } == true)
        gate.open()
        let other = WorkQueue(name: "test", width: 2)
        let held = Gate()
        other.submit(priority: .normal, isBrief: true) { held.wait() }
        #expect(await held.arrivals())
        for _ in 0..<2 {
            other.submit(priority: .low, isBrief: true, isPatient: true) { ended.withLock { $0 += 1 } }
        }
        // The second wakes a thread, which runs both.
        #expect(await ended.value { $0 == 3 ? true : nil } == true)
        held.open()
    }

    @Test func `Waiting jobs run by priority, a changed priority counts, and a cancelled job never runs`() async {
        let queue = WorkQueue(name: "test", width: 1)
        let gate = Gate()
        let log = Monitor<[Int]>([])
        queue.submit { gate.wait() }
        #expect(await gate.arrivals())
        let items = [(1, LoadPriority.low), (2, .normal), (3, .normal), (4, .high), (5, .low)].map { number, priority in
            queue.submit(priority: priority) { log.withLock { $0.append(number) } }
        }
        items[4].setPriority(.high)
        #expect(items[1].takeOut())
        #expect(!items[1].takeOut())
        gate.open()
        _ = await log.value { $0.count == 4 ? true : nil }
        #expect(log.withLock { $0 } == [4, 5, 3, 1])
    }

    @Test func `A wider queue starts threads for waiting jobs; a narrower one keeps working`() async {
        let queue = WorkQueue(name: "test", width: 1)
        let gate = Gate()
        for _ in 0..<3 { queue.submit { gate.wait() } }
        #expect(await gate.arrivals(1))
        queue.width = 3
        #expect(await gate.arrivals(3))
        queue.width = 0
        #expect(queue.width == 1)
        gate.open()
        let done = Monitor(0)
        for _ in 0..<10 { queue.submit { done.withLock { $0 += 1 } } }
        #expect(await done.value(until: { $0 == 10 ? true : nil }) == true)
    }

    @Test func `A job is released before its thread sleeps`() async {
        final class Token: Sendable {
            let latch: Latch
            init(_ latch: Latch) { self.latch = latch }
            deinit { latch.open() }
        }
        let queue = WorkQueue(name: "test", width: 1)
        let released = Latch()
        queue.submit { [token = Token(released)] in withExtendedLifetime(token) {} }
        #expect(await released.opens())
        withExtendedLifetime(queue) {}
    }

    @Test func `Idle places are reserved once, and jobs wait until they are returned`() async {
        let queue = WorkQueue(name: "test", width: 3)
        let counts = Monitor<[Int]>([])
        let (gate, other) = (Gate(), Gate())
        queue.submit {
            queue.withReservedPlaces(upTo: 1) { first in
                // One of three places is the job's.
                queue.withReservedPlaces(upTo: 9) { second in
                    counts.withLock { $0 = [first, second, queue.withReservedPlaces(upTo: 1) { $0 }] }
                    gate.wait()
                }
            }
            other.wait()
        }
        #expect(await gate.arrivals())
        #expect(counts.withLock { $0 } == [1, 1, 0])
        let done = Monitor(0)
        for _ in 0..<2 {
            queue.submit {
                done.withLock { $0 += 1 }
                other.wait()
            }
        }
        // Both wait for the reserved places, although two threads are free.
        #expect(queue.withReservedPlaces(upTo: 1) { $0 } == 0)
        #expect(queue.waitingCount == 2 && done.withLock { $0 } == 0)
        gate.open()
        #expect(await other.arrivals(3))
        #expect(done.withLock { $0 } == 2)
        other.open()
    }

    @Test func `A thread outside the queue may reserve all places but one`() async {
        let queue = WorkQueue(name: "test", width: 4)
        #expect(queue.withReservedPlaces(upTo: 9) { $0 } == 3)
        #expect(queue.withReservedPlaces(upTo: 2) { $0 } == 2)
        #expect(WorkQueue(name: "test", width: 1).withReservedPlaces(upTo: 9) { $0 } == 0)
        let gate = Gate()
        for _ in 0..<3 { queue.submit { gate.wait() } }
        #expect(await gate.arrivals(3))
        #expect(queue.withReservedPlaces(upTo: 9) { $0 } == 1)
        gate.open()
    }

    @Test func `Never more jobs and reserved places than the queue is wide`() async {
        let queue = WorkQueue(name: "test", width: 3)
        let busy = Monitor((now: 0, most: 0, ended: 0, reserved: 0))
        for number in 0..<300 {
            // Every fifth is alone, so that there are idle places.
            let isAlone = number % 5 == 0
            if isAlone { _ = await busy.value(until: { $0.ended == number ? true : nil }) }
            queue.submit {
                queue.withReservedPlaces(upTo: number % 3) { count in
                    busy.withLock { busy in
                        busy.now += 1 + count
                        busy.reserved += count
                        busy.most = max(busy.most, busy.now)
                    }
                    busy.withLock { $0.now -= 1 + count }
                }
                busy.withLock { $0.ended += 1 }
            }
            if isAlone { _ = await busy.value(until: { $0.ended == number + 1 ? true : nil }) }
        }
        #expect(await busy.value(until: { $0.ended == 300 ? true : nil }) == true)
        #expect(busy.withLock { $0.most } <= 3 && busy.withLock { $0.reserved } > 0)
    }

    @Test func `Parts run once each, by the caller and by idle threads at the same time`() {
        let queue = WorkQueue(name: "test", width: 3)
        let runs = Lock([Int](repeating: 0, count: 20))
        queue.perform(parts: 20) { index in runs.withLock { $0[index] += 1 } }
        #expect(runs.withLock { $0 } == [Int](repeating: 1, count: 20))
        queue.perform(parts: 0) { _ in Issue.record("there is no part") }
        // Each waits for the others: less than three threads would not end soon. Threads of the first queue may still end their jobs.
        let begun = ConditionLock(0)
        WorkQueue(name: "test", width: 3).perform(parts: 3) { _ in
            begun.withLock { $0 += 1 }
            begun.broadcast()
            #expect(begun.wait(seconds: 20) { $0 == 3 ? true : nil } == true)
        }
    }

    @Test func `What the parts use is released once all have run`() {
        let queue = WorkQueue(name: "test", width: 4)
        for _ in 0..<200 {
            var owned: Latch? = Latch()
            weak let watched = owned
            queue.perform(parts: 4) { [owned] _ in _ = owned?.wait(seconds: 0) }
            owned = nil
            #expect(watched == nil)
        }
    }

    @Test func `The caller runs all parts if the threads are busy`() async {
        let queue = WorkQueue(name: "test", width: 2)
        let gate = Gate()
        for _ in 0..<2 { queue.submit { gate.wait() } }
        #expect(await gate.arrivals(2))
        #expect(queue.idlePlaceCount == 0)
        let threads = Lock<Set<UInt>>([])
        queue.perform(parts: 4) { _ in _ = threads.withLock { $0.insert(UInt(pthread_self())) } }
        #expect(threads.withLock { $0 } == [UInt(pthread_self())])
        gate.open()
    }

    @Test func `Jobs of a released queue are still done`() async {
        let done = Monitor(0)
        do {
            let queue = WorkQueue(name: "test", width: 1)
            for _ in 0..<20 { queue.submit { done.withLock { $0 += 1 } } }
        }
        #expect(await done.value(until: { $0 == 20 ? true : nil }) == true)
    }

    @Test func `Cancelled and moved jobs leave nothing behind`() {
        var heap = JobHeap<@Sendable () -> Void>()
        let kept = heap.insert({}, priority: .low)
        for _ in 0..<100_000 {
            let id = heap.insert({}, priority: .low)
            heap.setPriority(.normal, of: id)
            _ = heap.remove(id)
        }
        #expect(heap.entryCount < 200)
        #expect(heap.remove(kept) != nil && heap.count == 0)
    }
}
