@_exported public import Foundation

// On Linux the Core Foundation objects that Apple's image functions take are the bridged Foundation classes: they
// are created by the same `as` casts (`url as CFURL`, `options as CFDictionary`).
public typealias CFURL = NSURL
public typealias CFData = NSData
public typealias CFMutableData = NSMutableData
public typealias CFString = NSString
public typealias CFDictionary = NSDictionary
public typealias CFArray = NSArray
public typealias CFNumber = NSNumber
public typealias CFBoolean = NSNumber
public typealias CFIndex = Int
public typealias CFTypeRef = AnyObject

/// Stands for an allocator in a call; there is only the default one.
public final class CFAllocator: Sendable {
    private init() {}
}

public let kCFAllocatorDefault: CFAllocator? = nil

public var kCFBooleanTrue: CFBoolean! { NSNumber(value: true) }
public var kCFBooleanFalse: CFBoolean! { NSNumber(value: false) }

/// A code of four characters.
public typealias OSType = UInt32
public typealias FourCharCode = UInt32
