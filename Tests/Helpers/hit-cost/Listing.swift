import CHeapCounter
import WebImage

func listEntries(in directory: String) {
    let cache = DiskCache(path: directory)
    // What is made once, with the first entry.
    _ = cache.totalCount
    cache.forEachEntry { _ in }
    var count = 0
    let before = bench_heap_bytes()
    bench_heap_reset_peak()
    cache.forEachEntry { _ in count += 1 }
    print(count, bench_heap_peak_bytes() - before)
}
