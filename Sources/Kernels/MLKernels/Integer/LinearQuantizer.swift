import CMLKernels

/// Linear quantisation without a zero point: `x` becomes the integer `clamp(round(x · inverse), low, high)`, halves to
/// even, which stands for that multiple of `step`.
///
/// `low` and `high` are integers of 16 bits, and in 0...255 for bytes. NaN becomes `low`.
package struct LinearQuantizer: Hashable, Sendable {
    package var inverse: Float
    package var step: Float
    package var low: Float
    package var high: Float

    package init(inverse: Float, step: Float, low: Float, high: Float) {
        self.inverse = inverse
        self.step = step
        self.low = low
        self.high = high
    }

    var lowered: cml_quantizer { cml_quantizer(inverse: inverse, step: step, low: low, high: high) }

    /// `y = clamp(round(x · inverse), low, high)`.
    package func quantize(_ x: UnsafePointer<Float>, into y: MutableQuantizedIntegers, count: Int) {
        var grid = lowered
        switch y {
        case .shorts(let y): cml_quantize(cml_isa_current(), x, &grid, y, count)
        case .bytes(let y): cml_quantize_bytes(cml_isa_current(), x, &grid, y, count)
        }
    }

    /// `y = step · clamp(round(x · inverse), low, high)`, `x` quantised and dequantised; `y` may be `x`.
    package func fakeQuantize(_ x: UnsafePointer<Float>, into y: UnsafeMutablePointer<Float>, count: Int) {
        var grid = lowered
        cml_fake_quantize(cml_isa_current(), x, &grid, y, count)
    }

    /// `y = step · x`.
    package static func dequantize(_ x: QuantizedIntegers, step: Float, into y: UnsafeMutablePointer<Float>, count: Int)
    {
        switch x {
        case .shorts(let x): cml_dequantize(cml_isa_current(), x, step, y, count)
        case .bytes(let x): cml_dequantize_bytes(cml_isa_current(), x, step, y, count)
        }
    }
}

/// Linear quantisation of rows, each with a step of its own: the greatest magnitude in it / 127.
///
/// The step of a row that is not finite is not finite either.
package enum RowQuantizer {
    /// `y = round(x / steps[row])`, integers of −127…127.
    ///
    /// - Parameters:
    ///   - x: Numbers [rows, terms].
    ///   - rows: The number of rows.
    ///   - terms: The number of elements of a row.
    ///   - y: The integers [rows, terms].
    ///   - steps: The steps [rows].
    package static func quantize(
        _ x: UnsafePointer<Float>,
        rows: Int,
        terms: Int,
        into y: UnsafeMutablePointer<Int16>,
        steps: UnsafeMutablePointer<Float>
    ) {
        cml_quantize_rows(cml_isa_current(), x, rows, terms, y, steps)
    }

    /// `y = steps[row] · round(x / steps[row])`; `y` may be `x`.
    ///
    /// - Parameters:
    ///   - x: Numbers [rows, terms].
    ///   - rows: The number of rows.
    ///   - terms: The number of elements of a row.
    ///   - y: The rounded numbers [rows, terms].
    package static func round(
        _ x: UnsafePointer<Float>,
        rows: Int,
        terms: Int,
        into y: UnsafeMutablePointer<Float>
    ) {
        cml_round_rows(cml_isa_current(), x, rows, terms, y)
    }
}

/// Quantised integers in memory.
///
/// Pointers must stay valid as long as they are used.
package enum QuantizedIntegers {
    case shorts(UnsafePointer<Int16>)
    case bytes(UnsafePointer<UInt8>)

    /// Integers at `address`, bytes or 16-bit integers.
    package init(_ address: UnsafeRawPointer, areBytes: Bool) {
        self =
            areBytes
            ? .bytes(address.assumingMemoryBound(to: UInt8.self)) : .shorts(address.assumingMemoryBound(to: Int16.self))
    }

    /// The address of the first integer.
    var address: UnsafeRawPointer {
        switch self {
        case .shorts(let address): UnsafeRawPointer(address)
        case .bytes(let address): UnsafeRawPointer(address)
        }
    }
}

/// Memory for quantised integers.
///
/// Pointers must stay valid as long as they are used.
package enum MutableQuantizedIntegers {
    case shorts(UnsafeMutablePointer<Int16>)
    case bytes(UnsafeMutablePointer<UInt8>)

    /// Memory at `address` for bytes or 16-bit integers.
    package init(_ address: UnsafeMutableRawPointer, areBytes: Bool) {
        self =
            areBytes
            ? .bytes(address.assumingMemoryBound(to: UInt8.self)) : .shorts(address.assumingMemoryBound(to: Int16.self))
    }
}
