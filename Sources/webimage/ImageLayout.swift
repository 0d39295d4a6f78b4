/// The space in a terminal: its cells, and the pixels of one.
struct CellGrid: Sendable, Equatable {
    var columns: Int
    var rows: Int
    var cellWidth: Int
    var cellHeight: Int

    /// The maximum number of pixels drawn: more than any screen has.
    static let mostPixels = 1 << 25

    /// Creates a grid for a terminal of that size; the pixels are 0 if the terminal does not report them.
    init(columns: Int, rows: Int, width: Int, height: Int) {
        self.columns = max(columns, 1)
        self.rows = max(rows, 1)
        let cell = (width / self.columns, height / self.rows)
        // The reported size may be wrong.
        let isSensible = (2...128).contains(cell.0) && (2...256).contains(cell.1)
        (cellWidth, cellHeight) = isSensible ? cell : (10, 20)
    }

    var width: Int { columns * cellWidth }
    var height: Int { rows * cellHeight }
    var isTooBig: Bool { width * height > Self.mostPixels }

    /// The same space for character cells. The finest symbols are eight by eight; in cells twice as high as wide, that is eight
    /// by sixteen.
    var forSymbols: CellGrid {
        var grid = self
        grid.cellWidth = 8
        grid.cellHeight = min(max((8 * cellHeight + cellWidth / 2) / cellWidth, 4), 32)
        return grid
    }

    /// The same grid with fewer rows and columns if it exceeds any screen.
    var bounded: CellGrid {
        var grid = self
        while grid.isTooBig {
            grid.columns = max(grid.columns * 3 / 4, 1)
            grid.rows = max(grid.rows * 3 / 4, 1)
        }
        return grid
    }
}

/// The cells that an image covers.
struct ImageLayout: Equatable {
    var columns: Int
    var rows: Int
    /// The pixels that are stretched to those cells: the image's, and in pixel graphics transparent ones at the right and bottom
    /// up to whole cells.
    var width: Int
    var height: Int

    /// - Parameters:
    ///   - width: The image's width in pixels, at least 1, as is `height`.
    ///   - isGraphics: True if its pixels are those of the screen; otherwise it is drawn with symbols, at most one pixel per
    ///     column.
    ///   - fills: True to enlarge it to the available space.
    init(width: Int, height: Int, in grid: CellGrid, isGraphics: Bool, fills: Bool) {
        let (imageWidth, imageHeight) = (Double(width), Double(height))
        let (cellWidth, cellHeight) = (Double(grid.cellWidth), Double(grid.cellHeight))
        let fit = min(Double(grid.width) / imageWidth, Double(grid.height) / imageHeight)
        let scale = fills ? fit : min(isGraphics ? 1 : cellWidth, fit)
        let across = imageWidth * scale / cellWidth
        let down = imageHeight * scale / cellHeight
        // A rounding error must not add a cell to an image that fits exactly.
        let rule: FloatingPointRoundingRule = isGraphics ? .up : .toNearestOrAwayFromZero
        let slack = isGraphics ? 1e-6 : 0
        columns = min(max(Int((across - slack).rounded(rule)), 1), grid.columns)
        rows = min(max(Int((down - slack).rounded(rule)), 1), grid.rows)
        self.width = width
        self.height = height
        guard isGraphics else { return }
        self.width = max(Int((Double(columns) * cellWidth / scale).rounded()), width)
        self.height = max(Int((Double(rows) * cellHeight / scale).rounded()), height)
    }
}
