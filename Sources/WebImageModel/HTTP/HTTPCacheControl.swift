/// The `Cache-Control` directives of a request or a response for a private cache (RFC 9111, 5.2; RFC 5861; RFC 8246).
///
/// Of duplicate directives the strictest counts; an invalid time counts as the strictest value. `s-maxage` and `proxy-revalidate`
/// are for shared caches and ignored.
package struct HTTPCacheControl: Sendable, Hashable {
    /// The directives without a number.
    package struct Flags: OptionSet, Sendable, Hashable {
        package let rawValue: UInt16
        package init(rawValue: UInt16) { self.rawValue = rawValue }

        package static let noStore = Flags(rawValue: 1)
        /// Also set if the directive names fields, which is stricter than required.
        package static let noCache = Flags(rawValue: 2)
        package static let mustRevalidate = Flags(rawValue: 4)
        package static let mustUnderstand = Flags(rawValue: 8)
        package static let isPublic = Flags(rawValue: 16)
        package static let isPrivate = Flags(rawValue: 32)
        package static let immutable = Flags(rawValue: 64)
        package static let onlyIfCached = Flags(rawValue: 128)
    }

    var flags: Flags = []
    // Seconds; nil if the directive is missing.
    package var maxAge: Double?
    package var minFresh: Double?
    /// Infinite for `max-stale` without a value.
    package var maxStale: Double?
    package var staleWhileRevalidate: Double?
    package var staleIfError: Double?

    /// Creates an empty set of directives.
    package init() {}

    /// Parses the `Cache-Control` fields.
    package init(_ headers: HTTPHeaders) {
        for field in headers.fields where HTTPHeaders.equal(field.name, "Cache-Control") { add(field.value) }
    }

    /// Returns whether all of `flags` are set.
    package func says(_ flags: Flags) -> Bool { self.flags.contains(flags) }

    private mutating func add(_ value: String) {
        var reader = HTTPDirectiveReader(value)
        while let directive = reader.next() {
            if let flag = Self.flag(directive.name) {
                // Arguments of directives that define none are ignored.
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
