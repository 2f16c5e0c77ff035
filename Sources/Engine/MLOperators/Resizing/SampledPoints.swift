import MLGraph
import MLKernels
import MLNumerics

/// The elements and weights of a plane's sampled points, in a step's scratch memory: up to four taps each.
struct SampledPoints {
    private let positions: UnsafeMutablePointer<Int32>
    private let weights: UnsafeMutablePointer<Float>
    private let bias: UnsafeMutablePointer<Float>
    private let count: Int
    private let taps: Int

    /// The size of `count` points in bytes.
    static func byteCount(_ count: Int) -> Int { count * 9 * 4 }

    /// Places the points in a scratch buffer.
    ///
    /// - Parameters:
    ///   - memory: A buffer of `byteCount(count)` bytes.
    ///   - count: The number of points.
    ///   - taps: The maximum number of taps of a point (1...4).
    init(_ memory: UnsafeMutableRawPointer, count: Int, taps: Int = 4) {
        positions = memory.assumingMemoryBound(to: Int32.self)
        weights = (memory + 4 * count * 4).assumingMemoryBound(to: Float.self)
        bias = (memory + 8 * count * 4).assumingMemoryBound(to: Float.self)
        self.count = count
        self.taps = taps
    }

    /// Initialises point `index` with `value` and no taps.
    func start(_ index: Int, _ value: Double) {
        for tap in 0..<taps {
            positions[tap * count + index] = 0
            weights[tap * count + index] = 0
        }
        bias[index] = Float(value)
    }

    /// Sets the element and the weight of `tap` (0..<taps) of point `index`.
    func set(_ tap: Int, of index: Int, position: Int, weight: Double) {
        positions[tap * count + index] = Int32(truncatingIfNeeded: position)
        weights[tap * count + index] = Float(weight)
    }

    /// Computes the points from `planes` planes of `plane` elements.
    func sample(_ x: UnsafePointer<Float>, into y: UnsafeMutablePointer<Float>, planes: Int, plane: Int) {
        SamplingKernel.run(
            x,
            into: y,
            planes: planes,
            plane: plane,
            taps: taps,
            positions: positions,
            weights: weights,
            bias: bias,
            count: count
        )
    }
}
