import CHeapCounter
import WebImage

/// The peak of heap bytes while `body` runs, beyond those in use before, and its result.
func heapPeak<Result>(of body: () throws -> Result) rethrows -> (byteCount: Int, result: Result) {
    let before = bench_heap_bytes()
    bench_heap_reset_peak()
    let result = try body()
    return (bench_heap_peak_bytes() - before, result)
}

/// The same without buffers that are kept for the next decode.
func unpooledHeapPeak<Result>(of body: () throws -> Result) rethrows -> (byteCount: Int, result: Result) {
    BufferPool.shared.setCapacity(0)
    defer { BufferPool.shared.setCapacity(64 << 20) }
    return try heapPeak(of: body)
}
