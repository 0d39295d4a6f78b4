// Re-exported, because this module's API uses its types.
@_exported public import WebImageModel
