import Testing
import WebImage

/// The notation of the cases and the expectations. A driver that misread them would have them all pass.
@Suite struct HTTPCacheCaseParserTests {
    private func parse(_ text: String) throws -> HTTPCacheCaseFile { try HTTPCacheCaseParser.parse(text) }

    @Test func `A case is parsed with all its parts`() throws {
        let file = try parse(
            """
            # a remark
            group Things
            case one optimal
              run so
              because of this
              load
                ask A: 1
                answer 404
                give Date: {now}
                wait
              load cached query=x=1
                expect Age > 2
                expect no B
                expect C
                expect D: a: b
                sent E: {length}
                unsent F
                ends picture
                wait 5
            """
        )
        let test = try #require(file.cases.first)
        #expect(test.id == "one" && test.kind == .optimal && test.group == "Things")
        #expect(test.adaptation == "so" && test.reason == "of this" && test.steps.count == 2)
        #expect(test.steps[0].expectation == .nothing && test.steps[0].wait == 3)
        #expect(test.steps[0].request.map(\.value) == ["1"] && test.steps[0].answer.status == 404)
        #expect(!test.steps[0].shouldEndWithImage && test.steps[1].shouldEndWithImage)
        let second = test.steps[1]
        #expect(second.expectation == .cached && second.query == "x=1" && second.wait == 5)
        let expected: [HTTPCacheCase.FieldExpectation] = [
            .greater(name: "Age", than: 2), .missing("B"), .present("C"),
            .value(HTTPCacheCase.Field(name: "D", value: "a: b")),
        ]
        #expect(second.delivered == expected && second.sent.map(\.name) == ["E"] && second.unsent == ["F"])
    }

    @Test func `Lines that stand for several are expanded`() throws {
        let file = try parse(
            """
            define both
              give A: 1
              give B: 2
            end
            each id | value
              x | 1
               |
            do
            case c{id} check
              load origin
                like both
                give C: {value}
            end
            """
        )
        #expect(file.cases.map(\.id) == ["cx", "c"])
        #expect(file.cases.map { $0.steps[0].answer.fields.map(\.value) } == [["1", "2", "1"], ["1", "2", ""]])
    }

    @Test(arguments: [
        "case one", "case one always", "load", "case a check; load soon", "case a check; ask A: 1",
        "case a check; load; like nothing", "case a check; load; give nothing", "case a check; load; ends well",
        "case a check; load; answer soon", "each a; b | c; do; end", "each a; b; do", "define a; give B: 1", "what",
    ])
    func `Invalid cases are errors`(text: String) {
        #expect(throws: HTTPCacheCaseParser.Failure.self) { try parse(text.replacing("; ", with: "\n")) }
    }

    @Test func `Each case occurs once, and is either run or left out`() throws {
        let files = try HTTPCacheCaseParser.all()
        let ids = files.flatMap(\.cases).map(\.id) + files.flatMap(\.left).flatMap(\.ids)
        #expect(ids.count == Set(ids).count)
        #expect(files.flatMap(\.cases).allSatisfy { !$0.steps.isEmpty && !$0.group.isEmpty })
        #expect(files.flatMap(\.left).allSatisfy { !$0.reason.isEmpty && !$0.ids.isEmpty })
        let cases = files.flatMap(\.cases)
        #expect(cases.allSatisfy { !"\($0.id)\($0.steps)".contains("{id}") })
    }

    @Test(arguments: [
        (784_111_777.0, "Sun, 06 Nov 1994 08:49:37 GMT"), (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"),
        (1_704_067_199, "Sun, 31 Dec 2023 23:59:59 GMT"), (4_107_542_400, "Mon, 01 Mar 2100 00:00:00 GMT"),
    ])
    func `Dates are formatted as HTTP dates`(seconds: Double, text: String) {
        #expect(HTTPCacheText.date(seconds) == text && HTTPDate.parse(text, now: seconds) == seconds)
        #expect(HTTPCacheText.filled("a {now-7} b", now: seconds + 7) == "a \(text) b")
    }
}
