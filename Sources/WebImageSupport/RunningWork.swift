/// Running work of a job, which can be cancelled and change its priority.
package protocol RunningWork: Sendable {
    func cancel()
    func setPriority(_ priority: LoadPriority)
}
