import FoundationEssentials

extension Fixtures {
    /// The names, without extension, of the fixtures in a directory that end with `.suffix`, sorted; empty when there
    /// is no such directory.
    public static func names(in directory: String, ending suffix: String) -> [String] {
        let files = (try? FileManager.default.contentsOfDirectory(atPath: path(directory))) ?? []
        return files.filter { $0.hasSuffix("." + suffix) }.map { String($0.dropLast(suffix.count + 1)) }.sorted()
    }
}
