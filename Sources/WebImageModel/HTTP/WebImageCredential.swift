/// A name and a password.
public struct WebImageCredential: Sendable, Hashable {
    /// The user's name.
    public var user: String
    /// The password.
    public var password: String

    /// A name and a password.
    public init(user: String, password: String) {
        self.user = user
        self.password = password
    }
}
