// Who imports WebImage has what it is made of.
@_exported public import WebImageSupport
