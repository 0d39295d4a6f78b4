import CChafaShims
import Glibc
import WebImage

/// Makes what a terminal must be sent to show pictures. For one thread at a time.
final class TerminalPainter {
    enum Failure: Error { case noMemory }

    let screen: TerminalScreen
    /// The room for one picture.
    let grid: CellGrid
    /// Whether pixels are drawn, and not symbols in character cells.
    let isGraphics: Bool
    private let chafa: OpaquePointer
    private let mode: webimage_chafa_mode
    private let fills: Bool

    /// - Parameters:
    ///   - size: columns and rows that pictures fill; nil for the terminal, in which they stay as small as they are.
    ///   - usesSymbols: whether to draw in character cells even if there is something better.
    ///   - namesPictures: whether a line is needed for a name.
    init(
        _ screen: TerminalScreen,
        size: (columns: Int, rows: Int)?,
        usesSymbols: Bool,
        namesPictures: Bool
    ) throws {
        let environment = screen.usesSequences ? environ : nil
        // Graphics go to terminals alone: in a file nobody knows which one it is for.
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
            // A line for the cursor, or for the prompt that comes after it.
            grid.rows = max(grid.rows - (namesPictures ? 2 : 1), 1)
        }
        if !isGraphics { grid = grid.forSymbols }
        self.grid = size == nil ? grid.bounded : grid
    }

    deinit { webimage_chafa_close(chafa) }

    func layout(of bitmap: Bitmap) -> PictureLayout {
        PictureLayout(width: bitmap.width, height: bitmap.height, in: grid, isGraphics: isGraphics, fills: fills)
    }

    /// The bytes that draw a picture from the cursor on. Afterwards the cursor is after the last cell of symbols, and somewhere with
    /// graphics.
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

    private func draw(_ bytes: UnsafeRawBufferPointer, _ bytesPerRow: Int, hasAlpha: Bool, _ layout: PictureLayout)
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

    /// The picture at the top left of transparent BGRA pixels.
    private static func pad(_ bitmap: Bitmap, to layout: PictureLayout) -> [UInt8] {
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

    /// A still picture and the cursor at the beginning of the line below it.
    func still(_ bitmap: Bitmap) -> [UInt8] {
        guard isGraphics else { return draw(bitmap) + [10] }
        let rows = layout(of: bitmap).rows
        return Self.reserve(rows) + draw(bitmap) + Self.leave(rows)
    }

    /// One frame where ``reserve(_:)`` left the cursor, in place of the one before.
    func frame(_ bitmap: Bitmap) -> [UInt8] {
        let layout = layout(of: bitmap)
        // All at once, where the terminal knows how.
        var bytes = Array("\u{1B}[?2026h\u{1B}8".utf8)
        switch mode {
        case WEBIMAGE_CHAFA_KITTY:
            // Placements pile up: the one under the cursor goes, with its pixels.
            bytes += Array("\u{1B}_Ga=d,d=C\u{1B}\\".utf8)
        case WEBIMAGE_CHAFA_SIXEL where bitmap.pixelFormat.hasAlpha:
            // Transparent pixels leave what was there.
            for _ in 0..<layout.rows { bytes += Array("\u{1B}[\(layout.columns)X\u{1B}[B".utf8) }
            bytes += Array("\u{1B}8".utf8)
        default:
            break
        }
        return bytes + draw(bitmap) + Array("\u{1B}[?2026l".utf8)
    }

    /// Scrolls until so many rows are free, and remembers where they begin.
    static func reserve(_ rows: Int) -> [UInt8] {
        [UInt8](repeating: 10, count: rows) + Array("\u{1B}[\(rows)A\u{1B}7".utf8)
    }

    /// Goes below those rows.
    static func leave(_ rows: Int) -> [UInt8] { Array("\u{1B}8\u{1B}[\(rows)B\r".utf8) }
}
