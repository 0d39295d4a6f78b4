import ModelTestSupport
import Testing
import WebImageSupport

@testable import WebImageModel

@Suite(.tags(.threadSanitizer)) struct CodingQueueBandTests {
    @Test func `Bands cover every row once, for any number of rows and threads`() {
        for count in 1...9 {
            for rowCount in 0...100 {
                let size = CodingQueue.bandSize(rowCount: rowCount, count: count)
                #expect(size % 16 == 0 && size * count >= rowCount && (size > 0) == (rowCount > 0))
            }
        }
        for rowCount in [0, 1, 2, 3, 15, 16, 17, 40, 200] {
            let rows = Lock([Int](repeating: 0, count: rowCount))
            CodingQueue.performInBands(rowCount: rowCount, pixelCount: 1 << 20) { band in
                rows.withLock { rows in for row in band { rows[row] += 1 } }
            }
            #expect(rows.withLock { $0 } == [Int](repeating: 1, count: rowCount))
        }
    }
}
