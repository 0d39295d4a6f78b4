/// Names that name services of local networks and machines answer, and the public one never does.
enum LocalNames {
    /// Whether a name, in lower case, is one of them: of one label, which is looked up among the machine's own domains, or below a
    /// domain that is set apart for that.
    static func contains(_ name: String) -> Bool {
        let labels = name.split(separator: ".", omittingEmptySubsequences: false)
        guard labels.count > 1, let last = labels.last else { return true }
        return topLevels.contains(String(last)) || name == "home.arpa" || name.hasSuffix(".home.arpa")
    }

    /// RFC 6761, 6762, 7686 and 8375, ICANN's `.internal`, and what routers and directories are often set up with.
    private static let topLevels: Set<String> = [
        "localhost", "localdomain", "local", "internal", "intranet", "private", "corp", "home", "lan", "test",
        "example",
        "invalid", "onion", "alt",
    ]
}
