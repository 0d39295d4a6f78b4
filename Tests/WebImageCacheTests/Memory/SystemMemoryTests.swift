import FoundationEssentials
import TestSupport
import Testing

@testable import WebImageCache
@testable import WebImageSupport

@Suite struct SystemMemoryTests {
    private let directory = TemporaryDirectory()

    private func memory(_ files: [String: String]) throws -> SystemMemory {
        for (name, text) in files {
            let path = directory.path(name)
            let folder = String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            try Data(text.utf8).write(to: URL(filePath: path))
        }
        return SystemMemory(root: directory.path)
    }

    private let meminfo = "MemTotal:       16384000 kB\nMemFree:         1000 kB\n"

    @Test func `Without control groups the limit is the machine's memory`() throws {
        #expect(try memory(["proc/meminfo": meminfo]).usableBytes == 16_384_000 * 1024)
    }

    @Test func `The smallest limit on the way up counts`() throws {
        let memory = try memory([
            "proc/meminfo": meminfo,
            "proc/self/cgroup": "0::/user.slice/app.scope\n",
            "sys/fs/cgroup/user.slice/app.scope/memory.max": "max\n",
            "sys/fs/cgroup/user.slice/app.scope/memory.high": "800000000\n",
            "sys/fs/cgroup/user.slice/memory.max": "500000000\n",
            "sys/fs/cgroup/user.slice/memory.pressure": "some avg10=0\n",
        ])
        #expect(memory.controlGroupLimit == 500_000_000)
        #expect(memory.usableBytes == 500_000_000)
        #expect(memory.controlGroupPressurePath == directory.path("sys/fs/cgroup/user.slice/memory.pressure"))
    }

    @Test func `Control groups version 1 are read, too, with their value for no limit`() throws {
        let memory = try memory([
            "proc/meminfo": meminfo,
            "proc/self/cgroup": "9:cpu,cpuacct:/a\n4:hugetlb,memory:/docker/abc\n1:name=systemd:/\n0::/\n",
            "sys/fs/cgroup/memory/docker/abc/memory.limit_in_bytes": "9223372036854771712\n",
            "sys/fs/cgroup/memory/memory.limit_in_bytes": "268435456\n",
        ])
        #expect(memory.usableBytes == 268_435_456)
        #expect(memory.controlGroupPressurePath == nil)
    }

    @Test func `A limit above the machine's memory does not count`() throws {
        let memory = try memory([
            "proc/meminfo": meminfo, "proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "999999999999\n",
        ])
        #expect(memory.usableBytes == 16_384_000 * 1024)
    }

    @Test func `A group outside the namespace is ignored`() throws {
        let memory = try memory([
            "proc/meminfo": meminfo,
            "proc/self/cgroup": "0::/../../outside:odd\n",
            "sys/fs/cgroup/memory.max": "1000000\n",
            "memory.max": "5\n",
        ])
        #expect(memory.controlGroupLimit == 1_000_000)
    }

    @Test(arguments: [
        "", "nonsense", "0::", "::::\n0:\n\0", "MemTotal:\n", "MemTotal: 99999999999999999999 kB\n", "0\n",
    ])
    func `A malformed limit is ignored`(text: String) throws {
        let memory = try memory([
            "proc/meminfo": text, "proc/self/cgroup": text, "sys/fs/cgroup/memory.max": text,
        ])
        #expect(memory.usableBytes == nil)
    }

    @Test func `This machine has memory`() {
        #expect((SystemMemory().usableBytes ?? 0) > 1 << 20)
        #expect((1 << 20...1 << 30).contains(MemoryCache.defaultCostLimit))
    }

    @Test func `The default limit is a quarter, a gibibyte at most, and never zero`() {
        #expect(MemoryCache.costLimit(for: 400 << 20) == 100 << 20)
        #expect(MemoryCache.costLimit(for: 64 << 30) == 1 << 30)
        #expect(MemoryCache.costLimit(for: 1) == 1 << 20)
        #expect(MemoryCache.costLimit(for: nil) == 128 << 20)
    }
}
