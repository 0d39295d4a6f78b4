// Re-exported, so that users import only WebImage.
@_exported public import WebImageLoading
