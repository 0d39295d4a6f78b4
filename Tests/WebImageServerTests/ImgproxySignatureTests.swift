import Testing

@testable import WebImageServer

@Suite struct ImgproxySignatureTests {
    /// Signatures that imgproxy's documentation, its examples in Java and Clojure, its own tests, and two client libraries (Ruby, Elixir)
    /// publish: key, salt, signature, path.
    private static let published: [(key: String, salt: String, signature: String, path: String)] = [
        (
            "736563726574", "68656C6C6F", "oKfUtW34Dvo2BGQehJFR4Nr0_rIjOtdtzJ3QFsUcXH8",
            "rs:fill:300:400:0/g:sm/aHR0cDovL2V4YW1w/bGUuY29tL2ltYWdl/cy9jdXJpb3NpdHku/anBn.png"
        ),
        (
            "943b421c9eb07c830af81030552c86009268de4e532ba2ee2eab8247c6da0881",
            "520f986b998545b4785e0defbc4f3c1203f22de2374a3d53cb7a7fe9fea309c5",
            "m3k5QADfcKPDj-SDI2AIogZbC3FlAXszuwhtWXYqavc",
            "rs:fit:300:300/plain/http://img.example.com/pretty/image.jpg"
        ),
        ("746573742d6b6579", "746573742d73616c74", "oWaL7QoW5TsgbuiS9-5-DI8S3Ibbo1gdB2SteJh3a20", "asd"),
        ("746573742d6b657932", "746573742d73616c7432", "jYz1UZ7j1BCdSzH3pZhaYf0iuz0vusoOTdqJsUT6WXI", "asd"),
        (
            "48656c6c6f", "576f726c64", "6PuaY-dst3YwA3CwS_QDSWk4yA3oSr3pEHxT9kiEbOE",
            "s:100:100/plain/https://images.test/image.jpg"
        ),
        (
            "6b505d74dfaee5742f951abff4893ceb9e61b7a7dd52a462d6b2c641", "784b05d765951edaadc64130bf19750b0d",
            "F7xXm0-O-JVpBIz5Z9JvBGog19LgvTDT4y8dzIQ9H28", "aHR0cDovL2V4YW1wbGUuY29tL2ltYWdlLmdpZg"
        ),
        (
            "6b505d74dfaee5742f951abff4893ceb9e61b7a7dd52a462d6b2c641", "784b05d765951edaadc64130bf19750b0d",
            "o0xH0LYlMU7-2lCm4HqeahdxX0elC4AmnF6H0PKyiio", "rs:fill:123:456:true/aHR0cDovL2V4YW1wbGUuY29tL2ltYWdlLmdpZg"
        ),
        (
            "6b505d74dfaee5742f951abff4893ceb9e61b7a7dd52a462d6b2c641", "784b05d765951edaadc64130bf19750b0d",
            "SCMuOeSYIRAA1nxJbuuKXnvRBsW0X50xjhqJz_xSDf4",
            "g:sm/rs:fill:123:456:true/aHR0cDovL2V4YW1wbGUuY29tL2ltYWdlLmdpZg"
        ),
    ]

    private func grammar(
        _ pairs: [SignatureKey],
        size: Int = 32,
        trusted: [String] = []
    ) throws -> ImgproxyGrammar {
        var configuration = ImgproxyGrammar.Configuration()
        configuration.keys = pairs
        configuration.signatureSize = size
        configuration.trustedSignatures = trusted
        return try ImgproxyGrammar(configuration)
    }

    private func isSigned(_ path: String, _ grammar: ImgproxyGrammar) throws -> Bool {
        do throws(ServerError) {
            _ = try grammar.request(forPath: path)
            return true
        } catch {
            // Other errors come after the signature.
            return error.status != 403
        }
    }

    @Test func `Published signatures are accepted, and none for another path, key or salt`() throws {
        for vector in Self.published {
            let pairs = try SignatureKey.pairs(keys: [vector.key], salts: [vector.salt])
            let signing = try grammar(pairs)
            #expect(try isSigned("/\(vector.signature)/\(vector.path)", signing), "\(vector)")
            #expect(try !isSigned("/\(vector.signature)/\(vector.path)x", signing))
            #expect(try !isSigned("/\(vector.signature)/w:1/\(vector.path)", signing))
            let others = [
                SignatureKey(key: pairs[0].key + [0x31], salt: pairs[0].salt), SignatureKey(key: pairs[0].key),
                SignatureKey(key: pairs[0].salt, salt: pairs[0].key),
            ]
            for other in others { #expect(try !isSigned("/\(vector.signature)/\(vector.path)", grammar([other]))) }
        }
    }

    @Test func `A truncated signature is accepted only if its size is configured`() throws {
        let pairs = try SignatureKey.pairs(keys: ["746573742d6b6579"], salts: ["746573742d73616c74"])
        #expect(try isSigned("/oWaL7QoW5Ts/asd", grammar(pairs, size: 8)))
        #expect(try !isSigned("/oWaL7QoW5Ts/asd", grammar(pairs)))
        #expect(try !isSigned("/oWaL7QoW5TsgbuiS9-5-DI8S3Ibbo1gdB2SteJh3a20/asd", grammar(pairs, size: 8)))
        let ruby = try SignatureKey.pairs(keys: ["48656c6c6f"], salts: ["576f726c64"])
        #expect(try isSigned("/6PuaY-c/s:100:100/plain/https://images.test/image.jpg", grammar(ruby, size: 5)))
    }

    @Test func `Each of several pairs signs`() throws {
        let pairs = try SignatureKey.pairs(
            keys: ["746573742d6b6579", "746573742d6b657932"],
            salts: ["746573742d73616c74", "746573742d73616c7432"]
        )
        let signing = try grammar(pairs)
        #expect(try isSigned("/jYz1UZ7j1BCdSzH3pZhaYf0iuz0vusoOTdqJsUT6WXI/asd", signing))
        #expect(try isSigned("/oWaL7QoW5TsgbuiS9-5-DI8S3Ibbo1gdB2SteJh3a20/asd", signing))
        #expect(try !isSigned("/dtLwhdnPPis/asd", signing))
        // The key of one with the salt of the other signs nothing.
        #expect(
            try !isSigned(
                "/oWaL7QoW5TsgbuiS9-5-DI8S3Ibbo1gdB2SteJh3a20/asd",
                grammar([
                    SignatureKey(key: pairs[0].key, salt: pairs[1].salt),
                    SignatureKey(key: pairs[1].key, salt: pairs[0].salt),
                ])
            )
        )
    }

    @Test func `A trusted text is a signature`() throws {
        let signing = try grammar([SignatureKey(key: [1])], trusted: ["trusted", "other"])
        #expect(try isSigned("/trusted/asd", signing))
        #expect(try isSigned("/other/asd", signing))
        #expect(try !isSigned("/untrusted/asd", signing))
        #expect(try !isSigned("/truste/asd", signing))
    }

    @Test(arguments: ["_", "unsafe", "insecure", "a=b", "%20"])
    func `Without keys any signature is accepted`(_ signature: String) throws {
        #expect(try isSigned("/\(signature)/asd", grammar([])))
    }

    @Test func `Without keys, options in place of the signature are an error`() throws {
        #expect(try !isSigned("/w:100/plain/http://a.test/i.jpg", grammar([])))
    }

    @Test(arguments: ["oWaL7QoW5TsgbuiS9-5-DI8S3Ibbo1gdB2SteJh3a20=", "oWaL7QoW5Ts+", "a", "\u{e9}"])
    func `A signature that is not base64 for URLs is refused`(_ signature: String) throws {
        let pairs = try SignatureKey.pairs(keys: ["746573742d6b6579"], salts: ["746573742d73616c74"])
        #expect(try !isSigned("/\(signature)/asd", grammar(pairs)))
    }

    @Test func `The signature is that of the repaired path`() throws {
        let pairs = try SignatureKey.pairs(keys: [Self.published[1].key], salts: [Self.published[1].salt])
        let signature = Self.published[1].signature
        let changed = "/\(signature)/rs%3Afit%3A300%3A300/plain/http:/img.example.com/pretty/image.jpg?utm=1"
        #expect(try isSigned(changed, grammar(pairs)))
    }

    @Test func `Invalid keys are errors at the start`() {
        let isError = { (keys: [String], salts: [String]) in
            (try? SignatureKey.pairs(keys: keys, salts: salts)) == nil
        }
        #expect(isError(["00"], []))
        #expect(isError(["0"], ["00"]))
        #expect(isError(["0g"], ["00"]))
        #expect(isError([""], ["00"]))
        #expect(!isError(["00", "aB"], ["", "01"]))
        #expect(throws: GrammarConfigurationError.self) { try grammar([], size: 0) }
        #expect(throws: GrammarConfigurationError.self) { try grammar([], size: 33) }
    }

    /// RFC 2202, case 2, and RFC 4231, case 2.
    @Test func `Codes are those of the standards`() {
        let message = Array("what do ya want for nothing?".utf8)
        let key = Array("Jefe".utf8)
        let hexadecimal = { (bytes: [UInt8]?) in bytes?.map { String(256 + Int($0), radix: 16).dropFirst() }.joined() }
        #expect(
            hexadecimal(MessageAuthentication.sha1.code(of: message, key: key))
                == "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79"
        )
        #expect(
            hexadecimal(MessageAuthentication.sha256.code(of: message, key: key))
                == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        )
        #expect(MessageAuthentication.sha256.code(of: [], key: [])?.count == 32)
    }
}
