// Whoever holds an engine feeds it: the engine protocol and its values come with this module.
@_exported public import MLFeatures
