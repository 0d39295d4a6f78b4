import WebImageServer

/// The code of the article about the server.
enum ServerSnippets {
    static func start(key: String, salt: String) throws -> ImageServer {
        // snippet: server-start
        var urls = ImgproxySettings()
        urls.keys = try SignatureKey.pairs(keys: [key], salts: [salt])
        var configuration = try ImageServerConfiguration(imgproxy: urls)
        configuration.address = .tcp(host: "127.0.0.1", port: 8080)
        configuration.cacheDirectory = "/var/cache/images"
        let server = try ImageServer(configuration)
        // end
        return server
    }

    static func end(_ server: ImageServer) -> Bool {
        // snippet: server-drain
        let isComplete = server.drain(within: 20)
        // end
        return isComplete
    }
}
