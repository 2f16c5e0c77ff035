import Foundation

/// The domain of `MLCreateError`.
public let MLCreateErrorDomain: String = "com.apple.CreateML"

/// A seed derived from the clock, different at every call.
public func timestampSeed() -> Int {
    Int(truncatingIfNeeded: DispatchTime.now().uptimeNanoseconds &+ UInt64(Date().timeIntervalSince1970 * 1e6))
}
