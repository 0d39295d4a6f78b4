/// XMP packets: RDF in XML, whose properties are found by their usual prefixes.
enum XMPPacket {
    /// The longest packet in which properties are looked for.
    private static let limit = 1 << 20
    private static let properties = ["dc:rights", "dc:creator", "dc:contributor", "dc:publisher"]
    private static let prefixes = ["xmpRights:", "cc:"]

    /// Returns a packet that says that the pixels are upright.
    static func upright(_ packet: [UInt8]) -> [UInt8] {
        var result = packet
        for name in ["tiff:Orientation=\"", "tiff:Orientation='", "tiff:Orientation>"] {
            let name = Array(name.utf8)
            var start = 0
            while let found = URLBytes.firstIndex(of: name, in: result[start...]) {
                start = found + name.count
                guard start < result.count, (UInt8(ascii: "2")...UInt8(ascii: "8")).contains(result[start]) else {
                    continue
                }
                result[start] = UInt8(ascii: "1")
            }
        }
        return result
    }

    /// Returns a packet with only the properties about authors and rights; nil without any.
    static func copyright(of packet: [UInt8]) -> [UInt8]? {
        guard packet.count <= limit, packet.allSatisfy({ $0 != 0 }) else { return nil }
        var (attributes, elements): ([UInt8], [UInt8]) = ([], [])
        var rest = packet[...]
        while let start = rest.firstIndex(of: UInt8(ascii: "<")) {
            rest = rest[start...]
            guard let end = endOfTag(rest) else { break }
            let tag = rest[..<end]
            let name = name(of: tag.dropFirst())
            rest = rest[end...]
            if name == "rdf:Description" {
                attributes += kept(attributesOf: tag)
            } else if isKept(name) {
                guard !tag.dropLast().hasSuffix("/") else { continue }
                let closing = Array("</\(name)>".utf8)
                guard let close = URLBytes.firstIndex(of: closing, in: rest) else { break }
                elements += packet[start..<(close + closing.count)]
                rest = rest[(close + closing.count)...]
            }
        }
        guard !attributes.isEmpty || !elements.isEmpty else { return nil }
        var result = Array(head.utf8)
        result += attributes
        result.append(UInt8(ascii: ">"))
        result += elements
        return result + Array(tail.utf8)
    }

    private static let head =
        "<?xpacket begin=\"\u{FEFF}\" id=\"W5M0MpCehiHzreSzNTczkc9d\"?><x:xmpmeta xmlns:x=\"adobe:ns:meta/\">"
        + "<rdf:RDF xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\"><rdf:Description rdf:about=\"\""
        + " xmlns:dc=\"http://purl.org/dc/elements/1.1/\" xmlns:xmpRights=\"http://ns.adobe.com/xap/1.0/rights/\""
        + " xmlns:cc=\"http://creativecommons.org/ns#\""
    private static let tail = "</rdf:Description></rdf:RDF></x:xmpmeta><?xpacket end=\"w\"?>"

    private static func isKept(_ name: String) -> Bool {
        properties.contains(name) || prefixes.contains { name.hasPrefix($0) }
    }

    /// Returns the index behind the `>` that ends a tag, which is not within quotes.
    private static func endOfTag(_ text: ArraySlice<UInt8>) -> Int? {
        var quote: UInt8?
        for index in text.indices {
            let byte = text[index]
            if let open = quote {
                if byte == open { quote = nil }
            } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                quote = byte
            } else if byte == UInt8(ascii: ">") {
                return index + 1
            }
        }
        return nil
    }

    private static func name(of text: ArraySlice<UInt8>) -> String {
        String(decoding: text.prefix { !isBlank($0) && !"/>=".utf8.contains($0) }, as: UTF8.self)
    }

    /// Returns the attributes of a tag that are properties to keep, each with a space in front.
    private static func kept(attributesOf tag: ArraySlice<UInt8>) -> [UInt8] {
        var result: [UInt8] = []
        var rest = tag.drop { !isBlank($0) }
        while true {
            rest = rest.drop(while: isBlank)
            let name = name(of: rest)
            guard !name.isEmpty, let start = rest.firstIndex(where: { "\"'".utf8.contains($0) }),
                let end = rest[(start + 1)...].firstIndex(of: rest[start])
            else { return result }
            if isKept(name) { result += Array(" \(name)=".utf8) + rest[start...end] }
            rest = rest[(end + 1)...]
        }
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 32 || (9...13).contains(byte) }
}

extension ArraySlice<UInt8> {
    fileprivate func hasSuffix(_ text: String) -> Bool { suffix(text.utf8.count).elementsEqual(text.utf8) }
}
