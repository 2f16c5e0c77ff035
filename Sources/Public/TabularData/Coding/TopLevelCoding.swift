public import Foundation

/// An encoder that turns a whole value into its encoded form, such as `JSONEncoder`.
///
/// On Apple's platforms this is Combine's protocol; here it belongs to this module.
public protocol TopLevelEncoder {
    /// The encoded form.
    associatedtype Output
    /// Returns the encoded form of `value`, or throws the encoder's error.
    func encode<T: Encodable>(_ value: T) throws -> Output
}

/// A decoder that reads a whole value from its encoded form, such as `JSONDecoder`.
///
/// On Apple's platforms this is Combine's protocol; here it belongs to this module.
public protocol TopLevelDecoder {
    /// The encoded form.
    associatedtype Input
    /// Returns the value of type `type` that was encoded, or throws the decoder's error.
    func decode<T: Decodable>(_ type: T.Type, from: Input) throws -> T
}

extension JSONEncoder: TopLevelEncoder {}
extension JSONDecoder: TopLevelDecoder {}
extension PropertyListEncoder: TopLevelEncoder {}
extension PropertyListDecoder: TopLevelDecoder {}
