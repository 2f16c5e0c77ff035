import MLNumerics

/// A number or truth value that a tensor can hold: `Float`, `Float16`, `Int8`, `Int16`, `Int32`, `UInt8`, `UInt16`,
/// `UInt32` or `Bool`.
///
/// Other types cannot be used, even if they conform.
public protocol MLTensorScalar: Sendable {}

extension Float: MLTensorScalar {}
extension Float16: MLTensorScalar {}
extension Int8: MLTensorScalar {}
extension Int16: MLTensorScalar {}
extension Int32: MLTensorScalar {}
extension UInt8: MLTensorScalar {}
extension UInt16: MLTensorScalar {}
extension UInt32: MLTensorScalar {}
extension Bool: MLTensorScalar {}

/// What tensors know of their scalars beyond the public protocol.
protocol TensorElement: MLTensorScalar, BitwiseCopyable {
    static var scalarType: ScalarType { get }
    /// The value, which `Double` represents exactly.
    var double: Double { get }
}

extension TensorElement where Self: BinaryFloatingPoint { var double: Double { Double(self) } }
extension TensorElement where Self: BinaryInteger { var double: Double { Double(self) } }

extension Float: TensorElement { static var scalarType: ScalarType { .float32 } }
extension Float16: TensorElement { static var scalarType: ScalarType { .float16 } }
extension Int8: TensorElement { static var scalarType: ScalarType { .int8 } }
extension Int16: TensorElement { static var scalarType: ScalarType { .int16 } }
extension Int32: TensorElement { static var scalarType: ScalarType { .int32 } }
extension UInt8: TensorElement { static var scalarType: ScalarType { .uint8 } }
extension UInt16: TensorElement { static var scalarType: ScalarType { .uint16 } }
extension UInt32: TensorElement { static var scalarType: ScalarType { .uint32 } }

extension Bool: TensorElement {
    static var scalarType: ScalarType { .bool }
    var double: Double { self ? 1 : 0 }
}

/// The type as tensors know it; a type that the protocol's documentation does not name traps.
func tensorElement(_ type: any MLTensorScalar.Type) -> any TensorElement.Type {
    guard let element = type as? any TensorElement.Type else {
        fatalError(
            "\(type) is not a scalar type of tensors; use Float, Float16, Int8, Int16, Int32, UInt8, UInt16, UInt32 or Bool"
        )
    }
    return element
}

extension ScalarType {
    /// The Swift type of a tensor's scalars; tensors have no others.
    var tensorScalar: any MLTensorScalar.Type {
        switch self {
        case .float16: Float16.self
        case .int8: Int8.self
        case .int16: Int16.self
        case .int32: Int32.self
        case .uint8: UInt8.self
        case .uint16: UInt16.self
        case .uint32: UInt32.self
        case .bool: Bool.self
        default: Float.self
        }
    }

    /// The type in which a tensor holds an engine's elements: this one, or the next one that tensors have.
    var heldByTensors: ScalarType {
        switch self {
        case .float16, .float32, .int8, .int16, .int32, .uint8, .uint16, .uint32, .bool: self
        case .int4: .int8
        case .uint1, .uint2, .uint3, .uint4, .uint6: .uint8
        case .int64: .int32
        case .uint64: .uint32
        case .float64, .string: .float32
        }
    }
}
