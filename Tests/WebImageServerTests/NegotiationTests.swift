import Testing
import WebImage

@testable import WebImageServer

@Suite struct NegotiationTests {
    @Test func `Formats are accepted by their quality`() {
        func formats(_ accept: String?) -> [ImageFormat] { AcceptedFormats(accept: accept).formats }
        #expect(formats(nil).isEmpty)
        #expect(formats("*/*").isEmpty)
        #expect(formats("image/*,*/*;q=0.8").isEmpty)
        // What Chromium sends.
        #expect(formats("image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8") == [.avif, .webp])
        #expect(formats("image/webp;q=0, image/avif") == [.avif])
        #expect(formats("image/webp;q=0").isEmpty)
        #expect(formats("image/webp;q=0.000,image/jxl;q=0.001") == [.jpegXL])
        #expect(formats("image/avif;q=0.5,image/webp") == [.webp])
        #expect(formats("image/webp ; q=0.5 , IMAGE/AVIF;Q=0.5") == [.avif, .webp])
        #expect(formats("image/webp;level=1;q=0.3") == [.webp])
        for quality in ["2", "-1", "a", "", "nan", "1e-3", "0x1"] {
            #expect(formats("image/webp;q=\(quality)").isEmpty)
        }
        #expect(formats("ximage/webp,image/webpx").isEmpty)
    }

    @Test func `One range is served, others are ignored`() {
        func range(_ text: String?) -> ByteRange { ByteRange(text, of: 100) }
        #expect(range("bytes=0-9") == .part(0..<10))
        #expect(range("BYTES=90-") == .part(90..<100))
        #expect(range("bytes=-10") == .part(90..<100))
        #expect(range("bytes=-1000") == .part(0..<100))
        #expect(range("bytes=50-1000") == .part(50..<100))
        #expect(range("bytes=100-") == .unsatisfiable)
        #expect(range("bytes=-0") == .unsatisfiable)
        let ignored = [
            nil, "", "bytes=", "bytes=-", "bytes=9-0", "bytes=0-1,5-6", "lines=0-1", "bytes=a-b", "bytes=+1-2",
            "bytes=1-2-3", "bytes=99999999999999999999-",
        ]
        for text in ignored { #expect(range(text) == .whole, "\(text ?? "nil")") }
        #expect(ByteRange("bytes=0-", of: 0) == .unsatisfiable)
    }
}
