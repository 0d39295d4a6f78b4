import CTestSupport
import FoundationEssentials
import Glibc
import TestSupport
import WebImage

/// A program that forks after the library has started threads.
enum Forking {
    private static let manager = WebImageManager(
        cache: ImageCache(directory: "/nonexistent"),
        loader: ImageLoadersManager()
    )

    /// How the load of a file that is not there ends.
    private static func load() -> Int {
        var context = WebImageContext()
        context.callbackQueue = .inline
        let code = Monitor<Int?>(nil)
        manager.loadImage(with: URL(filePath: "/nonexistent/a.png"), context: context) { result in
            if case .failure(let error) = result { code.withLock { $0 = error.code.rawValue } }
        }
        return code.wait { $0 } ?? 0
    }

    private static func download() -> Int {
        let code = Monitor<Int?>(nil)
        let url = URL(string: "http://127.0.0.1:9/a.png") ?? URL(filePath: "/")
        WebImageDownloader.shared.downloadData(with: url, callbackQueue: .inline) { result in
            if case .failure(let error) = result { code.withLock { $0 = error.code.rawValue } }
        }
        return code.wait { $0 } ?? 0
    }

    static func run() -> Never {
        alarm(30)
        let first = load()
        let child = ctest_fork()
        guard child == 0 else {
            var status: Int32 = 0
            while waitpid(child, &status, 0) < 0, errno == EINTR {}
            exit(status == 0 ? 0 : 1)
        }
        // What hangs ends, and without a word.
        alarm(10)
        print(first, load(), download())
        fflush(nil)
        _exit(0)
    }
}
