import CMLKernels

/// Whole numbers that stand for reals: `x` becomes `clamp(round(x · inverse), low, high)`, halves to even, and each whole
/// number is worth `step`.
///
/// `low` and `high` are integers of 16 bits. Numbers that are none become `low`.
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
    package func whole(_ x: UnsafePointer<Float>, into y: UnsafeMutablePointer<Int16>, count: Int) {
        var grid = lowered
        cml_to_grid(cml_isa_current(), x, &grid, y, count)
    }

    /// `y = x` rounded to the grid; `y` may be `x`.
    package func rounded(_ x: UnsafePointer<Float>, into y: UnsafeMutablePointer<Float>, count: Int) {
        var grid = lowered
        cml_onto_grid(cml_isa_current(), x, &grid, y, count)
    }

    /// `y = step · x`.
    package static func reals(
        _ x: UnsafePointer<Int16>,
        step: Float,
        into y: UnsafeMutablePointer<Float>,
        count: Int
    ) {
        cml_from_grid(cml_isa_current(), x, step, y, count)
    }
}
