/// The plans of the parts that a load is made of when what is cached does not serve for ever.
extension LoadPlan {
    /// How long what is cached serves; nil for ever.
    var terms: Revalidation? { decode.original.plan.value.revalidation?.value }

    private func with(
        _ changeResult: (inout Result) -> Void = { _ in },
        original changeOriginal: (inout Original) -> Void
    ) -> LoadPlan {
        LoadPlan(
            result: result.with { result in
                result.decode = result.decode.with { decode in
                    decode.original = decode.original.with(changeOriginal)
                    if decode.original.value.fetch == nil || decode.original.value.given != nil {
                        decode.isProgressive = false
                    }
                }
                result.isShown = false
                changeResult(&result)
            }
        )
    }

    /// The same as if what is cached served for ever.
    var unjudged: LoadPlan { with { $0.revalidation = nil } }

    /// The same when it is known that the loader may be asked.
    var permitted: LoadPlan { with { $0.permission = nil } }

    /// The same for a load whose caller was shown what memory has.
    var shown: LoadPlan {
        with {
            $0.isShown = true
        } original: {
            $0.permission = nil
        }
    }

    /// Whether the loader may be asked, and serves the URL.
    var mayAskLoader: Bool {
        let original = decode.original
        return original.plan.value.permission?.value() ?? true && original.fetch?.canStart ?? false
    }

    /// What the caches have.
    var cached: LoadPlan { with { $0.makeCached() } }

    /// The result made of the original on disk, because what was made of it before is out of date.
    var renewed: LoadPlan {
        with {
            $0.makeNew()
        } original: {
            $0.makeCached()
        }
    }

    /// What the loader has, because what is cached is of no use.
    var fromLoader: LoadPlan {
        with {
            $0.makeNew()
            $0.replaces = false
        } original: {
            $0.revalidation = nil
            $0.queriesDisk = false
            $0.entryRule = nil
        }
    }

    /// The result made of bytes that are newer than what is cached.
    func newer(_ given: GivenData) -> LoadPlan {
        with {
            $0.makeNew()
        } original: {
            $0.revalidation = nil
            $0.given = Identified(given)
        }
    }

    /// The same with what is known of an original that is not kept.
    func judged(by derived: DerivedSource) -> LoadPlan {
        with { $0.revalidation = $0.revalidation?.with { $0.derived = Boxed(derived) } }
    }
}

extension LoadPlan.Result {
    fileprivate mutating func makeNew() {
        (queriesMemory, queriesDisk, queriesOriginalMemory) = (false, false, false)
        replaces = true
    }
}

extension LoadPlan.Original {
    fileprivate mutating func makeCached() { (fetch, revalidation, permission) = (nil, nil, nil) }
}
