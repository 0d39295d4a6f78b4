#if canImport(WebImageServer)
    import FoundationEssentials
    import WebImage

    @testable import WebImageServer

    /// What clients send to an image server: paths, and heads of requests.
    extension FuzzTarget {
        static let server: [FuzzTarget] = [
            FuzzTarget(
                name: "imgproxy-url",
                summary: "imgproxy's URLs, their keys and layouts, and the same with a format",
                longestInput: 1024,
                dictionary: "url",
                seeds: { imgproxySeeds.map { Data($0.utf8) } },
                check: { data throws(FuzzFinding) in try checkPath("/_/" + data.text, imgproxy) }
            ),
            FuzzTarget(
                name: "thumbor-url",
                summary: "thumbor's URLs, their keys and layouts, and the same with a format",
                longestInput: 1024,
                dictionary: "url",
                seeds: { thumborSeeds.map { Data($0.utf8) } },
                check: { data throws(FuzzFinding) in try checkPath("/unsafe/" + data.text, thumbor) }
            ),
            FuzzTarget(
                name: "request-head",
                summary: "methods, targets and fields of requests; none may have a body",
                dictionary: "http",
                seeds: { headSeeds.map { Data($0.utf8) } },
                check: checkHead
            ),
        ]

        private static let imgproxySeeds = [
            "rs:fill:300:400:1/g:sm/plain/http://example.com/a.jpg@webp",
            "w:10/h:20/el:1/ex:1:no/aHR0cDovL2EuY29tL2E.png",
            "pr:small/t:10:ff00ff:1/pd:1:2:3:4/bg:255:0:1/plain/local:///a%20b.jpg",
            "c:0.5:0.5:fp:0.1:0.9/rot:270/plain/http:/a/b",
            "wm:0.5:re:3:4:0.1/q:80/fq:jpg:1:png:2/mb:1000/plain/https%3A//a/b@",
            "raw:1/skp:jpg:png/exp:99999999999/plain/a",
            "dpr:2.5/z:0.1:3/mw:1/mh:2/exar:1/ar:0/fl:1:1/bl:1/sh:1/pix:3/kcr:1/sm:0/cb:x/fn:YQ:1/att:1/plain/a",
        ]
        private static let thumborSeeds = [
            "300x200/smart/example.com/a.jpg",
            "trim:bottom-right:10/1x2:30x40/adaptive-fit-in/-origx-0/left/top/http://a/b",
            "0x0/filters:quality(80):format(webp):watermark(http://a/b,10p,-repeat,50,none,20)/https%3A//a/b",
            "filters:fill(blur):focal(1x2:3x4):proportion(0.5):rotate(90)/a",
            "full-fit-in/x/filters:brightness(10):sharpen(1,2,true)/a",
        ]
        private static let headSeeds = [
            "GET /a?b HTTP/1.1\nHost: a\nAccept: */*", "HEAD http://a:80/b HTTP/1.0\nContent-Length: 0",
            "OPTIONS * HTTP/1.1\nHost: [::1]:80\nX: \u{e9}", "POST / HTTP/1.1\nHost: a\nContent-Length: 40\n",
            "GET / HTTP/1.1\nHost: a\nTransfer-Encoding: chunked\nExpect: 100-continue",
            "GET / HTTP/2\nContent-Length 40:",
        ]

        private static let imgproxy: (any URLGrammar)? = {
            var configuration = ImgproxyGrammar.Configuration()
            configuration.presets = ["small=w:10/h:10", "default=q:70"]
            configuration.allowsLimits = true
            return try? ImgproxyGrammar(configuration)
        }()

        private static let thumbor: (any URLGrammar)? = {
            var configuration = ThumborGrammar.Configuration()
            configuration.allowsUnsafe = true
            return ThumborGrammar(configuration)
        }()

        private static func checkPath(_ path: String, _ grammar: (any URLGrammar)?) throws(FuzzFinding) {
            guard let grammar else { throw FuzzFinding("there is no grammar") }
            let request: VariantRequest
            do throws(ServerError) {
                request = try grammar.request(forPath: path, defaults: VariantOptions(), now: 1_700_000_000)
            } catch {
                try must([400, 403, 404, 414, 422].contains(error.status), "the status is \(error.status)")
                try must(error.message.utf8.allSatisfy { (32...126).contains($0) }, "a message is '\(error.message)'")
                return
            }
            try must(!request.source.isEmpty, "the source is empty")
            let options = request.options
            try must(options.canonical.canonical == options.canonical, "canonical options have others")
            try must(options.canonical.resultKey == options.resultKey, "canonical options have another key")
            for size in [PixelSize(1, 1), PixelSize(40, 20), PixelSize(3000, 5000)] { try checkLayout(options, size) }
            try checkNaming(path, request, grammar)
        }

        private static func checkLayout(_ options: VariantOptions, _ size: PixelSize) throws(FuzzFinding) {
            let layout: VariantLayout
            do throws(ServerError) {
                layout = try VariantLayout(options, source: VariantLayout.Source(size))
            } catch {
                return try must(error.status == 422, "a layout has status \(error.status)")
            }
            for size in [layout.size, layout.scaled, layout.decodeSize] {
                try must(size.width > 0 && size.height > 0, "a size is \(size)")
                try must(size.width <= 16_384 && size.height <= 16_384, "a size is \(size)")
            }
        }

        /// The path with a format must mean the same, with that format.
        private static func checkNaming(
            _ path: String,
            _ request: VariantRequest,
            _ grammar: any URLGrammar
        ) throws(FuzzFinding) {
            // The server redirects only for images that it has loaded.
            guard request.options.format == nil, !request.options.raw, URL(string: request.source)?.host() != nil else {
                return
            }
            guard let named = grammar.path(path, naming: .webp) else { return }
            var expected = request
            expected.options.format = .webp
            let found: VariantRequest
            do throws(ServerError) {
                found = try grammar.request(forPath: named, defaults: VariantOptions(), now: 1_700_000_000)
            } catch {
                throw FuzzFinding("with a format it is refused: \(named)")
            }
            try must(found == expected, "with a format it is another request: \(named)")
        }

        private static func checkHead(_ data: Data) throws(FuzzFinding) {
            let lines = data.split(separator: 10, omittingEmptySubsequences: false)
            let words = (lines.first ?? Data()).split(separator: 32, omittingEmptySubsequences: false).map {
                Data($0).text
            }
            guard words.count == 3 else { return }
            var headers = HTTPHeaders()
            for line in lines.dropFirst() {
                let parts = line.split(separator: 58, maxSplits: 1, omittingEmptySubsequences: false).map {
                    Data($0).text
                }
                headers.add(name: parts[0], value: parts.count > 1 ? parts[1] : "")
            }
            let check = HeadCheck()
            let result: (method: HTTPRequest.Method, target: String)
            do throws(HeadCheck.Refusal) {
                result = try check.check(
                    method: words[0],
                    target: words[1],
                    version: words[2],
                    headers: headers,
                    fieldCount: headers.fields.count
                )
            } catch {
                return try must([400, 405, 414, 417, 431, 505].contains(error.status), "the status is \(error.status)")
            }
            try must(result.target.hasPrefix("/") || result.target == "*", "the target is '\(result.target)'")
            try must(result.target.utf8.allSatisfy { (33...126).contains($0) }, "the target is '\(result.target)'")
            for field in headers.fields {
                let name = field.name.lowercased()
                try must(name != "transfer-encoding", "a request has an encoding")
                try must(name != "content-length" || field.value == "0", "a request has a body")
                // libmicrohttpd appends a folded value to the name.
                try must(!name.hasPrefix("content-length") || name == "content-length", "a length is in the name")
                try must(!field.value.utf8.contains { $0 < 32 && $0 != 9 }, "a value has several lines")
            }
        }
    }
#else
    extension FuzzTarget {
        static let server: [FuzzTarget] = []
    }
#endif
