// Re-exported, so that tests import only WebImageTestSupport.
@_exported public import WebImage
@_exported public import WebImageFakes
