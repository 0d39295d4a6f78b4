import FoundationEssentials
import WebImage

/// `webimage cache`: manages a cache directory.
enum CacheCommand: Command {
    static let name = "cache"
    static let usage = "stats|list|path|remove|trim|clear|verify [options] [SOURCE…]"
    static let summary = """
        Manages the cache: stats (entries and bytes; with --remote, hits and misses of all machines), list, path
        [SOURCE…] (the directory, or files of sources), remove SOURCE…, trim (removes expired entries, and the oldest
        above --max-size), clear (with --remote, that of all machines), verify (checks every entry; --remove deletes
        damaged ones). Without --namespace, stats and clear include the intermediate tiles of 'webimage tiles' and of
        viewers.
        """
    static let specs =
        [
            OptionSpec(
                "--max-age",
                value: "SECONDS",
                "for trim: remove entries not used for this long; one week by default"
            ),
            OptionSpec(
                "--max-size",
                value: "BYTES",
                "for trim: above this size, remove the oldest until half of it is left (500M, 2GiB)"
            ),
            OptionSpec("--remove", "for verify: remove damaged entries"),
            OptionSpec(
                "--remote",
                value: "URL",
                "for stats and clear: the store that machines share; 'env': $WEBIMAGE_REMOTE_CACHE"
            ),
        ] + CommonOptions.cacheSpecs + OptionSpec.remoteStore

    static func run(_ arguments: ParsedArguments) async throws -> Int32 {
        let common = try CommonOptions(arguments)
        guard let action = arguments.positional.first else {
            throw UsageError("no action given: stats, list, path, remove, trim, clear or verify")
        }
        let rest = Array(arguments.positional.dropFirst())
        if ["stats", "list", "trim", "clear", "verify"].contains(action), !rest.isEmpty {
            throw UsageError("\(action) takes no sources")
        }
        for (name, owner) in [("--max-age", "trim"), ("--max-size", "trim"), ("--remove", "verify")]
        where arguments.has(name) && action != owner {
            throw UsageError("\(name) is for \(owner), not for \(action)")
        }
        if let url = arguments.value("--remote") {
            guard ["stats", "clear"].contains(action) else {
                throw UsageError("--remote is for stats and clear, not for \(action)")
            }
            return try await RemoteActions(RemoteOptions.store(RemoteOptions.url(url), arguments), common.json).run(
                action
            )
        }
        let pyramids = arguments.has("--namespace") ? nil : Self.pyramids(arguments)
        let run: @Sendable () throws -> Int32
        switch action {
        case "stats": run = { stats(common.makeDiskCache(), pyramids, json: common.json) }
        case "list": run = { list(common.makeDiskCache(), json: common.json) }
        case "path": run = { try path(common.makeDiskCache(), rest, json: common.json) }
        case "remove": run = { try remove(common.makeDiskCache(), rest, json: common.json) }
        case "trim":
            var config = ImageCacheConfig()
            config.maxDiskAge = try arguments.number("--max-age", in: 0...1e12) ?? config.maxDiskAge
            if let text = arguments.value("--max-size") {
                guard let bytes = ByteCount.parse(text), bytes > 0 else {
                    throw UsageError("--max-size takes a number of bytes such as 500M, not '\(text)'")
                }
                config.maxDiskSize = Int(bytes)
            }
            let limits = config
            run = { trim(common.makeDiskCache(), limits, json: common.json) }
        case "clear":
            await common.removePartialDownloads()
            run = {
                pyramids?.removeAll()
                return clear(common.makeDiskCache(), json: common.json)
            }
        case "verify":
            let removes = arguments.has("--remove")
            run = { verify(common.makeDiskCache(), removes: removes, json: common.json) }
        default: throw UsageError("unknown action '\(action)'")
        }
        return try await blocking(run)
    }

    /// The intermediate tiles, where `webimage tiles` with the same `--cache-dir` puts them.
    static func pyramids(_ arguments: ParsedArguments) -> PyramidCache? {
        arguments.value("--cache-dir").map { PyramidCache(directory: $0) } ?? .shared
    }
}
