// Re-exported, so that importing this module also imports the cache that it extends.
@_exported public import WebImageCache
