import Glibc

extension ImageCache {
    private static let chosenDirectory = Lock<String?>(nil)

    /// Where caches put their directories that are made without one; `webimage` in the user's cache directory
    /// (`$XDG_CACHE_HOME`, else `~/.cache`) by default. Affects caches made afterwards. An empty string brings the default
    /// back.
    public static var defaultDiskCacheDirectory: String {
        get {
            chosenDirectory.withLock { $0 }
                ?? userCacheDirectory(cacheHome: environment("XDG_CACHE_HOME"), home: environment("HOME")) + "/webimage"
        }
        set { chosenDirectory.withLock { $0 = newValue.isEmpty ? nil : newValue } }
    }

    /// The XDG base directory for caches. A relative path counts as none, as the specification demands.
    static func userCacheDirectory(cacheHome: String?, home: String?) -> String {
        if let cacheHome, cacheHome.hasPrefix("/") { return CacheDirectory.absolute(cacheHome) }
        if let home, home.hasPrefix("/") { return CacheDirectory.absolute(home) + "/.cache" }
        if let user = getpwuid(geteuid()), let directory = user.pointee.pw_dir {
            return String(cString: directory) + "/.cache"
        }
        return "/tmp/webimage-\(geteuid())"
    }

    private static func environment(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

    /// A namespace as the name of one directory.
    static func directoryName(_ namespace: String) -> String {
        let name = String(
            decoding: namespace.utf8.map { $0 == 0 || $0 == UInt8(ascii: "/") ? UInt8(ascii: "_") : $0 },
            as: UTF8.self
        )
        return ["", ".", ".."].contains(name) ? "default" : name
    }
}
