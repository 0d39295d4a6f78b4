// Re-exported: who imports this module has the types that it speaks of.
@_exported public import WebImageModel
