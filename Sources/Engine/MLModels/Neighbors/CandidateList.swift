/// Collects the points whose scores may be among the `k` greatest, given scores with an error of up to `margin`.
struct CandidateList {
    private let k: Int
    private let margin: Float
    private var scores: [Float] = []
    private var positions: [Int32] = []
    /// Lower scores cannot be among the greatest.
    private var limit = -Float.infinity
    private var capacity: Int

    init(k: Int, margin: Float) {
        self.k = k
        // Without a finite bound every point stays a candidate.
        self.margin = margin.isFinite ? margin : .infinity
        capacity = 2 * k + 64
    }

    /// Adds the scores of consecutive points from `first` on.
    mutating func add(_ line: UnsafeBufferPointer<Float>, from first: Int32) {
        var index = 0
        let count = line.count
        while index < count {
            // Most stretches contain no candidate: test sixteen scores at a time.
            if index + 16 <= count {
                let stretch = UnsafeRawPointer(line.baseAddress.unsafelyUnwrapped + index)
                    .loadUnaligned(as: SIMD16<Float>.self)
                if !any(stretch .>= limit), margin.isFinite {
                    index += 16
                    continue
                }
            }
            let end = Swift.min(index + 16, count)
            while index < end {
                if !(line[index] < limit) {
                    scores.append(line[index])
                    positions.append(first + Int32(index))
                }
                index += 1
            }
            if scores.count >= capacity, margin.isFinite { prune() }
        }
    }

    /// The remaining candidates.
    func indices() -> [Int32] {
        var copy = self
        if margin.isFinite { copy.prune() }
        return copy.positions
    }

    private mutating func prune() {
        guard scores.count > k else { return }
        let bound = scores.sorted(by: >)[k - 1] - margin
        limit = Swift.max(limit, bound)
        var kept = 0
        for index in scores.indices where !(scores[index] < limit) {
            scores[kept] = scores[index]
            positions[kept] = positions[index]
            kept += 1
        }
        scores.removeSubrange(kept...)
        positions.removeSubrange(kept...)
        capacity = Swift.max(capacity, 2 * kept)
    }
}
