// Re-exported, so that importing this module also imports the model types in its API.
@_exported public import WebImageModel
