/// Where shared work tells what happens to it, for those who observe loads.
enum LoadTrace {
    /// Passes an event on to the observers of all loads that wait for `job`. Nobody can observe yet, so it compiles to nothing:
    /// the event is not even made.
    @inline(__always)
    static func note(_ kind: @autoclosure () -> WebImageLoadEvent.Kind, of job: WorkJob) {}
}

extension WorkJob {
    /// Tells the observers of all loads that wait for this job what happened.
    @inline(__always)
    func note(_ kind: @autoclosure () -> WebImageLoadEvent.Kind) { LoadTrace.note(kind(), of: self) }
}
