import CLCMS
package import FoundationEssentials

/// Reads embedded ICC profiles.
package enum ColorProfile {
    /// Returns the profile's description; nil when it cannot be read or the profile is longer than `limit` bytes.
    package static func name(of data: Data, limit: Int) -> String? {
        guard data.count <= limit, let profile = open(data) else { return nil }
        defer { cmsCloseProfile(profile) }
        let size = cmsGetProfileInfoASCII(profile, cmsInfoDescription, "en", "US", nil, 0)
        guard size > 1, size <= 4096 else { return nil }
        var text = [CChar](repeating: 0, count: Int(size))
        guard cmsGetProfileInfoASCII(profile, cmsInfoDescription, "en", "US", &text, size) > 0 else { return nil }
        let name = String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        return name.isEmpty ? nil : name
    }

    static func open(_ data: Data) -> cmsHPROFILE? {
        guard data.count >= 128, data.count <= Int(Int32.max) else { return nil }
        return data.withUnsafeBytes { cmsOpenProfileFromMem($0.baseAddress, cmsUInt32Number($0.count)) }
    }
}
