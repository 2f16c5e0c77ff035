import CMLKernels

/// Whole numbers that stand for reals: `x` becomes `clamp(round(x · inverse), low, high)`, halves to even, and each whole
/// number is worth `step`.
///
/// `low` and `high` are integers of 16 bits, and in 0...255 for bytes. Numbers that are none become `low`.
package struct NumberGrid: Hashable, Sendable {
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

    var lowered: cml_grid { cml_grid(inverse: inverse, step: step, low: low, high: high) }

    /// `y = x` as whole numbers.
    package func whole(_ x: UnsafePointer<Float>, into y: WholeResults, count: Int) {
        var grid = lowered
        switch y {
        case .shorts(let y): cml_to_grid(cml_isa_current(), x, &grid, y, count)
        case .bytes(let y): cml_to_grid_bytes(cml_isa_current(), x, &grid, y, count)
        }
    }

    /// `y = x` rounded to the grid; `y` may be `x`.
    package func rounded(_ x: UnsafePointer<Float>, into y: UnsafeMutablePointer<Float>, count: Int) {
        var grid = lowered
        cml_onto_grid(cml_isa_current(), x, &grid, y, count)
    }

    /// `y = step · x`.
    package static func reals(_ x: WholeNumbers, step: Float, into y: UnsafeMutablePointer<Float>, count: Int) {
        switch x {
        case .shorts(let x): cml_from_grid(cml_isa_current(), x, step, y, count)
        case .bytes(let x): cml_from_grid_bytes(cml_isa_current(), x, step, y, count)
        }
    }
}

/// Whole numbers in memory.
///
/// Pointers must stay valid as long as they are used.
package enum WholeNumbers {
    case shorts(UnsafePointer<Int16>)
    case bytes(UnsafePointer<UInt8>)

    /// Whole numbers at `address`, bytes or 16-bit integers.
    package init(_ address: UnsafeRawPointer, areBytes: Bool) {
        self =
            areBytes
            ? .bytes(address.assumingMemoryBound(to: UInt8.self)) : .shorts(address.assumingMemoryBound(to: Int16.self))
    }

    /// The first number's address.
    var address: UnsafeRawPointer {
        switch self {
        case .shorts(let address): UnsafeRawPointer(address)
        case .bytes(let address): UnsafeRawPointer(address)
        }
    }
}

/// Memory for whole numbers.
///
/// Pointers must stay valid as long as they are used.
package enum WholeResults {
    case shorts(UnsafeMutablePointer<Int16>)
    case bytes(UnsafeMutablePointer<UInt8>)

    /// Memory at `address` for bytes or 16-bit integers.
    package init(_ address: UnsafeMutableRawPointer, areBytes: Bool) {
        self =
            areBytes
            ? .bytes(address.assumingMemoryBound(to: UInt8.self)) : .shorts(address.assumingMemoryBound(to: Int16.self))
    }
}
