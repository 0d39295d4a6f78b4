package import WebImageHTTP

/// Resolves hosts to something else each time; the last answer stays.
package final class ChangingResolver: Sendable {
    private let state: Lock<(answers: [[IPAddress]], asked: [String])>

    package init(_ answers: String...) {
        state = Lock((answers.map { $0.split(separator: " ").compactMap { IPAddress(String($0)) } }, []))
    }

    package var asked: [String] { state.withLock { $0.asked } }

    @Sendable package func addresses(_ host: String, _ port: Int) -> [IPAddress] {
        state.withLock { state in
            state.asked.append(host)
            return state.answers.count > 1 ? state.answers.removeFirst() : state.answers.first ?? []
        }
    }
}
