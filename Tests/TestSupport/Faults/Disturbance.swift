import Glibc

/// A named way in which a disk can fail: the effects on one call after the other.
public struct Disturbance: Sendable, CustomStringConvertible {
    /// Its name on the command line.
    public let name: String
    private let plan: FaultPlan
    /// The number of consecutive disturbed calls.
    private let count: Int
    /// A Boolean value that indicates whether stores must not be affected: the system may do this at any time, and
    /// nothing has failed.
    public let isHarmless: Bool

    /// The name.
    public var description: String { name }

    /// A Boolean value that indicates whether the process does not survive it.
    public var isDeadly: Bool { [.dieBefore, .dieAfter, .dieWithin].contains(plan.action) }

    private init(_ name: String, _ plan: FaultPlan, count: Int = 1, isHarmless: Bool = false) {
        (self.name, self.plan, self.count, self.isHarmless) = (name, plan, count, isHarmless)
    }

    /// The plan that disturbs the calls from a number on.
    public func plan(at number: Int) -> FaultPlan {
        var plan = plan
        plan.numbers = number...(count == .max ? .max : number + count - 1)
        return plan
    }

    private static func error(_ name: String, _ number: Int32, isLasting: Bool = false) -> Disturbance {
        let plan = FaultPlan(.fail, Int(number))
        return Disturbance(isLasting ? name + " from then on" : name + " once", plan, count: isLasting ? .max : 1)
    }

    private static let transfers: Set<FaultPlan.Call> = [.read, .write]

    /// All of them.
    public static let all: [Disturbance] = [
        error("EIO", EIO), error("EIO", EIO, isLasting: true),
        error("ENOSPC", ENOSPC), error("ENOSPC", ENOSPC, isLasting: true),
        error("EDQUOT", EDQUOT), error("EROFS", EROFS), error("EROFS", EROFS, isLasting: true),
        error("EACCES", EACCES), error("EPERM", EPERM), error("ESTALE", ESTALE),
        error("ESTALE", ESTALE, isLasting: true), error("EMFILE", EMFILE), error("EMFILE", EMFILE, isLasting: true),
        error("ENFILE", ENFILE), error("ENOMEM", ENOMEM), error("ENOENT", ENOENT), error("ENAMETOOLONG", ENAMETOOLONG),
        Disturbance("EXDEV once", FaultPlan(.fail, Int(EXDEV), calls: [.rename, .link])),
        Disturbance("EINTR three times", FaultPlan(.fail, Int(EINTR), calls: transfers), count: 3, isHarmless: true),
        Disturbance("EINTR at a close", FaultPlan(.fail, Int(EINTR), calls: [.close]), isHarmless: true),
        Disturbance("one byte once", FaultPlan(.short, 1, calls: transfers), isHarmless: true),
        Disturbance("short from then on", FaultPlan(.short, 700, calls: transfers), count: .max, isHarmless: true),
        Disturbance("death before", FaultPlan(.dieBefore)),
        Disturbance("death after", FaultPlan(.dieAfter)),
        Disturbance("death within a write", FaultPlan(.dieWithin, calls: [.write])),
        Disturbance("death with no room", FaultPlan(.dieAfter, calls: [.rename, .unlink])),
    ]

    /// The one with a name.
    public static func named(_ name: String) -> Disturbance? { all.first { $0.name == name } }
}
