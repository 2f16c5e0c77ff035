@_exported public import Foundation

// On Linux the Core Foundation objects that Apple's image functions take are the bridged Foundation classes: they
// are created by the same `as` casts (`url as CFURL`, `options as CFDictionary`).
/// A URL.
public typealias CFURL = NSURL
/// Immutable bytes.
public typealias CFData = NSData
/// Bytes that can be appended to.
public typealias CFMutableData = NSMutableData
/// A string.
public typealias CFString = NSString
/// A dictionary.
public typealias CFDictionary = NSDictionary
/// An array.
public typealias CFArray = NSArray
/// A number.
public typealias CFNumber = NSNumber
/// A truth value; on Linux a number like any other.
public typealias CFBoolean = NSNumber
/// A count or position.
public typealias CFIndex = Int
/// Any Core Foundation object.
public typealias CFTypeRef = AnyObject

/// A memory allocator as a function's argument; only the default one exists, as `nil`.
public final class CFAllocator: Sendable {
    private init() {}
}

/// The default memory allocator: `nil`.
public let kCFAllocatorDefault: CFAllocator? = nil

/// The true value.
public var kCFBooleanTrue: CFBoolean! { NSNumber(value: true) }
/// The false value.
public var kCFBooleanFalse: CFBoolean! { NSNumber(value: false) }

/// A code of four ASCII characters, the first in the most significant byte.
public typealias OSType = UInt32
/// A code of four ASCII characters, the first in the most significant byte.
public typealias FourCharCode = UInt32
