import FoundationEssentials
import Glibc
import WebImage

/// A picture of the gallery.
struct PictureItem: Hashable, Sendable {
    let url: URL
    let title: String

    init(_ url: URL) {
        self.url = url
        if url.scheme == "data" {
            title = "data"
        } else {
            let name = url.lastPathComponent
            title = name.isEmpty ? url.absoluteString : name
        }
    }
}

/// Finds the pictures of sources.
struct PictureList {
    private(set) var items: [PictureItem] = []
    /// Sources without pictures, and why.
    private(set) var complaints: [String] = []

    private static let extensions: Set<String> = [
        "jpg", "jpeg", "png", "apng", "gif", "webp", "bmp", "ico", "cur", "tif", "tiff", "svg", "avif", "avifs", "heic",
        "heif", "jxl",
    ]
    private static let mostListBytes = 16 << 20

    init(_ sources: [String]) {
        for source in sources { add(source) }
    }

    private mutating func add(_ source: String, isListed: Bool = false) {
        if let url = URL(string: source), let scheme = url.scheme?.lowercased(),
            ["http", "https", "data", "file"].contains(scheme)
        {
            items.append(PictureItem(url))
            return
        }
        var facts = stat()
        guard stat(source, &facts) == 0 else {
            complaints.append("\(source): there is no such file or folder, and it is no address")
            return
        }
        if facts.st_mode & S_IFMT == S_IFDIR {
            addFolder(source)
        } else if !isListed, isList(source) {
            addList(source)
        } else {
            items.append(PictureItem(URL(filePath: source)))
        }
    }

    private mutating func addFolder(_ path: String) {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        let pictures = names.filter { !$0.hasPrefix(".") && Self.extensions.contains(Self.fileExtension($0)) }.sorted()
        if pictures.isEmpty { complaints.append("\(path): the folder has no pictures") }
        items += pictures.map { PictureItem(URL(filePath: path + "/" + $0)) }
    }

    private static func fileExtension(_ name: String) -> String {
        name.split(separator: ".", omittingEmptySubsequences: false).last.map { $0.lowercased() } ?? ""
    }

    /// Whether a file is one of lines: what has a picture's extension is not.
    private func isList(_ path: String) -> Bool {
        !Self.extensions.contains(Self.fileExtension(path))
            && ["txt", "list", "urls", "m3u"].contains(Self.fileExtension(path))
    }

    private mutating func addList(_ path: String) {
        let size = (try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int) ?? 0
        guard size <= Self.mostListBytes, let data = FileManager.default.contents(atPath: path) else {
            complaints.append("\(path): the list cannot be read, or is bigger than \(Self.mostListBytes >> 20) MiB")
            return
        }
        let folder = path.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
        for line in String(decoding: data, as: UTF8.self).split(whereSeparator: \.isNewline) {
            let entry = line.trimmingCharacters
            guard !entry.isEmpty, !entry.hasPrefix("#") else { continue }
            let isRelative = !entry.hasPrefix("/") && URL(string: entry)?.scheme == nil
            add(isRelative && !folder.isEmpty ? folder + "/" + entry : entry, isListed: true)
        }
    }
}

extension Substring {
    /// Without white space at its ends.
    fileprivate var trimmingCharacters: String {
        var text = self
        while text.first?.isWhitespace == true { text.removeFirst() }
        while text.last?.isWhitespace == true { text.removeLast() }
        return String(text)
    }
}
