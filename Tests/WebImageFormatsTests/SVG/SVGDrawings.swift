import FoundationEssentials

/// Documents that take librsvg minutes or more, or more stack than there is, and usual ones.
enum SVGDrawings {
    static func document(_ body: String, before: String = "", size: Int = 500) -> Data {
        Data("\(before)<svg xmlns='http://www.w3.org/2000/svg' width='\(size)' height='\(size)'>\(body)</svg>".utf8)
    }

    private static let rect = "<rect width='500' height='500' fill='red'/>"
    private static let blur = "<filter id='f'><feGaussianBlur stdDeviation='30'/></filter>"
    private static let noise = "<filter id='f'><feTurbulence baseFrequency='.1' numOctaves='9'/></filter>"
    private static let blurred = "<g filter='url(#f)'>\(rect)</g>"

    private static func times(_ count: Int, _ text: String) -> String { String(repeating: text, count: count) }

    /// Groups of ten uses of the one before.
    private static func levels(_ count: Int, of first: String, each: Int = 10) -> String {
        "<defs><g id='g0'>\(first)</g>"
            + (1...count).map { "<g id='g\($0)'>\(times(each, "<use href='#g\($0 - 1)'/>"))</g>" }.joined()
            + "</defs><use href='#g\(count)'/>"
    }

    /// Each has ten shapes that refer to the one before.
    private static func levels(of name: String, by attribute: String, more: String = "", inherits: Bool = false)
        -> String
    {
        let shape = "<path d='M0 0h500v500'"
        return "<\(name) id='p0' \(more)>\(rect)</\(name)>"
            + (1...20).map { level in
                let reference = "\(attribute)='url(#p\(level - 1))'"
                let shapes =
                    inherits ? "<g \(reference)>\(times(10, shape + "/>"))</g>" : times(10, "\(shape) \(reference)/>")
                return "<\(name) id='p\(level)' \(more)>\(shapes)</\(name)>"
            }.joined() + "<path d='M0 0h500v500' \(attribute)='url(#p20)'/>"
    }

    /// Groups each of which draws all the others, in all possible orders.
    private static func clique(_ count: Int) -> String {
        (0..<count).map { own in
            let others = (0..<count).filter { $0 != own }.map { "<use href='#k\($0)'/>" }.joined()
            return "<g id='k\(own)'>\(others)<path d='M0 0h1v1'/></g>"
        }.joined()
    }

    private static func chain(_ count: Int, _ step: Int) -> String {
        (1...count).map { "<g id='c\($0)'><use href='#c\($0 + step)'/></g>" }.joined()
    }

    private static let tile = "width='500' height='500' patternUnits='userSpaceOnUse'"
    private static let dashed = "fill='none' stroke='red' stroke-dasharray='.2'"

    /// Documents that cannot be drawn in any reasonable time.
    static let endless: [String: Data] = [
        "filters by uses": document(blur + levels(8, of: blurred)),
        "filters by style": document(blur + levels(8, of: "<g style='filter:url(#f)'>\(rect)</g>")),
        "filters by a rule": document(
            "<style>.c{filter:url(#f)}</style>" + blur + levels(8, of: "<g class='c'>\(rect)</g>")
        ),
        "filter functions": document(levels(8, of: "<g filter='blur(30px)'>\(rect)</g>")),
        "uses": document(levels(40, of: "<rect width='20' height='20'/>"), size: 20),
        "uses, two each": document(levels(200, of: "<rect width='9' height='9'/>", each: 2)),
        "masks": document(levels(of: "mask", by: "mask")),
        "patterns": document(levels(of: "pattern", by: "fill", more: tile)),
        "patterns of strokes": document(levels(of: "pattern", by: "stroke", more: tile)),
        "patterns that are inherited": document(levels(of: "pattern", by: "fill", more: tile, inherits: true)),
        "circles": document(clique(60)),
        "steps of a filter": document(
            "<filter id='f'>\(times(50_000, "<feGaussianBlur stdDeviation='9'/>"))</filter>\(blurred)"
        ),
        "morphology": document("<filter id='f'>\(times(5000, "<feMorphology radius='300'/>"))</filter>\(blurred)"),
        "noise": document(noise + times(4000, blurred), size: 1000),
        "dashes of a path": document("<path d='M0 -9L800000000 -9' \(dashed)/>"),
        "dashes of a circle": document("<circle r='80000000' \(dashed)/>"),
        "dashes by a rule": document("<style>path{stroke-dasharray:.2px}</style><path stroke='red' d='M0 0h8e8'/>"),
        "rules for children": document("<style>:nth-last-child(7n+3){}</style>" + times(200_000, "<g/>")),
        "rules for siblings": document("<style>x~g{fill:red}</style>" + times(200_000, "<g/>")),
        "rules": document("<style>\(times(100_000, "a,b,c,d{fill:red}"))</style>" + times(200_000, "<g/>")),
        "uses of uses": document("<defs><g id='c0'/>\(chain(20_000, -1))</defs><use href='#c20000'/>"),
        "uses of uses, backwards": document(chain(20_000, 1)),
        "a billion laughs": document(
            "<text>&a40;</text>",
            before:
                "<!DOCTYPE svg [<!ENTITY a0 'ha'>\((1...40).map { "<!ENTITY a\($0) '&a\($0 - 1);&a\($0 - 1);'>" }.joined())]>"
        ),
        "elements": document(times(3_000_000, "<g/>")),
    ]

    /// Big documents as drawing programs make them, which are drawn within the default memory and time.
    static let usual: [String: Data] = [
        "rules and paths": document(
            "<style>\((0..<300).map { ".c\($0), g > .d\($0):first-child { fill: red }" }.joined(separator: "\n"))</style><g>"
                + (0..<2000).map { "<path class='c\($0 % 300)' d='M0 0h9v\($0 % 500)z'/>" }.joined() + "</g>"
        ),
        "shadows": document(
            "<filter id='f'><feGaussianBlur stdDeviation='2'/><feOffset dx='1'/><feMerge><feMergeNode/></feMerge></filter>"
                + "<g id='card'><rect width='90' height='90'/></g>"
                + (0..<40).map { "<use href='#card' x='\($0 * 10)' filter='url(#f)'/>" }.joined()
        ),
        "shapes": document((0..<20_000).map { "<path d='M\($0 % 400) \($0 % 300)h9v\($0 % 100)z'/>" }.joined()),
        "a pattern": document(
            "<pattern id='p' width='4' height='4' patternUnits='userSpaceOnUse'><circle r='2'/></pattern>"
                + "<g fill='url(#p)'>\(times(2000, "<rect width='90' height='90'/>"))</g>"
        ),
        "dashed lines": document(
            "<g stroke='red' stroke-dasharray='4 2'>"
                + (0..<2000).map { "<line x1='\($0 % 50)0' y1='0' x2='\($0 % 50)0' y2='500'/>" }.joined() + "</g>"
        ),
        "great letters": document("<g font-size='1e4'>\(times(50, "<text y='200'>a</text>"))</g>"),
    ]

    /// Documents that some versions of librsvg draw.
    static let heavy: [String: Data] = [
        "clip paths": document(levels(of: "clipPath", by: "clip-path")),
        "markers": document(levels(of: "marker", by: "marker-start")),
        "a marker at every point": document(
            "<marker id='m'>\(times(50, rect))</marker><polyline marker-mid='url(#m)' points='"
                + (0..<20_000).map { "\($0 % 500),\($0 * 7 % 500)" }.joined(separator: " ") + "'/>"
        ),
        "dashes of a font": document("<g font-size='.0001'><line x2='99999' stroke='red' stroke-dasharray='1em'/></g>"),
        "dashes of a view box": document(
            "<svg viewBox='0 0 .01 .01'><line x2='9999' stroke='red' stroke-dasharray='1%'/></svg>"
        ),
        "rules that refer": document(
            "<style>*{\((0..<2000).map { "filter:url(#a\($0));" }.joined())}</style>" + times(2000, "<g/>")
        ),
        "fonts": document("<text y='20' font-size='1e9'>a</text><text y='20' font-size='1e38'>b</text>"),
        "a great filter": document(
            "<filter id='f' x='-1e6' y='-1e6' width='2e6' height='2e6'><feGaussianBlur stdDeviation='1e5'/></filter>\(blurred)"
        ),
        "a great pattern": document(
            "<pattern id='p' width='1e6' height='1e6' patternUnits='userSpaceOnUse'>\(rect)</pattern>"
                + "<rect width='500' height='500' transform='scale(1000)' fill='url(#p)'/>"
        ),
        "a great mask": document(
            "<mask id='m' x='-1e6' y='-1e6' width='2e6' height='2e6'>\(rect)</mask><g mask='url(#m)'>\(rect)</g>"
        ),
    ]
}
