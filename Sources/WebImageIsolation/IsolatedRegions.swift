import CIsolation
package import FoundationEssentials
import Glibc

extension IsolatedImageCoder: RegionServingCoder {
    package func regionCoder(for beginning: Data) -> (any ImageCoder)? {
        if isolates(beginning) { return self }
        guard let serving = base as? any RegionServingCoder else { return base }
        return serving.regionCoder(for: beginning)
    }

    /// Opens an image in a worker that serves no other; nil for formats whose images are drawn or decoded as a whole.
    package func regionServer(of input: RegionInput, _ setup: RegionSetup) throws(WebImageError) -> (any RegionServer)?
    {
        guard isolates(input.beginning), WorkerKind(ImageFormat(detecting: input.beginning)) == .sealed else {
            return nil
        }
        let file: RegionFile
        switch input.bytes {
        case .file(let opened): file = opened
        case .data(let data): file = try RegionFile(copying: data)
        }
        let most = setup.options.limits.maximumDecodeDuration ?? isolation.maximumDecodeDuration
        let seconds = min(isolation.maximumDecodeDuration, max(most, 0.01))
        return try advised { () throws(WebImageError) in
            try IsolatedRegionServer(pool(for: input.beginning), file, setup, seconds: min(max(seconds, 0.01), 1e6))
        }
    }
}

extension RegionFile {
    /// Copies data into memory that a worker can read.
    fileprivate convenience init(copying data: Data) throws(WebImageError) {
        let memory = webimage_memory_create(data.count)
        guard memory >= 0 else { throw WebImageError(.outOfMemory, "no memory for \(data.count) bytes") }
        self.init(adopting: memory, byteCount: data.count)
        let written = data.withUnsafeBytes { webimage_memory_write(memory, $0.baseAddress, $0.count) }
        // A worker cannot change what the next one reads.
        guard written == 0, webimage_memory_seal(memory) == 0 else {
            throw WebImageError(.outOfMemory, "no memory for \(data.count) bytes")
        }
    }
}

/// Reads parts of an image in a worker that keeps it open as long as this exists.
///
/// A worker that fails is replaced once for each region, and a few times for all of them.
final class IsolatedRegionServer: RegionServer, @unchecked Sendable {
    // Sendable because it is used by one thread at a time.

    private let pool: WorkerPool
    private let file: RegionFile
    private let setup: RegionSetup
    private let seconds: Double
    private let state: RegionState
    private var worker: WorkerProcess?
    private var failures = 0
    private var failure: WebImageError?

    /// Failures after which no more workers are started.
    private static let mostFailures = 3

    /// Returns nil if the image is decoded as a whole.
    ///
    /// - Parameter seconds: the time limit for each task.
    init?(_ pool: WorkerPool, _ file: RegionFile, _ setup: RegionSetup, seconds: Double) throws(WebImageError) {
        (self.pool, self.file, self.setup, self.seconds) = (pool, file, setup, seconds)
        let worker = try pool.start()
        let opened: RegionState?
        do throws(WebImageError) {
            opened = try Self.open(worker, file, setup, seconds)
        } catch {
            Self.release(worker)
            throw error
        }
        guard let opened else {
            Self.release(worker)
            return nil
        }
        (state, self.worker) = (opened, worker)
    }

    deinit { if let worker { Self.release(worker) } }

    /// Ends a worker on another thread: it waits for the end.
    private static func release(_ worker: WorkerProcess) { WorkerPool.upkeep.submit(priority: .low) { worker.stop() } }

    private static func open(
        _ worker: WorkerProcess,
        _ file: RegionFile,
        _ setup: RegionSetup,
        _ seconds: Double
    ) throws(WebImageError) -> RegionState? {
        let task = IsolationTask.regions(.open(setup, byteCount: file.byteCount), setup.options)
        let answer: IsolationAnswer
        do throws(WorkerFailure) {
            answer = try worker.perform(task, .file(file.descriptor), seconds: seconds).0
        } catch {
            throw error.error(seconds: seconds)
        }
        switch answer {
        case .regions(let state): return state
        case .failure(let error): throw error
        default: throw IsolatedImageCoder.otherAnswer
        }
    }

    /// Performs a task in the worker; throws the errors that the decoder reports about the image.
    private func ask(_ task: RegionTask) throws(WebImageError) -> (IsolationAnswer, PixelStorage?) {
        if let failure { throw failure }
        let answer: (IsolationAnswer, PixelStorage?)
        do throws(WebImageError) { answer = try perform(.regions(task, setup.options)) } catch {
            dropWorker()
            failures += 1
            // The rows that a worker has passed are lost with it.
            if failures >= Self.mostFailures || setup.purpose == .rows { failure = error }
            throw error
        }
        if case .failure(let error) = answer.0 { throw error }
        return answer
    }

    private func perform(_ task: IsolationTask) throws(WebImageError) -> (IsolationAnswer, PixelStorage?) {
        if let worker {
            do throws(WorkerFailure) { return try worker.perform(task, nil, seconds: seconds) } catch {
                // It may have ended while it was idle, for want of memory, or because of an earlier region.
                guard setup.purpose == .regions, !error.isTimeout else { throw error.error(seconds: seconds) }
                dropWorker()
            }
        }
        let worker = try pool.start()
        self.worker = worker
        guard let opened = try Self.open(worker, file, setup, seconds), opened.rowFormat == state.rowFormat else {
            throw WebImageError(.badImageData, "the image has changed")
        }
        do throws(WorkerFailure) { return try worker.perform(task, nil, seconds: seconds) } catch {
            throw error.error(seconds: seconds)
        }
    }

    private func dropWorker() {
        if let worker { Self.release(worker) }
        worker = nil
    }

    // MARK: RegionServer

    var readableRows: [Int] { state.readableRows }
    var rowFormat: PixelFormat { state.rowFormat }

    func advance() throws(WebImageError) -> [Int] {
        guard case .regions(let state?) = try ask(.advance).0 else { throw IsolatedImageCoder.otherAnswer }
        return state.readableRows
    }

    func read(_ area: PixelArea, level: Int) throws(WebImageError) -> Image {
        try IsolatedImageCoder.image(ask(.read(area, level: level)), setup.options)
    }

    func readRows(_ count: Int, width: Int) throws(WebImageError) -> Bitmap {
        try IsolatedImageCoder.image(ask(.rows(width: width, count: count)), setup.options).bitmap
    }
}
