public import FoundationEssentials
import Glibc

/// Clocks, memory, and the report of a benchmark: lines of `name<TAB>value<TAB>unit`.
public enum Measurement {
    /// Seconds of a clock that only goes forward.
    public static func now() -> Double { seconds(of: CLOCK_MONOTONIC) }

    /// Seconds of processor time, user and system, that the process has taken.
    public static func processorTime() -> Double { seconds(of: CLOCK_PROCESS_CPUTIME_ID) }

    /// The part of ``processorTime()`` that the kernel took.
    public static func kernelTime() -> Double {
        var usage = rusage()
        getrusage(numericCast(RUSAGE_SELF.rawValue), &usage)
        return Double(usage.ru_stime.tv_sec) + Double(usage.ru_stime.tv_usec) / 1e6
    }

    /// Blocks that the process has taken from the heap; 0 unless it was started with the library that counts them (LD_PRELOAD).
    public static func allocations() -> UInt {
        guard let symbol = dlsym(nil, "bench_process_allocation_count") else { return 0 }
        return unsafeBitCast(symbol, to: (@convention(c) () -> UInt).self)()
    }

    private static func seconds(of clock: clockid_t) -> Double {
        var time = timespec()
        clock_gettime(clock, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// Megabytes of memory that the process has now.
    public static func residentMegabytes() -> Double { status("VmRSS:") }

    /// The most megabytes the process has had since the start or the last ``resetPeak()``.
    ///
    /// Not what getrusage says: that outlives exec, so it counts the program that started this one.
    public static func peakMegabytes() -> Double { status("VmHWM:") }

    /// Lets ``peakMegabytes()`` count from now.
    public static func resetPeak() throws { try Data("5".utf8).write(to: URL(filePath: "/proc/self/clear_refs")) }

    private static func status(_ field: String) -> Double {
        guard let file = fopen("/proc/self/status", "r") else { return .nan }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 256)
        while fgets(&line, Int32(line.count), file) != nil {
            let text = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
            guard text.hasPrefix(field) else { continue }
            let digits = text.dropFirst(field.count).drop { !$0.isNumber }.prefix { $0.isNumber }
            return (Double(String(digits)) ?? .nan) / 1024
        }
        return .nan
    }

    /// Prints one result.
    public static func report(_ name: String, _ value: Double, _ unit: String) {
        let digits = value == 0 ? 0 : max(0, 5 - Int(log10(abs(value)).rounded(.down)))
        let factor = pow(10, Double(digits))
        print(name, (value * factor).rounded() / factor, unit, separator: "\t")
    }

    /// The middle of the values.
    public static func median(_ values: [Double]) -> Double {
        let sorted = values.sorted()
        let middle = sorted.count / 2
        return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
    }

    /// Ends the program with a message.
    public static func stop(_ message: String) -> Never {
        fputs(message + "\n", stderrStream)
        exit(1)
    }

    private static var stderrStream: UnsafeMutablePointer<FILE>? { fdopen(2, "w") }
}

/// Files that benchmarks are told of.
public enum InputFile {
    /// The lines of a text file that are not empty.
    public static func lines(_ path: String) throws -> [String] {
        // As bytes: finding the characters of a String would be a measurable part of a download's cost.
        try [UInt8](bytes(path)).split(separator: UInt8(ascii: "\n")).map { String(decoding: $0, as: UTF8.self) }
    }

    /// The bytes of a file.
    public static func bytes(_ path: String) throws -> Data { try Data(contentsOf: URL(filePath: path)) }
}

/// Files that benchmarks write.
public enum OutputFile {
    /// Writes a file as the C programs do: without waiting for the disk, which `Data.write(to:)` always does.
    public static func write(_ data: Data, to path: String) {
        let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard file >= 0 else { Measurement.stop("\(path): cannot be written") }
        data.withUnsafeBytes { bytes in
            var rest = UnsafeRawBufferPointer(rebasing: bytes[...])
            while !rest.isEmpty {
                let count = Glibc.write(file, rest.baseAddress, rest.count)
                guard count > 0 else { Measurement.stop("\(path): cannot be written") }
                rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            }
        }
        close(file)
    }
}
