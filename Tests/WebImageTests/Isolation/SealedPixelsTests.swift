import CIsolation
import Glibc
import Testing

@testable import WebImage

@Suite struct SealedPixelsTests {
    private func memory(_ byteCount: Int, isSealed: Bool = true) -> Int32 {
        let memory = webimage_memory_create(0)
        let bytes = (0..<byteCount).map { UInt8(truncatingIfNeeded: $0) }
        _ = webimage_memory_write(memory, bytes, byteCount)
        if isSealed { _ = webimage_memory_seal(memory) }
        return memory
    }

    private func problem(_ descriptor: Int32, _ byteCount: Int) -> String? {
        do throws(WireError) {
            _ = try SealedPixels.map(descriptor, byteCount: byteCount)
            return nil
        } catch {
            return error.problem
        }
    }

    @Test func `Sealed memory is mapped, and its descriptor closed`() throws {
        let descriptor = memory(600 << 10)
        let storage = try SealedPixels.map(descriptor, byteCount: 500 << 10)
        #expect(storage.byteCount == 500 << 10)
        storage.withUnsafeBytes { bytes in
            #expect(bytes[0] == 0 && bytes[1000] == UInt8(truncatingIfNeeded: 1000))
        }
        #expect(fcntl(descriptor, F_GETFD) == -1)
    }

    @Test func `Memory that is smaller, can be changed, or is none, is refused and closed`() {
        for (descriptor, byteCount) in [(memory(100), 101), (memory(100), 0), (memory(100, isSealed: false), 100)] {
            #expect(problem(descriptor, byteCount) != nil)
            #expect(fcntl(descriptor, F_GETFD) == -1)
        }
        var ends: [Int32] = [0, 0]
        pipe(&ends)
        #expect(problem(ends[0], 10)?.contains("changed") == true)
        close(ends[1])
        #expect(problem(open("/dev/zero", O_RDONLY | O_CLOEXEC), 10) != nil)
        #expect(problem(-1, 10) != nil)
    }

    @Test func `Memory that somebody can still write to cannot be sealed`() {
        let descriptor = webimage_memory_create(8192)
        let base = webimage_memory_map(descriptor, 8192)
        #expect(webimage_memory_seal(descriptor) == -EBUSY)
        munmap(base, 8192)
        #expect(webimage_memory_seal(descriptor) == 0 && webimage_memory_sealed_size(descriptor) == 8192)
        let byte: [UInt8] = [1]
        let written = webimage_memory_write(descriptor, byte, 1)
        #expect(written == -EPERM)
        close(descriptor)
    }

    @Test
    func `A bitmap's memory becomes the parent's, a smaller one's bytes a copy, and what is not given is used again`()
        throws
    {
        let buffers = SharedBuffers()
        var storage = try #require(buffers.storage(byteCount: 100_000))
        storage.base.storeBytes(of: 42, toByteOffset: 99_999, as: UInt8.self)
        let descriptor = try #require(buffers.seal(storage))
        let mapped = try SealedPixels.map(descriptor, byteCount: 100_000)
        #expect(mapped.withUnsafeBytes { $0[99_999] } == 42)
        #expect(buffers.storage(byteCount: 100) == nil)
        storage = try #require(buffers.storage(byteCount: 100_000))
        let former = storage.base
        storage = try #require(buffers.storage(byteCount: 200_000))
        let again = try #require(buffers.storage(byteCount: 90_000))
        #expect(again.base == former)
        let small = try PixelStorage.allocate(byteCount: 64)
        small.base.storeBytes(of: 7, as: UInt8.self)
        let copy = try SealedPixels.map(try #require(buffers.seal(small)), byteCount: 64)
        #expect(copy.withUnsafeBytes { $0[0] } == 7 && small.withUnsafeBytes { $0[0] } == 7)
    }
}
