import WebImage

extension CacheRows {
    private static let day = 86_400.0

    static let vary: [CacheRow] = [
        CacheRow("Cache-Control: max-age=60 | Vary: Foo", asked: "Foo: 1", request: "Foo: 1", at: 1, "hit maxAge"),
        CacheRow("Cache-Control: max-age=60 | Vary: Foo", asked: "Foo: 1", request: "Foo: 2", at: 1, "fetch varies"),
        CacheRow("Cache-Control: max-age=60 | Vary: Foo", asked: "Foo: 1", request: "", at: 1, "fetch varies"),
        CacheRow("Cache-Control: max-age=60 | Vary: Foo", asked: "", request: "Foo: 1", at: 1, "fetch varies"),
        CacheRow("Cache-Control: max-age=60 | Vary: Foo", asked: "", request: "Foo: ", at: 1, "fetch varies"),
        CacheRow("Cache-Control: max-age=60 | Vary: Foo", asked: "", request: "", at: 1, "hit maxAge"),
        CacheRow("Cache-Control: max-age=60 | Vary: FOO", asked: "foo: 1", request: "fOO: 1", at: 1, "hit maxAge"),
        CacheRow("Cache-Control: max-age=60 | Vary: Foo", asked: "Foo: a", request: "Foo: A", at: 1, "fetch varies"),
        CacheRow(
            "Cache-Control: max-age=60 | Vary: Foo",
            asked: "Foo: 1 | Bar: 2",
            request: "Foo: 1 | Bar: 3",
            at: 1,
            "hit maxAge"
        ),
        CacheRow(
            "Cache-Control: max-age=60 | Vary: Foo, Bar",
            asked: "Foo: 1 | Bar: 2",
            request: "Bar: 2 | Foo: 1",
            at: 1,
            "hit maxAge"
        ),
        CacheRow(
            "Cache-Control: max-age=60 | Vary: Foo, Bar",
            asked: "Foo: 1 | Bar: 2",
            request: "Foo: 1 | Bar: 3",
            at: 1,
            "fetch varies"
        ),
        CacheRow(
            "Cache-Control: max-age=60 | Vary: Foo | Vary: Bar",
            asked: "Foo: 1 | Bar: 2",
            request: "Foo: 1",
            at: 1,
            "fetch varies"
        ),
        CacheRow(
            "Cache-Control: max-age=60 | Vary: Foo, , Bar,",
            asked: "Foo: 1",
            request: "Foo: 1",
            at: 1,
            "hit maxAge"
        ),
        CacheRow(
            "Cache-Control: max-age=60 | Vary: Foo",
            asked: "Foo: 1, 2",
            request: "Foo: 1 | Foo: 2",
            at: 1,
            "hit maxAge"
        ),
        CacheRow(
            "Cache-Control: max-age=60 | Vary: Foo",
            asked: "Foo: 1,2",
            request: "Foo:  1,  2 ",
            at: 1,
            "hit maxAge"
        ),
        CacheRow(
            "Cache-Control: max-age=60 | Vary: Foo",
            asked: "Foo: 1, 2",
            request: "Foo: 2, 1",
            at: 1,
            "fetch varies"
        ),
        CacheRow(
            "Cache-Control: max-age=60 | Vary: Foo",
            asked: "Foo: \"1,2\"",
            request: "Foo: \"1, 2\"",
            at: 1,
            "fetch varies"
        ),
        CacheRow(
            "Cache-Control: max-age=60 | Vary: Foo",
            asked: "Foo: \"1,2\"",
            request: "Foo: \"1,2\"",
            at: 1,
            "hit maxAge"
        ),
        CacheRow(
            "Cache-Control: max-age=60 | Vary: Accept-Language",
            asked: "Accept-Language: en, de",
            request: "Accept-Language: eN,  De",
            at: 1,
            "hit maxAge"
        ),
        CacheRow(
            "Cache-Control: max-age=60 | Vary: Accept",
            asked: "Accept: image/webp, image/png",
            request: "Accept: image/png",
            at: 1,
            "fetch varies"
        ),
        CacheRow(
            "Cache-Control: max-age=60 | Vary: Cookie",
            asked: "Cookie: a=b",
            request: "Cookie: a=b",
            at: 1,
            "hit maxAge"
        ),
        CacheRow(
            "Cache-Control: max-age=60 | Vary: Cookie",
            asked: "Cookie: a=b",
            request: "Cookie: a=c",
            at: 1,
            "fetch varies"
        ),
        CacheRow(
            "Cache-Control: max-age=60 | Vary: Cookie",
            asked: "",
            request: "",
            cookies: true,
            at: 1,
            "fetch varies"
        ),
        CacheRow("Cache-Control: max-age=60 | Vary: Cookie", asked: "", request: "", at: 1, "hit maxAge"),
        CacheRow(
            "Cache-Control: max-age=60 | Vary: Authorization",
            asked: "Authorization: a",
            request: "Authorization: a",
            at: 1,
            "hit maxAge"
        ),
        CacheRow(
            "Cache-Control: max-age=60 | Vary: Authorization",
            asked: "Authorization: a",
            request: "Authorization: b",
            at: 1,
            "fetch varies"
        ),
        CacheRow("Cache-Control: max-age=60 | Vary: *", at: 1, "fetch variesOnAll"),
        CacheRow("Cache-Control: max-age=60 | Vary: *, Foo", at: 1, "fetch variesOnAll"),
        CacheRow("Cache-Control: max-age=60 | Vary: Foo, *", at: 1, "fetch variesOnAll"),
        CacheRow("Cache-Control: max-age=60 | Vary: , *", at: 1, "fetch variesOnAll"),
        CacheRow("Cache-Control: max-age=60 | Vary: | Vary: *", at: 1, "fetch variesOnAll"),
        CacheRow("Cache-Control: max-age=60 | Vary: * | ETag: \"a\"", at: 1, "ask variesOnAll, never (fresh)"),
        CacheRow("Cache-Control: max-age=60 | Vary: * | Last-Modified: {-5}", at: 61, "ask variesOnAll, never"),
        CacheRow(
            "Cache-Control: no-cache | Vary: Foo | ETag: \"a\"",
            asked: "Foo: 1",
            request: "Foo: 2",
            at: 1,
            "fetch varies"
        ),
    ]

    static let redirects: [CacheRow] = [
        CacheRow("Cache-Control: max-age=60", via: "301", at: 59, "hit maxAge"),
        CacheRow("Cache-Control: max-age=60", via: "308", at: 59, "hit maxAge"),
        CacheRow("Cache-Control: max-age=60", via: "302", at: 0, "ask redirected, offline"),
        CacheRow("Cache-Control: max-age=60", via: "303", at: 1, "ask redirected, offline"),
        CacheRow("Cache-Control: max-age=60", via: "307", at: 1, "ask redirected, offline"),
        CacheRow("Cache-Control: max-age=60", via: "302", at: 61, "ask expired, offline"),
        CacheRow("Cache-Control: max-age=60", via: "302 Cache-Control: max-age=20", at: 19, "hit maxAge"),
        CacheRow("Cache-Control: max-age=60", via: "302 Cache-Control: max-age=20", at: 20, "ask redirected, offline"),
        CacheRow(
            "Cache-Control: max-age=60",
            via: "302 Cache-Control: max-age=20 | Age: 15",
            at: 6,
            "ask redirected, offline"
        ),
        CacheRow("Cache-Control: max-age=60", via: "302 Expires: {20}", at: 19, "hit maxAge"),
        CacheRow("Cache-Control: max-age=60", via: "302 Expires: 0", at: 1, "ask redirected, offline"),
        CacheRow("Cache-Control: max-age=60", via: "302 Cache-Control: max-age=900", at: 61, "ask expired, offline"),
        CacheRow("Cache-Control: max-age=60", via: "301 Cache-Control: max-age=20", at: 21, "ask redirected, offline"),
        CacheRow("Cache-Control: max-age=60", via: "301 Cache-Control: no-store", at: 1, "ask redirected, offline"),
        CacheRow(
            "Cache-Control: max-age=60",
            via: "301 Cache-Control: no-cache, max-age=9",
            at: 1,
            "ask redirected, offline"
        ),
        CacheRow(
            "Cache-Control: max-age=60",
            via: "301>302 Cache-Control: max-age=20>308",
            at: 21,
            "ask redirected, offline"
        ),
        CacheRow(
            "Cache-Control: max-age=60",
            via: "302 Cache-Control: max-age=30>307 Cache-Control: max-age=9",
            at: 9,
            "ask redirected, offline"
        ),
        CacheRow("Cache-Control: max-age=60, must-revalidate", via: "302", at: 1, "ask mustRevalidate, never"),
        CacheRow(
            "Cache-Control: max-age=60, stale-while-revalidate=9",
            via: "302",
            at: 5,
            "serve staleWhileRevalidate"
        ),
        CacheRow(
            "Cache-Control: max-age=60 | Age: 30",
            via: "302 Cache-Control: max-age=20",
            at: 19,
            "hit maxAge",
            age: 49
        ),
    ]

    static let policies: [CacheRow] = [
        CacheRow("Cache-Control: no-store", policy: .immutable, at: 1, "hit immutablePolicy", age: 1),
        CacheRow(
            "Cache-Control: max-age=1",
            request: "Cache-Control: no-cache",
            policy: .immutable,
            at: 1e9,
            "hit immutablePolicy"
        ),
        CacheRow("Vary: *", policy: .immutable, at: -1e9, "hit immutablePolicy", age: 0),
        CacheRow("", request: "Cache-Control: only-if-cached", policy: .immutable, at: 1, "hit immutablePolicy"),
        CacheRow("Cache-Control: max-age=60", policy: .revalidate, at: 1, "ask revalidatePolicy, always", age: 1),
        CacheRow("Cache-Control: must-revalidate", policy: .revalidate, at: 1, "ask revalidatePolicy, always"),
        CacheRow("Cache-Control: max-age=60, immutable", policy: .revalidate, at: 1, "ask revalidatePolicy, always"),
        CacheRow(
            "",
            request: "Cache-Control: only-if-cached",
            policy: .revalidate,
            at: 1,
            "ask revalidatePolicy, always"
        ),
        CacheRow("", policy: .ttl(10), at: 0, "hit withinTimeToLive"),
        CacheRow("", policy: .ttl(10), at: 9.9, "hit withinTimeToLive", age: 9.9),
        CacheRow("", policy: .ttl(10), at: 10, "ask pastTimeToLive, always", age: 10),
        CacheRow("Age: 500", policy: .ttl(10), at: 9, "hit withinTimeToLive", age: 509),
        CacheRow("Cache-Control: max-age=60", policy: .ttl(10), at: 11, "ask pastTimeToLive, always"),
        CacheRow("Cache-Control: no-cache, no-store | Vary: *", policy: .ttl(10), at: 9, "hit withinTimeToLive"),
        CacheRow("", policy: .ttl(0), at: 0, "ask pastTimeToLive, always"),
        CacheRow("", policy: .ttl(-5), at: 0, "ask pastTimeToLive, always"),
        CacheRow("", policy: .ttl(-.infinity), at: 0, "ask pastTimeToLive, always"),
        CacheRow("", policy: .ttl(.infinity), at: 1e12, "hit withinTimeToLive"),
        CacheRow("", policy: .ttl(.nan), at: 1e12, "hit immutablePolicy"),
        CacheRow("", policy: .ttl(10), at: -day + 1, "hit withinTimeToLive", age: 0),
        CacheRow("", policy: .ttl(10), at: -day - 1, "ask pastTimeToLive, always", age: 0),
    ]

    static let clocks: [CacheRow] = [
        CacheRow("Cache-Control: max-age=60", at: -1, "hit maxAge", age: 0),
        CacheRow("Cache-Control: max-age=60 | Age: 50", at: -3600, "hit maxAge", age: 50),
        CacheRow("Cache-Control: max-age=60 | Age: 60", at: -3600, "ask expired, offline", age: 60),
        CacheRow("Cache-Control: max-age=60", at: -day, "hit maxAge", age: 0),
        CacheRow("Cache-Control: max-age=60", at: -day - 1, "ask expired, offline", age: 0),
        CacheRow("Cache-Control: max-age=60, must-revalidate", at: -day - 1, "ask mustRevalidate, never"),
        CacheRow("Cache-Control: max-age=60, stale-while-revalidate=900", at: -2 * day, "ask expired, offline"),
        CacheRow("Cache-Control: max-age=60, stale-if-error=900", at: -2 * day, "ask expired, offline"),
        CacheRow(
            "Cache-Control: max-age=60",
            request: "Cache-Control: max-stale=900",
            at: -2 * day,
            "ask expired, offline"
        ),
        CacheRow("Expires: {60} | Date: {0}", at: -30, "hit expires", age: 0),
        CacheRow("Cache-Control: max-age=60", at: 1e18, "ask expired, offline", age: 1e18),
        CacheRow("Cache-Control: max-age=60", at: .infinity, "ask expired, offline", age: .infinity),
        CacheRow("Cache-Control: max-age=60", at: -.infinity, "ask expired, offline", age: 0),
        CacheRow("Cache-Control: max-age=60", at: .nan, "hit maxAge", age: 0),
        CacheRow("Cache-Control: max-age=60, immutable", at: 1e18, "ask expired, offline"),
    ]

    static let all = [
        maxAge, expires, heuristic, age, responseDirectives, stale, requestDirectives, vary, redirects, policies,
        clocks,
    ]
}
