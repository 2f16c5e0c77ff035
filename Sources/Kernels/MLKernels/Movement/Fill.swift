import CMLKernels

/// Fills memory with one value.
package enum Fill {
    /// Writes the element at `value` (1, 2, 4 or 8 bytes) `count` times.
    package static func run(
        _ target: UnsafeMutableRawPointer,
        elementByteCount: Int,
        value: UnsafeRawPointer,
        count: Int
    ) {
        cml_fill(target, elementByteCount, value, count)
    }

    package static func run(_ target: UnsafeMutablePointer<Float>, value: Float, count: Int) {
        withUnsafePointer(to: value) { cml_fill(target, 4, $0, count) }
    }
}
