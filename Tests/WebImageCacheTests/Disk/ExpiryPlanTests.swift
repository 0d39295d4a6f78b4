import Testing

@testable import WebImageCache

@Suite struct ExpiryPlanTests {
    private func expired(_ times: [Int64], now: Int64 = 100, maxAge: Double) -> [Int64] {
        let plan = ExpiryPlan(maxAge: maxAge, maxSize: 0, now: now * 1_000_000_000)
        return times.filter { plan.isExpired($0 * 1_000_000_000) }
    }

    @Test func `An entry at the maximum age is expired`() { #expect(expired([49, 50, 51], maxAge: 50) == [49, 50]) }

    @Test(arguments: [.infinity, 1e300, 1e10] as [Double]) func `An age beyond time expires nothing`(age: Double) {
        #expect(expired([0, 1], maxAge: age).isEmpty)
    }

    @Test func `A trim of all entries leaves half of the limit, a trim of some leaves the limit`() {
        let plan = ExpiryPlan(maxAge: 50, maxSize: 25, now: 0)
        #expect(!plan.exceeds(25))
        #expect(plan.exceeds(26))
        #expect(plan.trimsBelow(isWhole: true) == 12)
        #expect(plan.trimsBelow(isWhole: false) == 26)
        #expect(!ExpiryPlan(maxAge: 50, maxSize: 0, now: 0).exceeds(.max))
    }

    @Test func `Times at the ends of the range do not trap`() {
        for now in [Int64.min, 0, .max] {
            for time in [Int64.min, 0, .max] {
                for age in [0, 1, 1e18, -1] as [Double] {
                    _ = ExpiryPlan(maxAge: age, maxSize: 1, now: now).isExpired(time)
                }
            }
        }
    }
}
