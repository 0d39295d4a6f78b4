import Testing
import WebImageModel

private enum First { enum Page: OptionKey { static let defaultValue = 0 } }
private enum Second { enum Page: OptionKey { static let defaultValue = 0 } }
private enum Name: OptionKey { static let defaultValue: String? = "none given" }

@Suite struct OptionValuesTests {
    @Test func `An unset option has its default`() {
        let values = OptionValues()
        #expect(values.isEmpty)
        #expect(values[First.Page.self] == 0)
        #expect(values[Name.self] == "none given")
    }

    @Test func `Setting the default removes the option`() {
        var values = OptionValues()
        values[First.Page.self] = 3
        #expect(values[First.Page.self] == 3 && !values.isEmpty)
        values[First.Page.self] = 0
        #expect(values.isEmpty && values == OptionValues())
    }

    @Test func `An optional value may be nil where that is not the default`() {
        var values = OptionValues()
        values[Name.self] = nil
        #expect(values[Name.self] == nil && !values.isEmpty)
        values[Name.self] = "none given"
        #expect(values.isEmpty)
    }

    @Test func `Keys of one name in two places are two options`() {
        var values = OptionValues()
        values[First.Page.self] = 1
        values[Second.Page.self] = 2
        #expect(values[First.Page.self] == 1 && values[Second.Page.self] == 2)
        var other = OptionValues()
        other[Second.Page.self] = 1
        other[First.Page.self] = 2
        #expect(values != other)
    }

    @Test func `Equal values are equal and hash equally, in whatever order they were set`() {
        var left = OptionValues()
        left[First.Page.self] = 5
        left[Name.self] = "a"
        var right = OptionValues()
        right[Name.self] = "a"
        right[First.Page.self] = 5
        #expect(left == right && left.hashValue == right.hashValue)
        right[First.Page.self] = 6
        #expect(left != right)
    }

    @Test func `A copy has its own values`() {
        var left = OptionValues()
        left[First.Page.self] = 5
        let right = left
        left[First.Page.self] = 6
        #expect(right[First.Page.self] == 5)
    }
}
