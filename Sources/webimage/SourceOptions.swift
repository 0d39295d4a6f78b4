import WebImage

/// `--untrusted` and `--allow`: which sources may be asked.
enum SourceOptions {
    static let specs: [OptionSpec] = [
        OptionSpec("--untrusted", "sources are strangers': only http and https, only public hosts, within bounds"),
        OptionSpec(
            "--allow",
            value: "HOST[:PORT]",
            "with --untrusted: a host, *.domain, address or block that may be asked; may be repeated"
        ),
    ]

    static func policy(_ arguments: ParsedArguments) throws -> SourcePolicy {
        let rules = try arguments.values("--allow").map { text in
            guard let rule = SourceRule(text) else {
                throw UsageError(
                    "--allow takes a host, *.domain, address or block, with a port or without, not '\(text)'"
                )
            }
            return rule
        }
        guard arguments.has("--untrusted") else {
            guard rules.isEmpty else {
                throw UsageError("--allow is for sources that are untrusted: it needs --untrusted")
            }
            return .trusted
        }
        var policy = SourcePolicy.untrusted
        policy.allowed = rules
        return policy
    }
}
