import Foundation

/// The domain of `MLCreateError`.
public let MLCreateErrorDomain: String = "com.apple.CreateML"

/// A seed from the clock: another one at every call.
public func timestampSeed() -> Int {
    Int(truncatingIfNeeded: DispatchTime.now().uptimeNanoseconds &+ UInt64(Date().timeIntervalSince1970 * 1e6))
}
