/// Something that a job has under way, to be cancelled and made more or less urgent.
package protocol RunningWork: Sendable {
    func cancel()
    func setPriority(_ priority: LoadPriority)
}
