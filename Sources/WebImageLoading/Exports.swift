// Re-exported, so that users import only WebImage.
@_exported public import WebImageCache
@_exported public import WebImageCodecs
@_exported public import WebImageHTTP
@_exported public import WebImageIsolation
@_exported public import WebImagePlayer
