import FoundationEssentials
import TestSupport

/// Builds HEIC files from boxes, with the image of a fixture: 320 by 240, with its parameter sets.
struct HEIFFileBuilder {
    /// Its kind and the places of its pieces.
    var items: [(number: Int, type: String)] = []
    var references: [(type: String, from: Int, to: [Int])] = []
    /// The item's properties, from 1 on.
    var associations: [(item: Int, properties: [Int])] = []
    var data: [(item: Int, bytes: [UInt8])] = []
    var properties: [[UInt8]]
    /// Version and sizes of the item location table, and the fields before each place.
    var places = (version: 0, sizes: [UInt8(0x44), 0], filler: 0)
    /// The data of the image.
    let picture: [UInt8]

    init() throws {
        let file = Array(try Fixtures.data("CodedSizes/inside-320x240.heic"))
        func content(_ type: String) -> [UInt8] {
            let name = Array(type.utf8)
            let place = file.indices.first { file[$0...].starts(with: name) } ?? file.endIndex
            let length = file[(place - 4)..<place].reduce(0) { $0 << 8 | Int($1) }
            return Array(file[(place + 4)..<(place - 4 + length)])
        }
        picture = content("mdat")
        properties = [
            Self.box("hvcC", content("hvcC")), Self.size(320, 240), Self.size(4, 4), Self.size(1000, 1000),
            Self.full("pixi", [3, 8, 8, 8]), Self.full("auxC", Array("urn:mpeg:hevc:2015:auxid:1\0".utf8)),
        ]
    }

    static func number(_ value: Int, _ count: Int) -> [UInt8] {
        (0..<count).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }

    static func box(_ type: String, _ body: [UInt8]) -> [UInt8] { number(body.count + 8, 4) + Array(type.utf8) + body }

    static func full(_ type: String, _ body: [UInt8], version: Int = 0) -> [UInt8] {
        box(type, number(version << 24, 4) + body)
    }

    static func size(_ width: Int, _ height: Int) -> [UInt8] { full("ispe", number(width, 4) + number(height, 4)) }

    static func grid(_ rows: Int, _ columns: Int, _ width: Int, _ height: Int) -> [UInt8] {
        [0, 0, UInt8(rows - 1), UInt8(columns - 1)] + number(width, 2) + number(height, 2)
    }

    static func overlay(_ width: Int, _ height: Int, of count: Int) -> [UInt8] {
        [0, 0] + number(0, 8) + number(width, 2) + number(height, 2) + [UInt8](repeating: 0, count: 4 * count)
    }

    /// The file, whose first item is the primary one.
    func file() -> Data {
        let head = Self.box("ftyp", Array("heic".utf8) + Self.number(0, 4) + Array("mif1heic".utf8))
        let start = head.count + meta(0).count + 8
        return Data(head + meta(start) + Self.box("mdat", data.flatMap(\.bytes)))
    }

    private func meta(_ start: Int) -> [UInt8] {
        let entries = items.flatMap {
            Self.full("infe", Self.number($0.number, 2) + [0, 0] + Array($0.type.utf8) + [0], version: 2)
        }
        let links = references.flatMap { reference in
            Self.box(
                reference.type,
                Self.number(reference.from, 2) + Self.number(reference.to.count, 2)
                    + reference.to.flatMap { Self.number($0, 2) }
            )
        }
        let lists = associations.flatMap {
            Self.number($0.item, 2) + [UInt8($0.properties.count)] + $0.properties.map(UInt8.init)
        }
        let known =
            Self.box("ipco", properties.flatMap(\.self))
            + Self.full("ipma", Self.number(associations.count, 4) + lists)
        let body =
            Self.full("hdlr", [0, 0, 0, 0] + Array("pict".utf8) + [UInt8](repeating: 0, count: 13))
            + Self.full("pitm", Self.number(items[0].number, 2))
            + Self.full("iinf", Self.number(items.count, 2) + entries) + Self.full("iref", links)
            + Self.box("iprp", known) + Self.full("iloc", table(start), version: places.version)
        return Self.full("meta", body)
    }

    private func table(_ start: Int) -> [UInt8] {
        var offset = start
        var table = places.sizes + Self.number(data.count, 2)
        for (item, bytes) in data {
            table += Self.number(item, 2) + Self.number(0, places.version == 0 ? 2 : 4) + Self.number(1, 2)
            table += [UInt8](repeating: 0, count: places.filler) + Self.number(offset, 4) + Self.number(bytes.count, 4)
            offset += bytes.count
        }
        return table
    }
}
