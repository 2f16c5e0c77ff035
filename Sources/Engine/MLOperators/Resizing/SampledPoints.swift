import MLGraph
import MLKernels
import MLNumerics

/// The elements and weights of a plane's sampled points, in a step's scratch memory: up to four taps each.
struct SampledPoints {
    private let positions: UnsafeMutablePointer<Int32>
    private let shares: UnsafeMutablePointer<Float>
    private let added: UnsafeMutablePointer<Float>
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
        shares = (memory + 4 * count * 4).assumingMemoryBound(to: Float.self)
        added = (memory + 8 * count * 4).assumingMemoryBound(to: Float.self)
        self.count = count
        self.taps = taps
    }

    /// Initialises point `index` with `value` and no taps.
    func start(_ index: Int, _ value: Double) {
        for tap in 0..<taps {
            positions[tap * count + index] = 0
            shares[tap * count + index] = 0
        }
        added[index] = Float(value)
    }

    /// Sets the element and the weight of `tap` (0..<taps) of point `index`.
    func set(_ tap: Int, of index: Int, position: Int, share: Double) {
        positions[tap * count + index] = Int32(truncatingIfNeeded: position)
        shares[tap * count + index] = Float(share)
    }

    /// Computes the points from `planes` planes of `plane` elements.
    func blend(_ x: UnsafePointer<Float>, into y: UnsafeMutablePointer<Float>, planes: Int, plane: Int) {
        BlendKernel.run(
            x,
            into: y,
            planes: planes,
            plane: plane,
            taps: taps,
            positions: positions,
            shares: shares,
            added: added,
            count: count
        )
    }
}
