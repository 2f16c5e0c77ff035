import CMLKernels

/// Converts numbers between types.
package enum Conversion {
    package enum Number: Sendable, CaseIterable {
        case float32, float16, int32, int16, uint16, int8, uint8
        /// One byte, 0 or 1.
        case bool

        var lowered: cml_type {
            switch self {
            case .float32: CML_TYPE_F32
            case .float16: CML_TYPE_F16
            case .int32: CML_TYPE_I32
            case .int16: CML_TYPE_I16
            case .uint16: CML_TYPE_U16
            case .int8: CML_TYPE_I8
            case .uint8: CML_TYPE_U8
            case .bool: CML_TYPE_BOOL
            }
        }
    }

    /// Converts `count` contiguous numbers.
    ///
    /// Floating point to integers truncates towards zero and saturates, NaN becomes 0; integers out of the target's
    /// range saturate; `bool` is whether the number differs from 0.
    package static func run(
        _ source: UnsafeRawPointer,
        _ sourceType: Number,
        to target: UnsafeMutableRawPointer,
        _ targetType: Number,
        count: Int
    ) {
        cml_convert(cml_isa_current(), sourceType.lowered, source, targetType.lowered, target, count)
    }
}
