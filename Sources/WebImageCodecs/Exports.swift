// Re-exported: this module's API uses the types of WebImageModel.
@_exported public import WebImageModel
