import CPixels

/// Tables for pixels of more than 8 bits; created on first use, and kept.
final class LightTables: @unchecked Sendable {
    // Sendable because the memory is only written before the object is returned.
    let tables: UnsafePointer<cpixels_light_tables>

    private init() {
        let memory = UnsafeMutablePointer<cpixels_light_tables>.allocate(capacity: 1)
        cpixels_fill_light_tables(memory)
        tables = UnsafePointer(memory)
    }

    static let shared = LightTables()
}

/// A table from 16-bit numbers to light.
final class TransferTable: @unchecked Sendable {
    // Sendable because the memory is only written before the object is returned.
    let values: UnsafePointer<Float>

    private init(_ transfer: cpixels_transfer, gamma: Double = 1) {
        let memory = UnsafeMutablePointer<Float>.allocate(capacity: 65_536)
        cpixels_fill_transfer(memory, transfer, gamma)
        values = UnsafePointer(memory)
    }

    deinit { values.deallocate() }

    private static let sRGB = TransferTable(cpixels_transfer_srgb)
    private static let pq = TransferTable(cpixels_transfer_pq)
    private static let hlg = TransferTable(cpixels_transfer_hlg)

    /// Returns the table of a transfer function; nil for linear light.
    static func of(_ transfer: SourceColor.Transfer) -> TransferTable? {
        switch transfer {
        case .sRGB: sRGB
        case .linear: nil
        case .gamma(let gamma): TransferTable(cpixels_transfer_gamma, gamma: gamma)
        case .pq: pq
        case .hlg: hlg
        }
    }
}
