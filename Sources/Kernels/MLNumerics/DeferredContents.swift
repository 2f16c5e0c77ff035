/// A source that computes the bytes of a storage from others when they are needed: a compressed constant.
package protocol DeferredContents: AnyObject, Sendable {
    /// The storages that the bytes are computed from.
    var sources: [TensorStorage] { get }
    /// Computes all bytes and lends them for the duration of the call.
    func withComputedBytes<R>(_ body: (UnsafeRawPointer) -> R) -> R
    /// Tells the system that the sources will not be read soon.
    func releasePages()
}
