// The clock and the cache that tests share with the library's users.
@_exported public import WebImageFakes
