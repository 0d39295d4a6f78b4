import FoundationEssentials

extension DecodeWorkerLoop {
    /// Performs a task on the image that this worker keeps open.
    mutating func perform(_ task: RegionTask) throws(WebImageError) -> (IsolationAnswer, Image?) {
        if case .open(let setup, let byteCount) = task { return (.regions(try open(setup, byteCount)), nil) }
        guard let regions else { throw WebImageError(.badImageData, "no image was opened") }
        switch task {
        case .open: return (.regions(nil), nil)
        case .advance:
            return (.regions(RegionState(rowFormat: regions.rowFormat, readableRows: try regions.advance())), nil)
        case .read(let area, let level): return Self.answer(try regions.read(area, level: level))
        case .rows(let width, let count):
            return Self.answer(Image(bitmap: try regions.readRows(count, width: width)))
        }
    }

    private mutating func open(_ setup: RegionSetup, _ byteCount: Int) throws(WebImageError) -> RegionState? {
        regions = nil
        let descriptor = takeFile()
        guard descriptor >= 0 else { throw WebImageError(.badImageData, "the request has no file") }
        let file = RegionFile(adopting: descriptor, byteCount: byteCount)
        guard let coder = coder as? any RegionServingCoder else { return nil }
        // The coder reads the beginning itself.
        regions = try coder.regionServer(of: RegionInput(.file(file), beginning: Data()), setup)
        return regions.map { RegionState(rowFormat: $0.rowFormat, readableRows: $0.readableRows) }
    }
}
