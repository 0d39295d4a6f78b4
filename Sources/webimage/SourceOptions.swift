import WebImage

/// `--untrusted` and `--allow`: the policy for sources.
enum SourceOptions {
    static let specs: [OptionSpec] = [
        OptionSpec("--untrusted", "for URLs from untrusted users: only http(s) and public hosts, resource limits"),
        OptionSpec(
            "--allow",
            value: "HOST[:PORT]",
            "with --untrusted: also allow a host, *.domain, address or block; may be repeated"
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
                throw UsageError("--allow needs --untrusted")
            }
            return .trusted
        }
        var policy = SourcePolicy.untrusted
        policy.allowed = rules
        return policy
    }
}
