import WebImage

extension CacheRows {
    static let responseDirectives: [CacheRow] = [
        CacheRow("Cache-Control: no-cache", at: 0, "ask noCache, never"),
        CacheRow("Cache-Control: max-age=60, no-cache", at: 1, "ask noCache, never (fresh)"),
        CacheRow("Cache-Control: max-age=60, No-CaChE", at: 1, "ask noCache, never (fresh)"),
        CacheRow("Cache-Control: max-age=60 | Cache-Control: no-cache", at: 1, "ask noCache, never (fresh)"),
        CacheRow("Cache-Control: max-age=60, no-cache=\"a, b\"", at: 1, "ask noCache, never (fresh)"),
        CacheRow("Cache-Control: max-age=60, no-cache=", at: 1, "ask noCache, never (fresh)"),
        CacheRow("Cache-Control: max-age=60, no-cache foo", at: 1, "ask noCache, never (fresh)"),
        CacheRow("Cache-Control: foo=\"open, max-age=60, no-cache", at: 1, "ask noCache, never (fresh)"),
        CacheRow("Cache-Control: no-cache, immutable, max-age=60", at: 1, "ask noCache, never (fresh)"),
        CacheRow("Cache-Control: no-cache, stale-while-revalidate=60", at: 1, "ask noCache, never"),
        CacheRow("Cache-Control: no-cache, stale-if-error=60", at: 1, "ask noCache, never"),
        CacheRow("Cache-Control: no-store, max-age=60", at: 1, "ask noCache, never (fresh)"),
        CacheRow("Cache-Control: xno-cache, max-age=60", at: 1, "hit maxAge"),
        CacheRow("Cache-Control: max-age=60, must-revalidate", at: 59, "hit maxAge"),
        CacheRow("Cache-Control: max-age=60, must-revalidate", at: 61, "ask mustRevalidate, never"),
        CacheRow("Cache-Control: max-age=60, must-revalidate=1", at: 61, "ask mustRevalidate, never"),
        CacheRow("Cache-Control: must-revalidate", at: 0, "ask mustRevalidate, never"),
        CacheRow("Cache-Control: max-age=60, proxy-revalidate", at: 61, "ask expired, offline"),
        CacheRow("Cache-Control: max-age=60, immutable", at: 59, "hit immutableResponse"),
        CacheRow("Cache-Control: max-age=60, immutable", at: 61, "ask expired, offline"),
        CacheRow("Cache-Control: max-age=60, immutable=\"x\"", at: 59, "hit immutableResponse"),
        CacheRow("Cache-Control: immutable", at: 0, "ask expired, offline"),
        CacheRow("Cache-Control: immutable | Expires: {60}", at: 59, "hit immutableResponse"),
        CacheRow("Cache-Control: max-age=60, public", at: 61, "ask expired, offline"),
    ]

    static let stale: [CacheRow] = [
        CacheRow("Cache-Control: max-age=60, stale-while-revalidate=30", at: 59, "hit maxAge"),
        CacheRow("Cache-Control: max-age=60, stale-while-revalidate=30", at: 60, "serve staleWhileRevalidate", age: 60),
        CacheRow("Cache-Control: max-age=60, stale-while-revalidate=30", at: 89.9, "serve staleWhileRevalidate"),
        CacheRow("Cache-Control: max-age=60, stale-while-revalidate=30", at: 90, "ask expired, offline"),
        CacheRow("Cache-Control: max-age=60, stale-while-revalidate=\"30\"", at: 89, "serve staleWhileRevalidate"),
        CacheRow("Cache-Control: max-age=60, stale-while-revalidate=0", at: 60, "ask expired, offline"),
        CacheRow("Cache-Control: max-age=60, stale-while-revalidate", at: 60, "ask expired, offline"),
        CacheRow("Cache-Control: max-age=60, stale-while-revalidate=x", at: 60, "ask expired, offline"),
        CacheRow(
            "Cache-Control: max-age=60, stale-while-revalidate=900, stale-while-revalidate=5",
            at: 66,
            "ask expired, offline"
        ),
        CacheRow("Cache-Control: stale-while-revalidate=30", at: 29, "serve staleWhileRevalidate"),
        CacheRow("Cache-Control: stale-while-revalidate=30 | Expires: {60}", at: 89, "serve staleWhileRevalidate"),
        CacheRow(
            "Cache-Control: max-age=60, stale-while-revalidate=30, must-revalidate",
            at: 61,
            "ask mustRevalidate, never"
        ),
        CacheRow(
            "Cache-Control: max-age=60, stale-while-revalidate=30 | Age: 80",
            at: 9,
            "serve staleWhileRevalidate",
            age: 89
        ),
        CacheRow("Cache-Control: max-age=60, stale-while-revalidate=30 | Age: 80", at: 10, "ask expired, offline"),
        CacheRow("Cache-Control: max-age=60, stale-if-error=30", at: 59, "hit maxAge"),
        CacheRow("Cache-Control: max-age=60, stale-if-error=30", at: 60, "ask expired, always"),
        CacheRow("Cache-Control: max-age=60, stale-if-error=30", at: 89, "ask expired, always"),
        CacheRow("Cache-Control: max-age=60, stale-if-error=30", at: 90, "ask expired, offline"),
        CacheRow("Cache-Control: max-age=60, stale-if-error=x", at: 60, "ask expired, offline"),
        CacheRow("Cache-Control: max-age=60, stale-if-error=30, must-revalidate", at: 61, "ask mustRevalidate, never"),
        CacheRow(
            "Cache-Control: max-age=60, stale-while-revalidate=10, stale-if-error=30",
            at: 75,
            "ask expired, always"
        ),
    ]

    static let requestDirectives: [CacheRow] = [
        CacheRow(
            "Cache-Control: max-age=60",
            request: "Cache-Control: no-cache",
            at: 1,
            "ask requestNoCache, never (fresh)"
        ),
        CacheRow("Cache-Control: max-age=60", request: "Pragma: no-cache", at: 1, "ask requestNoCache, never (fresh)"),
        CacheRow(
            "Cache-Control: max-age=60",
            request: "Pragma: foo, No-Cache",
            at: 1,
            "ask requestNoCache, never (fresh)"
        ),
        CacheRow("Cache-Control: max-age=60", request: "Pragma: foo", at: 1, "hit maxAge"),
        CacheRow("Cache-Control: max-age=60", request: "Pragma: no-cache | Cache-Control: foo", at: 1, "hit maxAge"),
        CacheRow(
            "Cache-Control: max-age=60, immutable",
            request: "Cache-Control: no-cache",
            at: 1,
            "ask requestNoCache, never (fresh)"
        ),
        CacheRow("Cache-Control: max-age=60", request: "Cache-Control: no-store", at: 1, "hit maxAge"),
        CacheRow(
            "Cache-Control: max-age=60",
            request: "Cache-Control: max-age=0",
            at: 0,
            "ask requestMaxAge, always (fresh)"
        ),
        CacheRow("Cache-Control: max-age=60", request: "Cache-Control: max-age=10", at: 10, "hit maxAge"),
        CacheRow(
            "Cache-Control: max-age=60",
            request: "Cache-Control: max-age=10",
            at: 11,
            "ask requestMaxAge, always (fresh)"
        ),
        CacheRow(
            "Cache-Control: max-age=60 | Age: 30",
            request: "Cache-Control: max-age=20",
            at: 0,
            "ask requestMaxAge, always (fresh)"
        ),
        CacheRow("Cache-Control: max-age=60", request: "Cache-Control: max-age=900", at: 61, "ask expired, offline"),
        CacheRow(
            "Cache-Control: max-age=60",
            request: "Cache-Control: max-age=x",
            at: 0,
            "ask requestMaxAge, always (fresh)"
        ),
        CacheRow(
            "Cache-Control: max-age=60",
            request: "Cache-Control: max-age=10",
            at: 61,
            "ask requestMaxAge, offline"
        ),
        CacheRow(
            "Cache-Control: max-age=60, must-revalidate",
            request: "Cache-Control: max-age=10",
            at: 61,
            "ask requestMaxAge, never"
        ),
        CacheRow(
            "Cache-Control: max-age=60, immutable",
            request: "Cache-Control: max-age=0",
            at: 9,
            "hit immutableResponse"
        ),
        CacheRow(
            "Cache-Control: max-age=60, immutable",
            request: "Cache-Control: max-age=5",
            at: 9,
            "ask requestMaxAge, always (fresh)"
        ),
        CacheRow(
            "Cache-Control: max-age=60, immutable",
            request: "Cache-Control: max-age=9",
            at: 9,
            "hit immutableResponse"
        ),
        CacheRow(
            "Cache-Control: max-age=60, immutable",
            request: "Cache-Control: max-age=0",
            at: 61,
            "ask requestMaxAge, offline"
        ),
        CacheRow(
            "Cache-Control: max-age=60, stale-while-revalidate=60",
            request: "Cache-Control: max-age=0",
            at: 61,
            "ask requestMaxAge, offline"
        ),
        CacheRow("Cache-Control: max-age=60", request: "Cache-Control: min-fresh=20", at: 40, "hit maxAge"),
        CacheRow(
            "Cache-Control: max-age=60",
            request: "Cache-Control: min-fresh=20",
            at: 41,
            "ask requestMinFresh, always (fresh)"
        ),
        CacheRow(
            "Cache-Control: max-age=60",
            request: "Cache-Control: min-fresh=900",
            at: 0,
            "ask requestMinFresh, always (fresh)"
        ),
        CacheRow(
            "Cache-Control: max-age=60",
            request: "Cache-Control: min-fresh=x",
            at: 0,
            "ask requestMinFresh, always (fresh)"
        ),
        CacheRow(
            "Cache-Control: max-age=60",
            request: "Cache-Control: min-fresh=1, min-fresh=30",
            at: 40,
            "ask requestMinFresh, always (fresh)"
        ),
        CacheRow("Cache-Control: max-age=60 | Age: 50", request: "Cache-Control: min-fresh=9", at: 0, "hit maxAge"),
        CacheRow(
            "Cache-Control: max-age=60",
            request: "Cache-Control: max-stale",
            at: 1e8,
            "hit stale requestMaxStale"
        ),
        CacheRow("Cache-Control: max-age=60", request: "Cache-Control: max-stale=30", at: 59, "hit maxAge"),
        CacheRow(
            "Cache-Control: max-age=60",
            request: "Cache-Control: max-stale=30",
            at: 90,
            "hit stale requestMaxStale"
        ),
        CacheRow("Cache-Control: max-age=60", request: "Cache-Control: max-stale=30", at: 91, "ask expired, offline"),
        CacheRow(
            "Cache-Control: max-age=60",
            request: "Cache-Control: max-stale=30, max-stale",
            at: 91,
            "ask expired, offline"
        ),
        CacheRow("Cache-Control: max-age=60", request: "Cache-Control: max-stale=x", at: 61, "ask expired, offline"),
        CacheRow(
            "Cache-Control: max-age=60 | Age: 80",
            request: "Cache-Control: max-stale=30",
            at: 0,
            "hit stale requestMaxStale"
        ),
        CacheRow("", request: "Cache-Control: max-stale", at: 0, "hit stale requestMaxStale"),
        CacheRow(
            "Cache-Control: max-age=60, must-revalidate",
            request: "Cache-Control: max-stale",
            at: 61,
            "ask mustRevalidate, never"
        ),
        CacheRow("Cache-Control: no-cache", request: "Cache-Control: max-stale", at: 1, "ask noCache, never"),
        CacheRow(
            "Cache-Control: max-age=60",
            request: "Cache-Control: max-stale, max-age=10",
            at: 70,
            "ask requestMaxAge, offline"
        ),
        CacheRow(
            "Cache-Control: max-age=60",
            request: "Cache-Control: max-stale, min-fresh=5",
            at: 70,
            "ask requestMinFresh, offline"
        ),
        CacheRow("Cache-Control: max-age=60", request: "Cache-Control: only-if-cached", at: 59, "hit maxAge"),
        CacheRow("Cache-Control: max-age=60", request: "Cache-Control: only-if-cached", at: 61, "refuse onlyIfCached"),
        CacheRow("Cache-Control: no-cache", request: "Cache-Control: only-if-cached", at: 1, "refuse onlyIfCached"),
        CacheRow(
            "Cache-Control: max-age=60",
            request: "Cache-Control: only-if-cached, no-cache",
            at: 1,
            "refuse onlyIfCached"
        ),
        CacheRow(
            "Cache-Control: max-age=60",
            request: "Cache-Control: only-if-cached, max-stale",
            at: 61,
            "hit stale requestMaxStale"
        ),
        CacheRow(
            "Cache-Control: max-age=60, stale-while-revalidate=60",
            request: "Cache-Control: only-if-cached",
            at: 61,
            "hit stale staleWhileRevalidate"
        ),
        CacheRow(
            "Cache-Control: max-age=60 | Vary: Foo",
            asked: "Foo: 1",
            request: "Cache-Control: only-if-cached",
            at: 1,
            "refuse onlyIfCached"
        ),
        CacheRow("Cache-Control: max-age=60", request: "Cookie: a=b", at: 1, "hit maxAge"),
        CacheRow("Cache-Control: max-age=60", request: "Authorization: Basic YTpi", at: 1, "hit maxAge"),
    ]
}
