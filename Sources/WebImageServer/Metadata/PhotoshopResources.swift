/// Photoshop's image resources: blocks with a number each. The one with the number 1028 contains IPTC's records.
enum PhotoshopResources {
    private static let records = 1028
    /// The thumbnails of Photoshop 4 and of later versions.
    private static let thumbnails = [1033, 1036]

    /// Returns the resources that do not show the original; nil if none stay.
    static func withoutThumbnails(_ bytes: [UInt8]) -> [UInt8]? {
        let kept = resources(of: bytes).filter { !thumbnails.contains($0.number) }.flatMap(\.whole)
        return kept.isEmpty ? nil : kept
    }

    /// Returns IPTC's records of authors and copyright; nil without any.
    static func copyright(of bytes: [UInt8]) -> [UInt8]? {
        guard let resource = resources(of: bytes).first(where: { $0.number == records }) else { return nil }
        // By-line, credit and copyright notice; and the first kind of records, which names the character set.
        let all = datasets(of: resource.body)
        guard all.contains(where: { $0.kind == 2 && [80, 110, 116].contains($0.number) }) else { return nil }
        let kept = all.filter { $0.kind == 1 || $0.kind == 2 && [80, 110, 116].contains($0.number) }.flatMap(\.whole)
        var block = Array("8BIM".utf8)
        // The number, and a name without letters.
        block += [UInt8(records >> 8), UInt8(records & 0xFF), 0, 0]
        for shift in [24, 16, 8, 0] { block.append(UInt8(truncatingIfNeeded: kept.count >> shift)) }
        block += kept
        if kept.count % 2 == 1 { block.append(0) }
        return block
    }

    private struct Resource {
        let number: Int
        let whole: ArraySlice<UInt8>
        let body: ArraySlice<UInt8>
    }

    private static func resources(of bytes: [UInt8]) -> [Resource] {
        var resources: [Resource] = []
        var rest = bytes[...]
        while rest.count >= 12, rest.starts(with: "8BIM".utf8) {
            let start = rest.startIndex
            // The name begins with its length; both together have an even number of bytes.
            let name = (Int(rest[start + 6]) + 2) / 2 * 2
            let place = start + 6 + name
            guard place + 4 <= rest.endIndex else { break }
            let count = rest[place..<(place + 4)].reduce(0) { $0 << 8 | Int($1) }
            guard count <= rest.endIndex - place - 4 else { break }
            let end = place + 4 + count
            let next = min(end + count % 2, rest.endIndex)
            let number = Int(rest[start + 4]) << 8 | Int(rest[start + 5])
            resources.append(Resource(number: number, whole: rest[..<next], body: rest[(place + 4)..<end]))
            rest = rest[next...]
        }
        return resources
    }

    private struct Dataset {
        let kind: UInt8
        let number: UInt8
        let whole: ArraySlice<UInt8>
    }

    /// Returns IPTC's records in front of the first damaged or extraordinarily long one.
    private static func datasets(of bytes: ArraySlice<UInt8>) -> [Dataset] {
        var datasets: [Dataset] = []
        var rest = bytes
        while rest.count >= 5, rest.first == 0x1C {
            let start = rest.startIndex
            let count = Int(rest[start + 3]) << 8 | Int(rest[start + 4])
            guard count < 0x8000, count <= rest.count - 5 else { break }
            let end = start + 5 + count
            datasets.append(Dataset(kind: rest[start + 1], number: rest[start + 2], whole: rest[..<end]))
            rest = rest[end...]
        }
        return datasets
    }
}
