/// The plans of a load's parts when cached images are revalidated.
extension LoadPlan {
    /// The terms of revalidation; nil if cached images never expire.
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

    /// The plan without revalidation, for a load about whose original nothing is known. Images of other sizes may then be stale, so none is
    /// used.
    var unjudged: LoadPlan {
        with {
            ($0.scalesVariants, $0.readsVariants) = (false, false)
        } original: {
            $0.revalidation = nil
        }
    }

    /// The plan after the permission to ask the loader was given.
    var permitted: LoadPlan { with { $0.permission = nil } }

    /// The plan of a load whose caller already received the image from memory.
    var shown: LoadPlan {
        with {
            $0.isShown = true
        } original: {
            $0.permission = nil
        }
    }

    /// True if the loader may be asked, and handles the URL.
    var mayAskLoader: Bool {
        let original = decode.original
        return original.plan.value.permission?.value() ?? true && original.fetch?.canStart ?? false
    }

    /// The plan for a load from the caches only.
    var cached: LoadPlan {
        let awaitsOthers = mayShareResult && decode.original.plan.value.sharingScope != nil
        return with {
            $0.awaitsOthers = awaitsOthers
        } original: {
            $0.makeCached()
        }
    }

    /// The plan for making the result again from the original on disk, because the stored result is out of date.
    var renewed: LoadPlan {
        with {
            $0.makeNew()
        } original: {
            $0.makeCached()
        }
    }

    /// The plan for a load from the loader only.
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

    /// The plan for making the result from bytes newer than the cached ones.
    func newer(_ given: GivenData) -> LoadPlan {
        with {
            $0.makeNew()
        } original: {
            $0.revalidation = nil
            $0.given = Identified(given)
        }
    }

    /// Returns the plan with the validators of an original that is not stored.
    func judged(by derived: DerivedValidators) -> LoadPlan {
        with { $0.revalidation = $0.revalidation?.with { $0.derived = Boxed(derived) } }
    }
}

extension LoadPlan.Result {
    fileprivate mutating func makeNew() {
        (queriesMemory, queriesDisk, queriesOriginalMemory, readsVariants) = (false, false, false, false)
        replaces = true
    }
}

extension LoadPlan.Original {
    fileprivate mutating func makeCached() { (fetch, revalidation, permission) = (nil, nil, nil) }
}
