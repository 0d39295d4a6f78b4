/// What the `Cache-Control` fields of a request or a response say to a private cache (RFC 9111, 5.2; RFC 5861; RFC 8246).
///
/// What is said twice counts as that which lets the cache do least, and so does a time that is no number. `s-maxage` and
/// `proxy-revalidate` are for shared caches and not read.
package struct HTTPCacheControl: Sendable, Hashable {
    /// What is said without a number.
    package struct Flags: OptionSet, Sendable, Hashable {
        package let rawValue: UInt16
        package init(rawValue: UInt16) { self.rawValue = rawValue }

        package static let noStore = Flags(rawValue: 1)
        /// Also when it names fields: then more is asked for than has to be.
        package static let noCache = Flags(rawValue: 2)
        package static let mustRevalidate = Flags(rawValue: 4)
        package static let mustUnderstand = Flags(rawValue: 8)
        package static let isPublic = Flags(rawValue: 16)
        package static let isPrivate = Flags(rawValue: 32)
        package static let immutable = Flags(rawValue: 64)
        package static let onlyIfCached = Flags(rawValue: 128)
    }

    var flags: Flags = []
    // Seconds; nil where nothing is said.
    package var maxAge: Double?
    package var minFresh: Double?
    /// Infinite for any time.
    package var maxStale: Double?
    package var staleWhileRevalidate: Double?
    package var staleIfError: Double?

    /// Nothing is said.
    package init() {}

    /// What these fields say.
    package init(_ headers: HTTPHeaders) {
        for field in headers.fields where HTTPHeaders.equal(field.name, "Cache-Control") { add(field.value) }
    }

    /// Whether all of `flags` are said.
    package func says(_ flags: Flags) -> Bool { self.flags.contains(flags) }

    private mutating func add(_ value: String) {
        var reader = HTTPDirectiveReader(value)
        while let directive = reader.next() {
            if let flag = Self.flag(directive.name) {
                // An argument changes nothing: where none is defined, it is to be ignored.
                flags.insert(flag)
            } else {
                addTime(directive)
            }
        }
    }

    private static func flag(_ name: String) -> Flags? {
        switch name {
        case "no-store": .noStore
        case "no-cache": .noCache
        case "must-revalidate": .mustRevalidate
        case "must-understand": .mustUnderstand
        case "public": .isPublic
        case "private": .isPrivate
        case "immutable": .immutable
        case "only-if-cached": .onlyIfCached
        default: nil
        }
    }

    private mutating func addTime(_ directive: HTTPDirective) {
        switch directive.name {
        case "max-age": Self.lower(&maxAge, to: directive.seconds ?? 0)
        case "min-fresh": minFresh = max(minFresh ?? 0, directive.seconds ?? HTTPDirective.longestTime)
        case "max-stale":
            let isForAnyTime = directive.argument == .none
            Self.lower(&maxStale, to: isForAnyTime ? .infinity : directive.seconds ?? 0)
        case "stale-while-revalidate": Self.lower(&staleWhileRevalidate, to: directive.seconds ?? 0)
        case "stale-if-error": Self.lower(&staleIfError, to: directive.seconds ?? 0)
        default: break
        }
    }

    private static func lower(_ value: inout Double?, to seconds: Double) { value = min(value ?? seconds, seconds) }
}
