/// Characters that an IDNA library makes ASCII of before a name is looked up (UTS 46), by which `１２７。０。０。１` is an address.
///
/// For addresses nothing depends on its being complete: what a name turns out to be is checked again when the connection is made, and
/// spellings are refused before a name service is asked. Rules are about names, so a name with a character that is made another of, and
/// not here, is none (``isComplete(_:)``).
enum HostFolding {
    /// The name with such characters as what they stand for, in lower case.
    static func folded(_ name: String) -> String {
        if name.utf8.allSatisfy({ $0 < 0x80 }) { return name.lowercased() }
        var result = ""
        for scalar in name.unicodeScalars where !isIgnored(scalar) { result.unicodeScalars.append(folded(scalar)) }
        return result.lowercased()
    }

    /// Whether nothing is left of which an IDNA library makes something else. Those that it keeps in names of today are kept.
    static func isComplete(_ folded: String) -> Bool {
        folded.unicodeScalars.allSatisfy { scalar in
            scalar.value < 0x80 || scalar == "ß" || scalar == "ς" || !scalar.properties.changesWhenNFKCCaseFolded
        }
    }

    private static func folded(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
        switch scalar.value {
        case 0..<0x80: return scalar
        // Full-width forms of all of ASCII.
        case 0xFF01...0xFF5E: return Unicode.Scalar(scalar.value - 0xFEE0) ?? scalar
        // Ideographic, half-width and one-dot-leader full stops.
        case 0x3002, 0xFF61, 0x2024: return "."
        // Circled letters.
        case 0x24B6...0x24CF: return Unicode.Scalar(scalar.value - 0x24B6 + 0x61) ?? scalar
        case 0x24D0...0x24E9: return Unicode.Scalar(scalar.value - 0x24D0 + 0x61) ?? scalar
        // Mathematical letters: thirteen alphabets of twice 26.
        case 0x1D400...0x1D6A3: return Unicode.Scalar((scalar.value - 0x1D400) % 26 + 0x61) ?? scalar
        default: return digit(scalar) ?? scalar
        }
    }

    /// Circled, raised, lowered, mathematical digits, and those of other scripts.
    private static func digit(_ scalar: Unicode.Scalar) -> Unicode.Scalar? {
        // Digits of other scripts that stay what they are make other names.
        guard scalar.properties.changesWhenNFKCCaseFolded else { return nil }
        switch scalar.properties.numericType {
        case .decimal?, .digit?: break
        default: return nil
        }
        guard let value = scalar.properties.numericValue, (0...9).contains(value) else { return nil }
        return Unicode.Scalar(UInt32(value) + 0x30)
    }

    /// Soft hyphens, joiners, marks of order and variation: they vanish.
    private static func isIgnored(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0xAD, 0x34F, 0x180B...0x180F, 0x200B...0x200D, 0x2060, 0x2064, 0xFE00...0xFE0F, 0xFEFF, 0xE0100...0xE01EF:
            true
        default: false
        }
    }
}
