import CacheTestSupport
import FoundationEssentials
import Glibc
import HTTPTestSupport
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageHTTP
@testable import WebImageLoading

/// The directory of parts has the same protections, and names and messages contain no secrets.
@Suite struct UnsafePartsTests {
    private let harness = PartialStoreHarness()
    private let bytes = noise(20_000)

    @Test func `Parts are neither kept in nor read from a directory that is a link`() {
        let target = harness.directory.path("target")
        harness.keep(bytes, in: harness.store())
        #expect(rename(harness.filesPath, target) == 0 && symlink(target, harness.filesPath) == 0)
        let before = names(in: target)
        #expect(harness.claim(in: harness.store()) == nil)
        harness.keep(noise(9_000), .plain("/b"), in: harness.store())
        harness.store().removeAll()
        harness.run()
        #expect(names(in: target) == before && before.count == 2)
    }

    @Test(arguments: [mode_t(0o777), 0o770])
    func `Parts are neither kept in nor read from a directory that others can write to`(mode: mode_t) {
        harness.keep(bytes, in: harness.store())
        chmod(harness.filesPath, mode)
        #expect(harness.claim(in: harness.store()) == nil)
        harness.keep(noise(9_000), .plain("/b"), in: harness.store())
        #expect(harness.names.count == 1)
        chmod(harness.filesPath, 0o700)
        #expect(harness.claim(in: harness.store()) != nil)
    }

    @Test func `Files of parts are private to the user`() {
        harness.keep(bytes, in: harness.store())
        #expect(fileStatus(harness.filesPath).st_mode & 0o777 == 0o700)
        for name in names(in: harness.filesPath) {
            #expect(fileStatus(harness.filesPath + "/" + name).st_mode & 0o777 == 0o600)
        }
    }

    @Test func `File names reveal no users, passwords, signatures or tokens`() {
        let address = "https://ada:hunter2@h.example/a.jpg?X-Amz-Signature=deadbeefcafe&token=s3cr3t"
        let cache = DiskCache(path: harness.directory.path("cache"))
        #expect(cache.store(Data([1]), forKey: address))
        let request = DownloadRequest(
            url: URL(string: address) ?? testURL("/"),
            headers: ["Authorization": "Bearer s3cr3t"]
        )
        harness.keep(bytes, request, in: harness.store())
        let found = names(in: cache.path) + names(in: harness.filesPath)
        #expect(found.count == 4)
        for secret in ["hunter2", "deadbeef", "s3cr3t", "Bearer"] {
            #expect(!found.contains { $0.lowercased().contains(secret.lowercased()) && !$0.contains("CACHEDIR") })
        }
        #expect(!readBytes(harness.filePath(request)).contains("s3cr3t", from: "Bearer "), "fields only as a digest")
    }
}

extension [UInt8] {
    /// Returns whether one text follows another.
    fileprivate func contains(_ text: String, from start: String) -> Bool {
        String(decoding: self, as: UTF8.self).contains(start + text)
    }
}
