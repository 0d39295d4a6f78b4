import Testing
import WebImageModel

@Suite struct HTTPDateTests {
    private let now = 1_700_000_000.0

    @Test(arguments: [
        ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777.0),
        ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
        ("Sun Nov  6 08:49:37 1994", 784_111_777),
        ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
        ("Wed, 31 Dec 1969 23:59:59 GMT", -1),
        ("Tue, 29 Feb 2000 12:00:00 GMT", 951_825_600),
        ("Thu, 29 Feb 2024 00:00:00 GMT", 1_709_164_800),
        ("Sat, 31 Dec 2016 23:59:60 GMT", 1_483_228_800),
        ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799),
        ("Sun Nov 16 08:49:37 2031", 1_952_585_377),
        ("sun, 06 nov 1994 08:49:37 GMT", 784_111_777),
        ("SUN, 06 NOV 1994 08:49:37 gMt", 784_111_777),
        ("Sunday, 06-Nov-94 08:49:37 gmt", 784_111_777),
        (" Sun, 06 Nov 1994 08:49:37 GMT\t", 784_111_777),
        ("Sun Nov 6 08:49:37 1994", 784_111_777),
    ])
    func `The three forms of dates are parsed`(text: String, seconds: Double) {
        #expect(HTTPDate.parse(text, now: now) == seconds)
    }

    @Test func `A year of two digits is at most fifty years away in the future`() {
        // It is 2023.
        #expect(HTTPDate.parse("Sunday, 01-Jan-73 00:00:00 GMT", now: now) == 3_250_454_400)
        #expect(HTTPDate.parse("Sunday, 01-Jan-74 00:00:00 GMT", now: now) == 126_230_400)
        #expect(HTTPDate.parse("Sunday, 01-Jan-00 00:00:00 GMT", now: now) == 946_684_800)
        // It is 2099: 05 is 2105.
        #expect(HTTPDate.parse("Sunday, 01-Jan-05 00:00:00 GMT", now: 4_080_000_000) == 4_260_211_200)
        // Not to the year: to the second.
        let present = 1_700_000_000.0
        #expect(HTTPDate.parse("Tuesday, 14-Nov-73 22:13:20 GMT", now: present) == 3_277_923_200)
        #expect(HTTPDate.parse("Tuesday, 14-Nov-73 22:13:21 GMT", now: present) == 122_163_201)
        #expect(HTTPDate.parse("Sunday, 01-Jan-94 00:00:00 GMT", now: .nan) != nil)
        #expect(HTTPDate.parse("Sunday, 01-Jan-94 00:00:00 GMT", now: .infinity) != nil)
    }

    @Test(arguments: [
        "", " ", ",", "0", "Sun", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 CET",
        "Sun, 06 Nov 94 08:49:37 GMT", "Sun, 32 Nov 1994 08:49:37 GMT", "Sun, 31 Nov 1994 08:49:37 GMT",
        "Sun, 29 Feb 2100 08:49:37 GMT", "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 06 Nom 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 24:49:37 GMT", "Sun, 06 Nov 1994 08:60:37 GMT", "Sun, 06 Nov 1994 08:49:61 GMT",
        "Sun, 06 Nov 1994 8:49:37 GMT", "Sun, 06 Nov 1994 08:49 GMT", "Sun, 06 Nov 1994 -1:49:37 GMT",
        "1un, 06 Nov 1994 08:49:37 GMT", "Sun, ٠٦ Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-1994 08:49:37 GMT",
        "Sunday, 06-Nov 08:49:37 GMT", "Sun, Nov 6 08:49:37 1994", "Sun Nov 6 08:49:37 94",
        "Sun, 06 Nov 99999999999999999999 08:49:37 GMT", "Sunday, --- 08:49:37 GMT",
        "Sun, 06  Nov  1994 08:49:37 GMT", "Sun,  06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94  08:49:37 GMT",
        "Sun Nov  16 08:49:37 1994", "Sun Nov   6 08:49:37 1994", "Sun  Nov 6 08:49:37 1994",
        "Sun, 06 Nov 1994 08:49:37 UTC", "Sun, 06 Nov 1994 08.49.37 GMT",
    ])
    func `A malformed date is nil`(text: String) {
        #expect(HTTPDate.parse(text, now: now) == nil)
    }
}
