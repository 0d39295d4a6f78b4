import CChafaShims
import Glibc
import WebImage

/// Creates the bytes that draw images in a terminal. For one thread at a time.
final class TerminalPainter {
    enum Failure: Error { case noMemory }

    let screen: TerminalScreen
    /// The space for one image.
    let grid: CellGrid
    /// True if pixels are drawn, and not symbols in character cells.
    let isGraphics: Bool
    private let chafa: OpaquePointer
    private let mode: webimage_chafa_mode
    private let fills: Bool

    /// - Parameters:
    ///   - size: The columns and rows that images fill; nil for the whole terminal, in which small images are not enlarged.
    ///   - usesSymbols: True to draw in character cells even if graphics are available.
    ///   - namesImages: True if a line is needed for a name.
    init(
        _ screen: TerminalScreen,
        size: (columns: Int, rows: Int)?,
        usesSymbols: Bool,
        namesImages: Bool
    ) throws {
        let environment = screen.usesSequences ? environ : nil
        // Only terminals get graphics: for a file, the terminal type is unknown.
        let cells = usesSymbols || !screen.isTerminal
        guard let chafa = webimage_chafa_open(environment, cells, screen.isASCII) else { throw Failure.noMemory }
        self.chafa = chafa
        self.screen = screen
        mode = webimage_chafa_get_mode(chafa)
        isGraphics = mode != WEBIMAGE_CHAFA_CELLS
        fills = size != nil
        var grid = screen.grid
        if let size {
            (grid.columns, grid.rows) = (size.columns, size.rows)
        } else {
            // Leaves a line for the cursor, or for the prompt after it.
            grid.rows = max(grid.rows - (namesImages ? 2 : 1), 1)
        }
        if !isGraphics { grid = grid.forSymbols }
        self.grid = size == nil ? grid.bounded : grid
    }

    deinit { webimage_chafa_close(chafa) }

    func layout(of bitmap: Bitmap) -> ImageLayout {
        ImageLayout(width: bitmap.width, height: bitmap.height, in: grid, isGraphics: isGraphics, fills: fills)
    }

    /// Returns the bytes that draw an image at the cursor. Afterwards the cursor is after the last cell with symbols, and undefined
    /// with graphics.
    func draw(_ bitmap: Bitmap) -> [UInt8] {
        let layout = layout(of: bitmap)
        if layout.width == bitmap.width, layout.height == bitmap.height, bitmap.pixelFormat != .rgbaHalfPremultiplied {
            return bitmap.withUnsafeBytes { bytes in
                draw(bytes, bitmap.bytesPerRow, hasAlpha: bitmap.pixelFormat.hasAlpha, layout)
            }
        }
        let padded = Self.pad(bitmap, to: layout)
        return padded.withUnsafeBytes { draw($0, layout.width * 4, hasAlpha: true, layout) }
    }

    private func draw(_ bytes: UnsafeRawBufferPointer, _ bytesPerRow: Int, hasAlpha: Bool, _ layout: ImageLayout)
        -> [UInt8]
    {
        var count = 0
        let text = webimage_chafa_draw(
            chafa,
            Int32(layout.columns),
            Int32(layout.rows),
            Int32(grid.cellWidth),
            Int32(grid.cellHeight),
            bytes.baseAddress,
            hasAlpha,
            Int32(layout.width),
            Int32(layout.height),
            Int32(bytesPerRow),
            &count
        )
        defer { webimage_chafa_free(text) }
        return [UInt8](UnsafeRawBufferPointer(start: text, count: text == nil ? 0 : count))
    }

    /// Returns the image at the top left of transparent BGRA pixels.
    private static func pad(_ bitmap: Bitmap, to layout: ImageLayout) -> [UInt8] {
        var result = [UInt8](repeating: 0, count: layout.width * layout.height * 4)
        let (width, height) = (min(bitmap.width, layout.width), min(bitmap.height, layout.height))
        bitmap.withUnsafeBytes { bytes in
            for y in 0..<height {
                var (from, to) = (y * bitmap.bytesPerRow, y * layout.width * 4)
                for _ in 0..<width {
                    if bitmap.pixelFormat.hasAlpha {
                        for byte in 0..<4 { result[to + byte] = bytes[from + byte] }
                    } else {
                        for byte in 0..<3 { result[to + byte] = bytes[from + 2 - byte] }
                        result[to + 3] = 255
                    }
                    from += bitmap.pixelFormat.bytesPerPixel
                    to += 4
                }
            }
        }
        return result
    }

    /// Returns the bytes that draw a still image and move the cursor to the beginning of the line below it.
    func still(_ bitmap: Bitmap) -> [UInt8] {
        guard isGraphics else { return draw(bitmap) + [10] }
        let rows = layout(of: bitmap).rows
        return Self.reserve(rows) + draw(bitmap) + Self.leave(rows)
    }

    /// Returns the bytes that draw one frame at the cursor saved by ``reserve(_:)``, in place of the previous one.
    func frame(_ bitmap: Bitmap) -> [UInt8] {
        let layout = layout(of: bitmap)
        // As a synchronized update, if the terminal supports it.
        var bytes = Array("\u{1B}[?2026h\u{1B}8".utf8)
        switch mode {
        case WEBIMAGE_CHAFA_KITTY:
            // Placements accumulate: delete the one under the cursor, with its pixels.
            bytes += Array("\u{1B}_Ga=d,d=C\u{1B}\\".utf8)
        case WEBIMAGE_CHAFA_SIXEL where bitmap.pixelFormat.hasAlpha:
            // Transparent pixels do not overwrite, so erase first.
            for _ in 0..<layout.rows { bytes += Array("\u{1B}[\(layout.columns)X\u{1B}[B".utf8) }
            bytes += Array("\u{1B}8".utf8)
        default:
            break
        }
        return bytes + draw(bitmap) + Array("\u{1B}[?2026l".utf8)
    }

    /// Scrolls until that many rows are free, and saves the cursor at their beginning.
    static func reserve(_ rows: Int) -> [UInt8] {
        [UInt8](repeating: 10, count: rows) + Array("\u{1B}[\(rows)A\u{1B}7".utf8)
    }

    /// Moves below those rows.
    static func leave(_ rows: Int) -> [UInt8] { Array("\u{1B}8\u{1B}[\(rows)B\r".utf8) }
}
