import MLNumerics

/// How rows for validation are set aside.
public enum MLSplitStrategy: Sendable {
    /// As many as the number of rows allows: none below 50, a tenth below 200, a twentieth below 200,000, about 10,000
    /// of more.
    ///
    /// Apple does not say the rule; this is Turi Create's.  The same data are split alike every time.
    case automatic
    /// A share of the rows.
    /// - Parameters:
    ///   - ratio: the share that validates, between 0 and 1.
    ///   - seed: the same seed chooses the same rows; `nil` others every time.
    case fixed(ratio: Double, seed: Int?)

    /// The share of `count` rows that validates, and the seed that chooses them.
    public func resolve(count: Int) -> (ratio: Double, seed: Int) {
        switch self {
        case .fixed(let ratio, let seed): (ratio, seed ?? timestampSeed())
        case .automatic:
            switch count {
            case ..<50: (0, 0)
            case ..<200: (0.1, 0)
            case ..<200_000: (0.05, 0)
            default: (10_000 / Double(count), 0)
            }
        }
    }
}

extension MLSplitStrategy {
    /// Shares out the rows `0..<count`, both parts ascending.
    /// - Throws: `MLCreateError.generic` for a ratio that is no share, or that leaves nothing to train on.
    package func split(count: Int) throws -> (training: [Int], validation: [Int]) {
        let (ratio, seed) = resolve(count: count)
        guard ratio >= 0, ratio < 1 else {
            throw MLCreateError.generic(
                reason: "the ratio of the split is \(ratio); the share of rows that validate is at least 0 and below 1"
            )
        }
        var wanted = Int((Double(count) * ratio).rounded())
        guard wanted < count || count == 0 else {
            throw MLCreateError.generic(
                reason: "a split by \(ratio) leaves none of \(count) rows to train on; choose a smaller ratio"
            )
        }
        var generator = SplitMix64(seed: UInt64(bitPattern: Int64(seed)))
        var (training, validation): ([Int], [Int]) = ([], [])
        training.reserveCapacity(count - wanted)
        validation.reserveCapacity(wanted)
        for row in 0..<count {
            // Each row is chosen with the probability that as many as are wanted come out.
            let draw = generator.next().multipliedFullWidth(by: UInt64(count - row)).high
            if draw < UInt64(wanted) {
                validation.append(row)
                wanted -= 1
            } else {
                training.append(row)
            }
        }
        return (training, validation)
    }
}
