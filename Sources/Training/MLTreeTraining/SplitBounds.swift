/// Upper bounds on the gain of a binned column's boundaries, from the column's histogram alone.
///
/// Gains are those of `SplitRule.gain` for both sides together. A boundary within bin b puts part of the bin's examples
/// on the left: their sum of g is at most (Σ|g| + Σg) / 2 and at least (Σg - Σ|g|) / 2, which bounds g on either side;
/// and since (a + b)² / (p + q) ≤ a² / p + b² / q, both sides together gain at most what they would without the bin,
/// plus the bin's Σ g² / h. The smaller bound applies. Everything is in single precision, whose errors `slack` covers.
struct SplitBounds {
    /// The relative error that rounding may cause in a gain.
    static let slack: Float = 4e-6

    /// The number of bins that are processed side by side.
    private static let lanes = 4
    /// Numbers kept for each bin: left and right g, their reciprocal curvatures and curvatures, the part's least and
    /// greatest g, Σ g² / h, and infinity for a bin with several values (0 for a single one).
    private static let kinds = 10

    /// Computes the bounds of every bin.
    ///
    /// - Parameters:
    ///   - cells: The cells of the column's bins.
    ///   - singles: For each bin its only value, or NaN.
    ///   - total: The sums of the node.
    ///   - left: The sums to the left of all bins.
    ///   - rule: The regularization and the constraints of a split.
    ///   - upper: Raised to the upper bound for a boundary within bin b or at its edges; its size is a multiple of
    ///     four.
    /// - Returns: The gain at the best boundary between two bins, -∞ when the rule allows none, and the greatest value
    ///   in `upper`.
    static func fill(
        _ cells: UnsafePointer<SIMD4<Double>>,
        _ singles: Span<Float>,
        total: GradientSum,
        left: GradientSum,
        _ rule: SplitRule,
        _ upper: UnsafeMutablePointer<Float>
    ) -> (best: Float, maximum: Float) {
        let bins = singles.count
        let padded = (bins + lanes - 1) / lanes * lanes
        // One more than there are bins, for the sums on both sides of each edge.
        let stride = padded + lanes
        return withUnsafeTemporaryAllocation(of: Float.self, capacity: kinds * stride) { memory in
            guard let base = memory.baseAddress else { return (-.infinity, .infinity) }
            let (g, h, rightG, rightH) = (base, base + stride, base + 2 * stride, base + 3 * stride)
            let (minimum, most, squares, mixed) = (
                base + 4 * stride, base + 5 * stride, base + 6 * stride, base + 7 * stride
            )
            let (over, rightOver) = (base + 8 * stride, base + 9 * stride)
            var left = left
            for bin in 0..<stride {
                let right = total - left
                (g[bin], h[bin]) = (Float(left.x), Float(left.y))
                (rightG[bin], rightH[bin]) = (Float(right.x), Float(right.y))
                guard bin < bins else {
                    (minimum[bin], most[bin], squares[bin], mixed[bin]) = (0, 0, 0, 0)
                    continue
                }
                let cell = cells[bin]
                minimum[bin] = Float((cell.x - cell.z) * 0.5)
                most[bin] = Float((cell.x + cell.z) * 0.5)
                squares[bin] = Float(cell.w)
                mixed[bin] = singles[unchecked: bin].isNaN ? .infinity : 0
                left += cell.lowHalf
            }
            func load(_ pointer: UnsafeMutablePointer<Float>, _ index: Int) -> SIMD4<Float> {
                UnsafeRawPointer(pointer + index).loadUnaligned(as: SIMD4<Float>.self)
            }
            func store(_ value: SIMD4<Float>, _ pointer: UnsafeMutablePointer<Float>, _ index: Int) {
                UnsafeMutableRawPointer(pointer + index).storeBytes(of: value, as: SIMD4<Float>.self)
            }
            func greater(_ a: SIMD4<Float>, _ b: SIMD4<Float>) -> SIMD4<Float> { a.replacing(with: b, where: b .> a) }
            let (lambda, tiny) = (SIMD4<Float>(repeating: Float(rule.lambda)), SIMD4<Float>(repeating: 1e-30))
            for index in Swift.stride(from: 0, to: stride, by: lanes) {
                store(1 / greater(load(h, index) + lambda, tiny), over, index)
                store(1 / greater(load(rightH, index) + lambda, tiny), rightOver, index)
            }
            let weight = SIMD4<Float>(repeating: Float(rule.minChildWeight))
            let none = SIMD4<Float>(repeating: -.infinity)
            var (best, maximum) = (none, none)
            for index in Swift.stride(from: 0, to: padded, by: lanes) {
                let (l, r, nextL, nextR) = (
                    load(g, index), load(rightG, index), load(g, index + 1), load(rightG, index + 1)
                )
                let (overL, nextOverL) = (load(over, index), load(over, index + 1))
                let (overR, nextOverR) = (load(rightOver, index), load(rightOver, index + 1))
                let (low, high) = (load(minimum, index), load(most, index))
                let (leftAlone, rightAlone) = (l * l * overL, nextR * nextR * nextOverR)
                let edge = leftAlone + r * r * overR
                let nextEdge = nextL * nextL * nextOverL + rightAlone
                let (lowL, highL, lowR, highR) = (l + low, l + high, r - low, r - high)
                let bySize =
                    greater(lowL * lowL, highL * highL) * overL + greater(lowR * lowR, highR * highR) * nextOverR
                let bySquares = leftAlone + rightAlone + load(squares, index)
                let whole = greater(edge, nextEdge) + load(mixed, index)
                var bound = bySize.replacing(with: bySquares, where: bySquares .< bySize)
                bound.replace(with: whole, where: whole .< bound)
                bound = greater(load(upper, index), bound)
                store(bound, upper, index)
                maximum = greater(maximum, bound)
                let isAllowed = (load(h, index) .>= weight) .& (load(rightH, index) .>= weight)
                best = greater(best, none.replacing(with: edge, where: isAllowed))
            }
            return (best.max(), maximum.max())
        }
    }
}
