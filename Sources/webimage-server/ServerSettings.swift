import CommandHelp
import FoundationEssentials
import WebImage
import WebImageFleet
import WebImageServer

/// The settings of the program: from the command line, else from `WEBIMAGE_…`, else from `IMGPROXY_…`.
struct ServerSettings {
    private let arguments: ParsedArguments
    private let environment: [String: String]
    /// Warnings for the operator, one line each.
    private(set) var warnings: [String] = []

    init(_ arguments: ParsedArguments, environment: [String: String]) throws(UsageError) {
        (self.arguments, self.environment) = (arguments, environment)
        let known = Set(ServerOption.allCases.compactMap(\.imgproxyVariable)).union(Self.formatVariables.map(\.name))
            .union([Self.watermarkURL, Self.watermarkData])
        for name in environment.keys.sorted() where name.hasPrefix("IMGPROXY_") && !known.contains(name) {
            warnings.append("\(name) is not used")
        }
        if let word = arguments.positional.first { throw UsageError("unexpected argument '\(word)'") }
    }

    private static let formatVariables: [(name: String, format: ImageFormat)] = [
        ("IMGPROXY_AUTO_AVIF", .avif), ("IMGPROXY_AUTO_JXL", .jpegXL), ("IMGPROXY_AUTO_WEBP", .webp),
    ]

    /// Variables of imgproxy for a watermark that is not a file.
    private static let watermarkURL = "IMGPROXY_WATERMARK_URL"
    private static let watermarkData = "IMGPROXY_WATERMARK_DATA"

    // MARK: Values

    private func text(_ option: ServerOption) -> String? {
        if let value = arguments.value(option.name) { return option.isSwitch ? "true" : value }
        return environment[option.variable] ?? option.imgproxyVariable.flatMap { environment[$0] }
    }

    /// The members of a list; the option can be repeated.
    private func list(_ option: ServerOption) -> [String] {
        let given = arguments.values(option.name)
        let texts = given.isEmpty ? text(option).map { [$0] } ?? [] : given
        return texts.flatMap { $0.split(separator: ",").map(String.init) }.filter { !$0.isEmpty }
    }

    private func isOn(_ option: ServerOption) throws(UsageError) -> Bool {
        try text(option).map { (value) throws(UsageError) in try Self.boolean(value, option.name) } ?? false
    }

    private static func boolean(_ text: String, _ name: String) throws(UsageError) -> Bool {
        switch text.lowercased() {
        case "true", "1", "t", "yes": return true
        case "false", "0", "f", "no", "": return false
        default: throw UsageError("\(name) is true or false, not '\(text)'")
        }
    }

    private func integer(_ option: ServerOption, _ range: ClosedRange<Int>, _ standard: Int) throws(UsageError) -> Int {
        guard let text = text(option) else { return standard }
        guard let number = Int(text), range.contains(number) else {
            throw UsageError(
                "\(option.name) is a whole number from \(range.lowerBound) to \(range.upperBound), not '\(text)'"
            )
        }
        return number
    }

    private func number(
        _ option: ServerOption,
        _ range: ClosedRange<Double>,
        _ standard: Double
    ) throws(UsageError) -> Double {
        guard let text = text(option) else { return standard }
        guard let number = Double(text), range.contains(number) else {
            throw UsageError(
                "\(option.name) is a number from \(range.lowerBound) to \(range.upperBound), not '\(text)'"
            )
        }
        return number
    }

    // MARK: Results

    /// The seconds for running requests after SIGTERM, and those before no more connections are accepted.
    func drainSeconds() throws(UsageError) -> (time: Double, delay: Double) {
        (try number(.drain, 0...3600, 20), try number(.drainDelay, 0...3600, 0))
    }

    /// - Parameter given: A listening socket that the service manager has opened.
    func configuration(given: Int32?) throws(UsageError) -> ImageServerConfiguration {
        var result = try syntax()
        if let given {
            result.address = .descriptor(given)
        } else if let text = text(.listen) {
            result.address = try Self.address(text)
        }
        result.allowsAnyVariant = try isOn(.insecure)
        try setSources(&result)
        try setAnswers(&result)
        try setLimits(&result)
        return result
    }

    /// Returns a configuration for the syntax of URLs.
    private func syntax() throws(UsageError) -> ImageServerConfiguration {
        let isInsecure = try isOn(.insecure)
        let (keys, sizes) = (list(.key), list(.sizes))
        let onlyPresets = try isOn(.onlyPresets)
        guard isInsecure || !keys.isEmpty || onlyPresets || !sizes.isEmpty else {
            throw UsageError(
                "without --key, --only-presets or --sizes anybody can request any variant; --insecure allows that"
            )
        }
        do {
            switch text(.grammar) ?? "imgproxy" {
            case "imgproxy":
                var settings = ImgproxySettings()
                settings.keys = try SignatureKey.pairs(keys: keys, salts: list(.salt))
                settings.signatureSize = try integer(.signatureSize, 1...32, 32)
                settings.trustedSignatures = list(.trustedSignatures)
                settings.presets = list(.presets)
                settings.onlyPresets = onlyPresets
                settings.baseURL = text(.baseURL) ?? ""
                settings.allowedSources = list(.allowedSources)
                settings.pathPrefix = text(.pathPrefix) ?? ""
                return try ImageServerConfiguration(imgproxy: settings)
            case "thumbor":
                guard !onlyPresets else { throw UsageError("thumbor's URLs have no presets") }
                var settings = ThumborSettings()
                settings.keys = keys.map { Array($0.utf8) }
                settings.allowsUnsafe = keys.isEmpty
                settings.allowedSources = list(.allowedSources)
                settings.pathPrefix = text(.pathPrefix) ?? ""
                return ImageServerConfiguration(thumbor: settings)
            case let name: throw UsageError("--grammar is imgproxy or thumbor, not '\(name)'")
            }
        } catch let error as UsageError {
            throw error
        } catch {
            throw UsageError("\(error)")
        }
    }

    /// Parses an address: `HOST:PORT`, `:PORT` or `unix:PATH`.
    static func address(_ text: String) throws(UsageError) -> ImageServerConfiguration.Address {
        if text.hasPrefix("unix:"), text.utf8.count > 5 { return .unix(path: String(text.dropFirst(5))) }
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else {
            throw UsageError("--listen takes HOST:PORT, :PORT or unix:PATH, not '\(text)'")
        }
        var host = String(text[..<colon])
        if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
        return .tcp(host: host.isEmpty ? "::" : host == "localhost" ? "127.0.0.1" : host, port: port)
    }

    private func setSources(_ result: inout ImageServerConfiguration) throws(UsageError) {
        for text in list(.allow) {
            guard let rule = SourceRule(text) else { throw UsageError("--allow: '\(text)' is not a host or a block") }
            result.policy.allowed.append(rule)
        }
        if let text = text(.isolate) {
            switch text {
            case "risky": break
            case "all": result.policy.isolatedFormats = SourcePolicy.untrusted.isolatedFormats
            default: throw UsageError("--isolate is risky or all, not '\(text)'")
            }
        }
        result.rootDirectory = text(.root)
        let pixels = try number(.maxSourceMegapixels, 0.001...268, 50)
        result.policy.maximumPixelCount = Int(pixels * 1e6)
        result.policy.maximumByteCount = try integer(.maxSourceSize, 1...1 << 30, 32 << 20)
        let sizes = list(.sizes)
        guard !sizes.isEmpty else { return }
        let lengths = sizes.compactMap { Int($0) }.filter { (1...65_535).contains($0) }
        guard lengths.count == sizes.count else { throw UsageError("--sizes takes widths and heights from 1 to 65535") }
        result.sizes = Set(lengths)
    }

    private func setAnswers(_ result: inout ImageServerConfiguration) throws(UsageError) {
        if let text = text(.negotiate) {
            guard let negotiation = ImageServerConfiguration.Negotiation(rawValue: text) else {
                throw UsageError("--negotiate is vary, off or redirect, not '\(text)'")
            }
            result.negotiation = negotiation
        }
        if text(.formats) != nil {
            let formats = list(.formats).map { ImageFormat(fileExtension: $0) }
            guard formats.allSatisfy(result.offeredFormats.contains) else {
                throw UsageError("--formats takes avif, jxl and webp")
            }
            result.offeredFormats = Set(formats)
        } else if Self.formatVariables.contains(where: { environment[$0.name] != nil }) {
            result.offeredFormats = []
            for (name, format) in Self.formatVariables {
                if let text = environment[name], try Self.boolean(text, name) { result.offeredFormats.insert(format) }
            }
        }
        result.quality = try integer(.quality, 1...100, result.quality)
        result.watermark = try watermark()
        result.watermarkOpacity = try number(.watermarkOpacity, 0...1, 1)
        result.maximumAge = try number(.maxAge, 0...1e9, result.maximumAge)
        if try isOn(.log) { result.logDescriptor = 1 }
    }

    private func watermark() throws(UsageError) -> ImageServerConfiguration.Watermark? {
        if let text = text(.watermark) { return text.contains("://") ? .url(text) : .file(text) }
        if let text = environment[Self.watermarkURL], !text.isEmpty { return .url(text) }
        guard let text = environment[Self.watermarkData], !text.isEmpty else { return nil }
        guard let data = Data(base64Encoded: text) else { throw UsageError("\(Self.watermarkData) is not base64") }
        return .data(Array(data))
    }

    private func remoteStore() throws(UsageError) -> RemoteImageStore? {
        guard let address = text(.remoteCache), !address.isEmpty else { return nil }
        var settings = RemoteStoreSettings(address: address)
        settings.certificates.authorityFile = text(.remoteCA)
        settings.certificates.certificateFile = text(.remoteCertificate)
        settings.secretFile = text(.remoteSecretFile)
        settings.secretText = environment[RemoteStoreSettings.secretVariable]
        do throws(WebImageError) { return try settings.store(timeout: 0.5) } catch {
            throw UsageError("--remote-cache: \(error.message)")
        }
    }

    private func setLimits(_ result: inout ImageServerConfiguration) throws(UsageError) {
        result.cacheDirectory = text(.cacheDir)
        result.cacheByteCount = try integer(.cacheSize, 0...1 << 50, result.cacheByteCount)
        result.remoteStore = try remoteStore()
        result.memoryByteCount = try integer(.memory, 16 << 20...1 << 45, result.memoryByteCount)
        result.hotByteCount = try integer(.hotMemory, 0...1 << 45, result.hotByteCount)
        result.timeout = try number(.timeout, 0.1...3600, result.timeout)
        result.maximumDownloadCount = try integer(.downloads, 1...4096, result.maximumDownloadCount)
        result.maximumLoadCountPerHost = try integer(.loadsPerHost, 1...4096, result.maximumLoadCountPerHost)
        result.maximumWaitingCount = try integer(.waiting, 1...1_000_000, result.maximumWaitingCount)
        result.maximumWaitingCountPerClient = try integer(
            .waitingPerClient,
            1...1_000_000,
            result.maximumWaitingCountPerClient
        )
        result.maximumConnectionCount = try integer(.connections, 1...1_000_000, result.maximumConnectionCount)
        result.loopCount = try integer(.threads, 1...64, result.loopCount)
    }
}
