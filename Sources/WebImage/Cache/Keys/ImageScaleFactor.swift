/// Pixels per point, told by a key.
enum ImageScaleFactor {
    /// 2 for a key with `@2x.`, 3 with `@3x.` (in web URLs also with the "@" percent-encoded), else 1.
    static func forKey(_ key: String) -> Double {
        guard key.utf8.count >= 8 else { return 1 }
        let isWeb = key.hasPrefix("http://") || key.hasPrefix("https://")
        for factor in [2, 3] where key.contains("@\(factor)x.") || (isWeb && key.contains("%40\(factor)x.")) {
            return Double(factor)
        }
        return 1
    }
}
