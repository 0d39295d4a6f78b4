import Testing
import WebImageSupport

@testable import WebImageFleet

@Suite struct RemoteNamesTests {
    @Test func `Names have a version, and the hash of namespace and key in braces`() {
        let names = RemoteNames(namespace: "trusted")
        let hash = Hashing.md5Hex("/7 trusted\nhttps://e.com/a.jpg")
        #expect(names.entry(forKey: "https://e.com/a.jpg") == "wi1:{\(hash)}")
        #expect(names.lease(forKey: "https://e.com/a.jpg") == "wi1:{\(hash)}:l")
        let later = RemoteNames(namespace: "trusted", generation: "abc")
        #expect(later.entry(forKey: "x") == "wi1:{\(Hashing.md5Hex("abc/7 trusted\nx"))}")
    }

    @Test func `No two namespaces and keys have the same name`() {
        var names: Set<String> = []
        let parts = ["", "a", "b", "ab", "a\nb", "1 a", "1 a\nb"]
        for namespace in parts {
            for key in parts { names.insert(RemoteNames(namespace: namespace).entry(forKey: key)) }
        }
        #expect(names.count == parts.count * parts.count)
    }

    @Test func `The time of an entry is within its bounds, with a tenth of chance`() {
        #expect(RemoteLifetime.seconds(usable: 1000, random: 0) == 900)
        #expect(RemoteLifetime.seconds(usable: 1000, random: 0.5) == 1000)
        #expect(RemoteLifetime.seconds(usable: 1000, random: 1) == 1100)
        #expect(RemoteLifetime.seconds(usable: 1000, random: 9) == 1100)
        #expect(RemoteLifetime.seconds(usable: 1000, random: -9) == 900)
        #expect(RemoteLifetime.seconds(usable: 0, random: 0.5) == 10)
        #expect(RemoteLifetime.seconds(usable: -.infinity, random: 0.5) == 10)
        #expect(RemoteLifetime.seconds(usable: .nan, random: 0.5) == 10)
        for forever in [nil, Double.infinity, 1e300] {
            #expect(RemoteLifetime.seconds(usable: forever, random: 0.5) == 30 * 86_400)
        }
        // The server accepts only times above 0.
        #expect(RemoteLifetime.seconds(usable: 0, random: 0) > 0)
    }
}
