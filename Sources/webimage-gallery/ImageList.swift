import FoundationEssentials
import Glibc
import WebImage
import WebImageGTK

/// An image of the gallery.
struct ImageItem: Hashable, Sendable {
    /// The display name, on one line.
    let title: String
    private let place: Place

    private enum Place: Hashable {
        case url(URL)
        case file(path: String)
    }

    /// The URL. That of a file is made on request: of thousands of files in a folder, few are shown.
    var url: URL {
        switch place {
        case .url(let url): url
        case .file(let path): URL(filePath: path)
        }
    }

    /// True for a file of this machine.
    var isFile: Bool {
        switch place {
        case .url(let url): url.isFileURL
        case .file: true
        }
    }

    /// Creates an item for a file of a folder.
    init(_ name: String, inFolder folder: String) {
        place = .file(path: folder + "/" + name)
        title = PlainText.line(name, most: 120)
    }

    init(_ url: URL) {
        place = .url(url)
        if url.scheme == "data" {
            title = "data"
        } else {
            let name = url.lastPathComponent
            title = PlainText.line(name.isEmpty || name == "/" ? url.absoluteString : name, most: 120)
        }
    }
}

/// Finds the images of the sources. Blocks: reads folders and files.
struct ImageList: Sendable {
    private(set) var items: [ImageItem] = []
    /// Sources without images, with the reason.
    private(set) var complaints: [String] = []

    private static let extensions: Set<String> = [
        "jpg", "jpeg", "png", "apng", "gif", "webp", "bmp", "ico", "cur", "tif", "tiff", "svg", "avif", "avifs", "heic",
        "heif", "jxl", "pdf", "mp4", "m4v", "mov", "webm", "mkv", "dng", "cr2", "cr3", "nef", "arw", "orf", "rw2",
        "raf", "pef", "srw",
    ]
    private static let listExtensions: Set<String> = ["txt", "list", "urls", "m3u"]
    private static let mostListBytes = 16 << 20

    init(_ sources: [String]) {
        for source in sources { add(source) }
    }

    private mutating func add(_ source: String, isListed: Bool = false) {
        if Self.isAddress(source) {
            if let url = URL(string: source) {
                items.append(ImageItem(url))
            } else {
                complain(source, "invalid URL")
            }
            return
        }
        var facts = stat()
        guard stat(source, &facts) == 0 else {
            let isMissing = errno == ENOENT || errno == ENOTDIR
            complain(
                source,
                isMissing ? "no such file or folder, and not a URL" : Self.reason(errno)
            )
            return
        }
        if facts.st_mode & S_IFMT == S_IFDIR {
            addFolder(source)
        } else if !isListed, Self.listExtensions.contains(Self.fileExtension(source)) {
            addList(source, size: Int(facts.st_size))
        } else {
            items.append(ImageItem(URL(filePath: source)))
        }
    }

    private mutating func complain(_ source: String, _ reason: String) {
        complaints.append("\(PlainText.line(source, most: 200)): \(reason)")
    }

    private static func isAddress(_ source: String) -> Bool {
        let scheme = source.prefix { $0 != ":" }.lowercased()
        guard scheme.count < source.count else { return false }
        return ["http", "https", "data", "file"].contains(scheme) || GIOImageLoader.reads(scheme: scheme)
    }

    private mutating func addFolder(_ path: String) {
        guard let folder = opendir(path) else {
            return complain(path, "cannot read the folder: \(Self.reason(errno))")
        }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX) + 1) { String(cString: $0) }
            }
            if !name.hasPrefix("."), Self.extensions.contains(Self.fileExtension(name)) { names.append(name) }
        }
        if names.isEmpty { complain(path, "the folder has no images") }
        items += NaturalOrder.sorted(names).map { ImageItem($0, inFolder: path) }
    }

    private static func fileExtension(_ name: String) -> String {
        let name = name.split(separator: "/", omittingEmptySubsequences: false).last ?? ""
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count > 1 ? parts[parts.count - 1].lowercased() : ""
    }

    private static func reason(_ code: Int32) -> String { String(cString: strerror(code)) }

    private mutating func addList(_ path: String, size: Int) {
        guard size <= Self.mostListBytes else {
            return complain(path, "the list is larger than \(Self.mostListBytes >> 20) MiB")
        }
        guard let data = FileManager.default.contents(atPath: path) else {
            return complain(path, "cannot read the list")
        }
        let folder = path.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
        let isInRoot = folder.isEmpty && path.hasPrefix("/")
        // Skips a UTF-8 byte order mark.
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let text = data.starts(with: mark) ? data.dropFirst(mark.count) : data
        let former = (items.count, complaints.count)
        for line in String(decoding: text, as: UTF8.self).split(whereSeparator: \.isNewline) {
            let entry = line.trimmingWhiteSpace
            guard !entry.isEmpty, !entry.hasPrefix("#") else { continue }
            let isWhole = entry.hasPrefix("/") || Self.isAddress(entry) || (folder.isEmpty && !isInRoot)
            add(isWhole ? entry : folder + "/" + entry, isListed: true)
        }
        if (items.count, complaints.count) == former { complain(path, "the list contains no images") }
    }
}

extension Substring {
    /// Returns the text without leading and trailing white space.
    fileprivate var trimmingWhiteSpace: String {
        var text = self
        while text.first?.isWhitespace == true { text.removeFirst() }
        while text.last?.isWhitespace == true { text.removeLast() }
        return String(text)
    }
}
