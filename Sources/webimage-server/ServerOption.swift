import CommandHelp

/// The options of the program. Each can also be given by an environment variable.
enum ServerOption: String, CaseIterable {
    case listen, grammar, key, salt, signatureSize, trustedSignatures, presets, onlyPresets, sizes, insecure, baseURL
    case allowedSources, pathPrefix, allow, root, isolate, maxSourceMegapixels, maxSourceSize
    case negotiate, formats, quality, watermark, watermarkOpacity, maxAge
    case cacheDir, cacheSize, remoteCache, remoteCA, remoteCertificate, remoteSecretFile, memory, hotMemory
    case timeout, downloads, loadsPerHost, waiting, waitingPerClient, connections, threads
    case log, drain, drainDelay

    /// The long name with dashes.
    var name: String {
        let words = rawValue.reduce(into: "") { text, letter in
            let begins = letter.isUppercase && text.last?.isUppercase == false
            text += begins ? "-" + String(letter) : String(letter)
        }
        return "--" + words.lowercased()
    }

    /// The environment variable.
    var variable: String { "WEBIMAGE_" + name.dropFirst(2).uppercased().map { $0 == "-" ? "_" : String($0) }.joined() }

    /// imgproxy's variable with the same meaning.
    var imgproxyVariable: String? {
        switch self {
        case .listen: "IMGPROXY_BIND"
        case .key: "IMGPROXY_KEY"
        case .salt: "IMGPROXY_SALT"
        case .signatureSize: "IMGPROXY_SIGNATURE_SIZE"
        case .trustedSignatures: "IMGPROXY_TRUSTED_SIGNATURES"
        case .presets: "IMGPROXY_PRESETS"
        case .onlyPresets: "IMGPROXY_ONLY_PRESETS"
        case .baseURL: "IMGPROXY_BASE_URL"
        case .allowedSources: "IMGPROXY_ALLOWED_SOURCES"
        case .pathPrefix: "IMGPROXY_PATH_PREFIX"
        case .root: "IMGPROXY_LOCAL_FILESYSTEM_ROOT"
        case .maxSourceMegapixels: "IMGPROXY_MAX_SRC_RESOLUTION"
        case .maxSourceSize: "IMGPROXY_MAX_SRC_FILE_SIZE"
        case .quality: "IMGPROXY_QUALITY"
        case .watermark: "IMGPROXY_WATERMARK_PATH"
        case .watermarkOpacity: "IMGPROXY_WATERMARK_OPACITY"
        case .maxAge: "IMGPROXY_TTL"
        case .timeout: "IMGPROXY_TIMEOUT"
        case .connections: "IMGPROXY_MAX_CLIENTS"
        default: nil
        }
    }

    /// True if it is a switch without a value. Its variable is `true` or `1`, `false` or `0`.
    var isSwitch: Bool { self == .insecure || self == .onlyPresets || self == .log }

    var spec: OptionSpec { OptionSpec(name, value: description.value, description.help) }

    private var description: (value: String?, help: String) {
        switch self {
        case .listen: ("ADDRESS", "HOST:PORT, :PORT for all addresses, or unix:PATH; 127.0.0.1:8080 by default")
        case .grammar: ("imgproxy|thumbor", "the syntax of URLs; imgproxy by default")
        case .key: ("HEX", "key of signatures, or several with commas; for thumbor the text itself")
        case .salt: ("HEX", "salt of signatures, or several with commas")
        case .signatureSize: ("N", "bytes of a signature that are compared; 32 by default")
        case .trustedSignatures: ("LIST", "texts that are accepted instead of a signature")
        case .presets: ("LIST", "presets as NAME=OPTIONS, with commas between them")
        case .onlyPresets: (nil, "URLs contain only names of presets")
        case .sizes: ("LIST", "the only widths and heights that are made, with commas")
        case .insecure: (nil, "serve anybody any variant: without keys, --only-presets or --sizes")
        case .baseURL: ("URL", "text in front of sources that do not begin with it")
        case .allowedSources: ("LIST", "beginnings of allowed sources, with commas; * is anything but /")
        case .pathPrefix: ("PATH", "first components of all paths")
        case .allow: ("RULE", "a host or block that may be loaded although it is private, or several with commas")
        case .root: ("DIR", "directory below which sources such as local:///photos/a.jpg are; none by default")
        case .isolate: ("risky|all", "the formats that are decoded in separate processes; risky by default")
        case .maxSourceMegapixels: ("N", "pixels of a source in millions; 50 by default")
        case .maxSourceSize: ("BYTES", "bytes of a source; 33554432 by default")
        case .negotiate: ("vary|redirect|off", "choose the format by Accept, redirect to it, or not; vary by default")
        case .formats: ("LIST", "formats that may be chosen; avif,jxl,webp by default")
        case .quality: ("N", "quality of JPEG; 80 by default")
        case .watermark: ("FILE|URL", "image that requests with a watermark draw; none by default")
        case .watermarkOpacity: ("N", "factor of the opacity of watermarks, from 0 to 1; 1 by default")
        case .maxAge: ("SECONDS", "longest max-age of answers; 31536000 by default")
        case .cacheDir: ("DIR", "parent of the cache's directory; ~/.cache/webimage by default")
        case .cacheSize: ("BYTES", "bytes on disk; 1073741824 by default")
        case .remoteCache: ("URL", "share images with other servers: redis[s]://[USER:PASSWORD@]HOST, s3://BUCKET")
        case .remoteCA, .remoteCertificate, .remoteSecretFile:
            // The same as the command's.
            OptionSpec.remoteStore.first { $0.name == name }.map { ($0.value, $0.help) } ?? (nil, "")
        case .memory: ("BYTES", "bytes of decoded pixels; 536870912 by default")
        case .hotMemory: ("BYTES", "bytes of encoded images in memory; 67108864 by default")
        case .timeout: ("SECONDS", "time for an image; 10 by default")
        case .downloads: ("N", "downloads at a time; 64 by default")
        case .loadsPerHost: ("N", "different images of one host that are loaded at a time; 16 by default")
        case .waiting: ("N", "requests that wait for images; 8000 by default")
        case .waitingPerClient: ("N", "requests of one address that wait for images; 8000 by default")
        case .connections: ("N", "connections; 10240 by default")
        case .threads: ("N", "threads that serve connections; 1 by default, 2 from four processors on")
        case .log: (nil, "write a line of JSON for each request to standard output")
        case .drain: ("SECONDS", "time for running requests after SIGTERM; 20 by default")
        case .drainDelay: ("SECONDS", "time between SIGTERM and the end of accepting; 0 by default")
        }
    }
}
