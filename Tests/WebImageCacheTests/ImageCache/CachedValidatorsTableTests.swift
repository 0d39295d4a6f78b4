import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing

@testable import WebImageCache

@Suite struct CachedValidatorsTableTests {
    private func known(_ number: Int) -> CachedValidators {
        CachedValidators(
            validators: CacheValidators(etag: "\"\(number)\"", lastModified: nil),
            contentHash: UInt64(number)
        )
    }

    private func keys(_ table: Lock<CachedValidatorsTable>) -> Set<String> { Set(table.withLock { $0.keys }) }

    @Test func `Validators are found until they are set to nil`() {
        let table = Lock(CachedValidatorsTable())
        #expect(table.withLock { $0.find("a") } == nil)
        table.withLock { $0.set(known(1), forKey: "a") }
        table.withLock { $0.set(known(2), forKey: "b") }
        table.withLock { $0.set(known(3), forKey: "a") }
        #expect(table.withLock { $0.find("a") } == known(3) && table.withLock { $0.find("b") } == known(2))
        #expect(table.withLock { $0.count } == 2)
        table.withLock { $0.set(nil, forKey: "a") }
        table.withLock { $0.set(nil, forKey: "a") }
        #expect(table.withLock { $0.find("a") } == nil && keys(table) == ["b"])
        table.withLock { $0.removeAll() }
        #expect(table.withLock { $0.find("b") } == nil && table.withLock { $0.count } == 0)
        table.withLock { $0.set(known(4), forKey: "b") }
        #expect(table.withLock { $0.find("b") } == known(4))
    }

    @Test func `Keys are compared by bytes`() {
        let table = Lock(CachedValidatorsTable())
        table.withLock { $0.set(known(1), forKey: "\u{E9}") }
        #expect(table.withLock { $0.find("e\u{301}") } == nil)
        #expect(table.withLock { $0.find("\u{E9}") } == known(1))
        table.withLock { $0.set(known(2), forKey: "") }
        #expect(table.withLock { $0.find("") } == known(2))
    }

    @Test func `The least recently used key is dropped first, whether it was set or found`() {
        let table = Lock(CachedValidatorsTable(capacity: 3))
        for number in 1...3 { table.withLock { $0.set(known(number), forKey: "\(number)") } }
        #expect(table.withLock { $0.find("1") } == known(1))
        table.withLock { $0.set(known(4), forKey: "4") }
        #expect(keys(table) == ["1", "3", "4"])
        table.withLock { $0.set(known(9), forKey: "3") }
        table.withLock { $0.set(known(5), forKey: "5") }
        #expect(keys(table) == ["3", "4", "5"])
        table.withLock { $0.set(nil, forKey: "4") }
        table.withLock { $0.set(known(6), forKey: "6") }
        #expect(keys(table) == ["3", "5", "6"], "there was room")
    }

    @Test func `Of a hundred thousand keys the last 4096 are known`() {
        let table = Lock(CachedValidatorsTable())
        for number in 0..<100_000 { table.withLock { $0.set(known(number), forKey: "http://h/\(number)") } }
        #expect(table.withLock { $0.count } == 4096)
        let wrong = (0..<100_000).filter { number in
            let found = table.withLock { $0.find("http://h/\(number)") }
            return found != (number < 100_000 - 4096 ? nil : known(number))
        }
        #expect(wrong == [])
    }

    @Test func `The table matches a list ordered by use`() {
        var random = SeededGenerator(seed: 11)
        let table = Lock(CachedValidatorsTable(capacity: 20))
        var list: [(key: String, value: CachedValidators)] = []
        for step in 0..<20_000 {
            let key = "k\(Int.random(in: 0..<40, using: &random))"
            let place = list.firstIndex { $0.key == key }
            switch Int.random(in: 0..<6, using: &random) {
            case 0, 1:
                table.withLock { $0.set(known(step), forKey: key) }
                if let place { list.remove(at: place) }
                if list.count == 20 { list.removeLast() }
                list.insert((key, known(step)), at: 0)
            case 2:
                table.withLock { $0.set(nil, forKey: key) }
                if let place { list.remove(at: place) }
            case 3:
                let amendment = EntryAmendment(validators: .some(nil))
                table.withLock { $0.amend(amendment, forKey: key) }
                if let place { list[place].value = list[place].value.amended(by: amendment) }
            default:
                #expect(table.withLock { $0.find(key) } == place.map { list[$0].value })
                if let place { list.insert(list.remove(at: place), at: 0) }
            }
        }
        #expect(keys(table) == Set(list.map(\.key)) && list.count > 10)
    }

    @Test func `An amendment changes validators and keeps the hash, unless that was of other bytes`() {
        let (one, two) = (known(1), CacheValidators(etag: "\"2\"", lastModified: nil))
        #expect(one.amended(by: nil) == one && one.amended(by: EntryAmendment(extendedData: Data())) == one)
        let amended = one.amended(by: EntryAmendment(validators: .some(two)))
        #expect(amended == CachedValidators(validators: two, contentHash: 1))
        let received = CachedValidators(validators: two.with(receivedHash: 7), contentHash: 1)
        #expect(received.contentHash == 7)
        #expect(received.amended(by: EntryAmendment(validators: .some(two))).contentHash == nil)
        #expect(received.amended(by: EntryAmendment(validators: two.with(receivedHash: 8))).contentHash == 8)
    }

    @Test func `Long fields replace others: the byte limit always holds`() {
        let table = Lock(CachedValidatorsTable(byteCapacity: 10_000))
        func long(_ number: Int, _ length: Int) -> CachedValidators {
            CachedValidators(validators: StoredRecords.validators(number, padding: length), contentHash: 1)
        }
        for number in 1...100 { table.withLock { $0.set(long(number, 900), forKey: "\(number)") } }
        #expect(table.withLock { $0.byteCount } <= 10_000 && keys(table).contains("100"))
        #expect((5...10).contains(table.withLock { $0.count }))
        table.withLock { $0.set(long(1, 9000), forKey: "100") }
        #expect(keys(table) == ["100"] && table.withLock { $0.byteCount } > 9000)
        table.withLock { $0.amend(EntryAmendment(validators: StoredRecords.validators(2, padding: 90)), forKey: "100") }
        #expect(table.withLock { $0.byteCount } < 500)
        table.withLock { $0.set(long(1, 20_000), forKey: "200") }
        #expect(table.withLock { $0.count } == 0 && table.withLock { $0.byteCount } == 0)
    }

    @Test func `An amendment about other bytes changes nothing`() {
        var about = StoredRecords.validators(2)
        about?.subject.value = 1
        #expect(known(1).amended(by: EntryAmendment(validators: .some(about))).validators?.etag == "\"2\"")
        #expect(known(3).amended(by: EntryAmendment(validators: .some(about))) == known(3))
        let unknown = CachedValidators(validators: nil)
        #expect(unknown.amended(by: EntryAmendment(validators: .some(about))).validators?.etag == "\"2\"")
    }
}
