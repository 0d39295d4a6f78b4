import CIsolation
import FoundationEssentials
import Glibc
import ModelTestSupport
import Testing

@testable import WebImageIsolation

@Suite(.tags(.addressSanitizer)) struct SealedPixelsTests {
    private func memory(_ byteCount: Int, isSealed: Bool = true) -> Int32 {
        let memory = webimage_memory_create(0)
        let bytes = (0..<byteCount).map { UInt8(truncatingIfNeeded: $0) }
        _ = webimage_memory_write(memory, bytes, byteCount)
        if isSealed { _ = webimage_memory_seal(memory) }
        return memory
    }

    /// What a descriptor stands for. Another test may open a file under the number of one that was closed.
    private func file(of descriptor: Int32) -> [UInt64] {
        var status = stat()
        return fstat(descriptor, &status) == 0 ? [UInt64(status.st_dev), UInt64(status.st_ino)] : []
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
        let descriptor = memory(520 << 10)
        let file = file(of: descriptor)
        let storage = try SealedPixels.map(descriptor, byteCount: 500 << 10)
        #expect(storage.byteCount == 500 << 10)
        storage.withUnsafeBytes { bytes in
            #expect(bytes[0] == 0 && bytes[1000] == UInt8(truncatingIfNeeded: 1000))
        }
        #expect(!file.isEmpty && self.file(of: descriptor) != file)
    }

    @Test func `Memory that is smaller, can be changed, or is missing, is refused and closed`() {
        for (descriptor, byteCount) in [(memory(100), 101), (memory(100), 0), (memory(100, isSealed: false), 100)] {
            let file = file(of: descriptor)
            #expect(problem(descriptor, byteCount) != nil)
            #expect(!file.isEmpty && self.file(of: descriptor) != file)
        }
        var ends: [Int32] = [0, 0]
        pipe(&ends)
        #expect(problem(ends[0], 10)?.contains("changed") == true)
        close(ends[1])
        #expect(problem(open("/dev/zero", O_RDONLY | O_CLOEXEC), 10) != nil)
        #expect(problem(-1, 10) != nil)
    }

    @Test func `Memory that another process can still write to cannot be sealed`() {
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
    func `A bitmap's memory becomes the parent's, a smaller one's bytes are copied, and unused memory is reused`()
        throws
    {
        let buffers = SharedBuffers()
        var storage = try #require(buffers.storage(byteCount: 100_000))
        storage.base.storeBytes(of: 42, toByteOffset: 99_999, as: UInt8.self)
        let (descriptor, isAnnounced) = try #require(buffers.seal(storage, byteCount: 100_000))
        #expect(!isAnnounced)
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
        let copy = try SealedPixels.map(try #require(buffers.seal(small, byteCount: 64)).descriptor, byteCount: 64)
        #expect(copy.withUnsafeBytes { $0[0] } == 7 && small.withUnsafeBytes { $0[0] } == 7)
    }

    @Test func `Memory mapped ahead can be sealed, and shows the last writes`() throws {
        let descriptor = webimage_memory_create(1 << 20)
        let base = try #require(webimage_memory_map(descriptor, 1 << 20))
        var announced = AnnouncedMemory(dup(descriptor), byteCount: 1 << 20)
        base.storeBytes(of: 42, toByteOffset: (1 << 20) - 1, as: UInt8.self)
        munmap(base, 1 << 20)
        #expect(webimage_memory_seal(descriptor) == 0)
        let pixels = try announced.pixels(byteCount: 1 << 20)
        #expect(pixels.byteCount == 1 << 20 && pixels.withUnsafeBytes { $0[(1 << 20) - 1] } == 42)
        // More than announced is mapped as without an announcement.
        announced = AnnouncedMemory(dup(descriptor), byteCount: 1 << 19)
        let more = try announced.pixels(byteCount: 1 << 20)
        #expect(more.withUnsafeBytes { $0[(1 << 20) - 1] } == 42)
        close(descriptor)
    }

    @Test func `Memory mapped ahead is refused while it can be changed, and closed`() throws {
        let descriptor = webimage_memory_create(1 << 20)
        let file = file(of: descriptor)
        let announced = AnnouncedMemory(descriptor, byteCount: 1 << 20)
        var problem: WireError?
        do throws(WireError) { _ = try announced.pixels(byteCount: 100) } catch { problem = error }
        #expect(problem == WireError("its memory can still be changed"))
        #expect(!file.isEmpty && self.file(of: descriptor) != file)
    }

    @Test func `Reading announced memory allocates no pages`() {
        let descriptor = webimage_memory_create(1 << 20)
        let byte: [UInt8] = [1]
        #expect(pwrite(descriptor, byte, 1, 1 << 19) == 1)
        var (before, after) = (stat(), stat())
        fstat(descriptor, &before)
        let announced = AnnouncedMemory(dup(descriptor), byteCount: 1 << 20)
        fstat(descriptor, &after)
        #expect(after.st_blocks == before.st_blocks)
        _ = consume announced
        close(descriptor)
    }

    @Test func `The awaited bitmap is announced, once, and no other`() throws {
        let told = Lock<[Int]>([])
        let buffers = SharedBuffers { descriptor, byteCount in
            #expect(webimage_memory_sealed_size(descriptor) < 0 && fcntl(descriptor, F_GETFD) >= 0)
            told.withLock { $0.append(byteCount) }
        }
        let size = 1 << 20
        buffers.await(byteCount: size)
        let small = try #require(buffers.storage(byteCount: size / 4))
        let awaited = try #require(buffers.storage(byteCount: size - 100))
        let another = try #require(buffers.storage(byteCount: size))
        #expect(told.withLock { $0 } == [size - 100])
        for (storage, isTold) in [(small, false), (awaited, true), (another, false)] {
            let (descriptor, isAnnounced) = try #require(buffers.seal(storage, byteCount: storage.byteCount))
            #expect(isAnnounced == isTold)
            #expect(webimage_memory_sealed_size(descriptor) == storage.byteCount)
            close(descriptor)
        }
        for byteCount in [nil, MemoryMessage.smallestAnnounced - 1] {
            buffers.await(byteCount: byteCount)
            _ = buffers.storage(byteCount: MemoryMessage.smallestAnnounced - 1)
        }
        #expect(told.withLock { $0.count } == 1)
    }

    @Test func `Memory that reuses the address of released announced memory is not taken for it`() throws {
        let buffers = SharedBuffers { _, _ in }
        let size = 20 << 20
        buffers.await(byteCount: size)
        var storage = try #require(buffers.storage(byteCount: size))
        let address = storage.base
        storage = try PixelStorage.allocate(byteCount: 1)
        storage = try #require(buffers.storage(byteCount: size))
        let isAnnounced = try #require(buffers.seal(storage, byteCount: size)).isAnnounced
        #expect(!isAnnounced, "\(storage.base == address)")
    }

    @Test func `Memory with more than the pixels need is refused, and few bytes are copied`() throws {
        #expect(problem(memory(200 << 10), 100 << 10)?.contains("not \(100 << 10)") == true)
        let small = try SealedPixels.map(memory(1000), byteCount: 1000)
        #expect(small.withUnsafeBytes { $0[999] } == UInt8(truncatingIfNeeded: 999))
        let heap = mappings(of: small.base)
        #expect(!heap.isEmpty && !heap.contains("memfd"))
        let big = try SealedPixels.map(memory(100 << 10), byteCount: 100 << 10)
        let line = mappings(of: big.base)
        // Shared mappings of sealed memory are refused by kernels before 6.7.
        #expect(line.contains("r--p") && line.contains("memfd"))
    }

    /// The line of /proc/self/maps that contains an address.
    private func mappings(of base: UnsafeMutableRawPointer) -> String {
        let file = open("/proc/self/maps", O_RDONLY | O_CLOEXEC)
        defer { close(file) }
        var (bytes, buffer) = ([UInt8](), [UInt8](repeating: 0, count: 64 << 10))
        while true {
            let count = read(file, &buffer, buffer.count)
            guard count > 0 else { break }
            bytes += buffer.prefix(count)
        }
        let text = String(decoding: bytes, as: UTF8.self)
        let address = UInt(bitPattern: base)
        let line = text.split(separator: "\n").first { line in
            let range = line.prefix { $0 != " " }.split(separator: "-").compactMap { UInt($0, radix: 16) }
            return range.count == 2 && range[0] <= address && address < range[1]
        }
        return line.map(String.init) ?? ""
    }

    @Test func `Sealed memory has all its pages after the check`() throws {
        let descriptor = webimage_memory_create(1 << 20)
        // Data after the hole, and as much as the hole has beyond the end.
        let byte: [UInt8] = [1]
        #expect(pwrite(descriptor, byte, 1, 1 << 19) == 1)
        // Missing in the module of the C library.
        typealias Allocate = @convention(c) (Int32, Int32, Int, Int) -> Int32
        let allocate = try #require(unsafeBitCast(dlsym(nil, "fallocate"), to: Allocate?.self))
        #expect(allocate(descriptor, 1 /* FALLOC_FL_KEEP_SIZE */, 1 << 20, 1 << 20) == 0)
        #expect(webimage_memory_seal(descriptor) == 0)
        var status = stat()
        fstat(descriptor, &status)
        #expect(status.st_blocks * 512 < 3 << 19)
        try SealedPixels.check(descriptor, byteCount: 1 << 20)
        fstat(descriptor, &status)
        #expect(status.st_blocks * 512 >= 2 << 20)
        close(descriptor)
    }
}
