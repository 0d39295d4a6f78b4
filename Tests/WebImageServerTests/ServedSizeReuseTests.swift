import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageServer

/// Smaller sizes that are made of larger ones.
@Suite struct ServedSizeReuseTests {
    private func server() throws -> ServerUnderTest {
        let jpeg = try Array(Fixtures.data("Options/photo.jpg"))
        return try ServerUnderTest { _ in .response(headers: [("Cache-Control", "max-age=600")], body: jpeg) }
    }

    private func image(_ answer: RawAnswer) async throws -> Image { try await Image.decode(Data(answer.body)) }

    /// The mean difference of all components.
    private func meanDifference(_ left: Bitmap, _ right: Bitmap) -> Double {
        guard (left.width, left.height) == (right.width, right.height) else { return 255 }
        var sum = 0
        for y in 0..<left.height {
            for x in 0..<left.width {
                for (a, b) in zip(left.premultipliedRGBA(x: x, y: y), right.premultipliedRGBA(x: x, y: y)) {
                    sum += abs(Int(a) - Int(b))
                }
            }
        }
        return Double(sum) / Double(4 * left.width * left.height)
    }

    @Test func `A smaller size is scaled from a larger one, and the original is neither fetched nor decoded`()
        async throws
    {
        let (server, other) = (try server(), try server())
        let manager = server.server.service.manager
        var (reused, decodes): (RawAnswer?, [Int]) = (nil, [])
        // Memory may be taken from caches at any time, so it is tried several times, each with another original.
        for number in 0..<5 where !decodes.contains(1) {
            let before = manager.statistics.decodes
            let path = "/photo\(number).jpg"
            #expect(await server.get("/w:100/ext:png", of: path).status == 200)
            reused = await server.get("/w:40/ext:png", of: path)
            decodes.append(manager.statistics.decodes - before)
        }
        #expect(decodes.last == 1)
        #expect(server.origin.requestCount() == decodes.count)
        // The same size, made of the original.
        let direct = await other.get("/w:40/ext:png")
        let (left, right) = (try await image(try #require(reused)), try await image(direct))
        #expect((left.pixelWidth, left.pixelHeight) == (40, 30))
        #expect(meanDifference(left.bitmap, right.bitmap) < 2)
    }

    @Test func `Another format of a size is encoded of the same pixels`() async throws {
        let server = try server()
        for name in ["jpg", "png", "webp"] { #expect(await server.get("/w:40/ext:\(name)").status == 200) }
        let manager = server.server.service.manager
        #expect(manager.statistics.decodes == 1)
        #expect(manager.encodeCount == 3)
    }

    @Test func `A size that is nearly as large is made of the original, which filters it once`() async throws {
        let server = try server()
        _ = await server.get("/w:100")
        _ = await server.get("/w:80")
        #expect(server.origin.requestCount() == 1)
        #expect(server.server.service.manager.statistics.decodes == 2)
    }
}
