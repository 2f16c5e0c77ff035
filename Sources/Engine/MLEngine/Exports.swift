// The engine protocol and its values come with this module, for code that uses an engine.
@_exported public import MLFeatures
