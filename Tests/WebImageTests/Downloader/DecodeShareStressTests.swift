import FoundationEssentials
import TestSupport
import Testing

@testable import WebImage

/// Callers that come, leave and become urgent at random while others decode.
@Suite struct DecodeShareStressTests {
    @Test func `Everyone who stays gets one end, and nobody who left two`() async {
        let coder = PlainCoder()
        for round in 0..<50 {
            let share = DecodeShare()
            let ends = (0..<80).map { _ in Lock(0) }
            let stayed = EventCounter()
            let leavers = ends.indices.map { _ in Int.random(in: 0..<3) == 0 }
            await withTaskGroup(of: Void.self) { group in
                for part in 0..<4 {
                    group.addTask {
                        await onThread {
                            for number in stride(from: part, to: ends.count, by: 4) {
                                var options = ImageDecodeOptions()
                                options.scaleFactor = Double(number % 3 + 1)
                                let seat = share.join(
                                    Data([1]),
                                    coder: coder,
                                    options: options,
                                    priority: .normal
                                ) { _ in
                                    ends[number].withLock { $0 += 1 }
                                    if !leavers[number] { stayed.signal() }
                                }
                                seat?.setPriority(.high)
                                if leavers[number] { seat?.leave() }
                            }
                        }
                    }
                }
            }
            await stayed.wait(for: leavers.count { !$0 })
            for number in ends.indices {
                let count = ends[number].withLock { $0 }
                #expect(leavers[number] ? count <= 1 : count == 1, "round \(round)")
            }
        }
    }
}
