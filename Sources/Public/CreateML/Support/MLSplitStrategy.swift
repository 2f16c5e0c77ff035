import MLNumerics

/// The strategy by which a part of the training data is set aside for validation.
public enum MLSplitStrategy: Sendable {
    /// A fraction that depends on the number of rows, chosen the same way every time.
    ///
    /// It is 0 below 50 rows, a tenth below 200, a twentieth below 200,000, and about 10,000 rows of more. Apple does
    /// not document its rule; this is Turi Create's.
    case automatic
    /// A fixed fraction of the rows.
    /// - Parameters:
    ///   - ratio: The fraction for validation, at least 0 and below 1.
    ///   - seed: The seed of the choice; equal seeds choose the same rows, `nil` others every time.
    case fixed(ratio: Double, seed: Int?)

    /// The fraction of `count` rows that is set aside, and the seed that chooses them.
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
    /// Splits the rows `0..<count`; both parts are ascending.
    /// - Parameter count: The number of rows.
    /// - Returns: The numbers of the rows for training and for validation.
    /// - Throws: `MLCreateError.generic` for a ratio that is out of range or leaves no rows for training.
    package func split(count: Int) throws -> (training: [Int], validation: [Int]) {
        let (ratio, seed) = resolve(count: count)
        guard ratio >= 0, ratio < 1 else {
            throw MLCreateError.generic(
                reason: "the ratio of the split is \(ratio); the share of rows that validate is at least 0 and below 1"
            )
        }
        var requested = Int((Double(count) * ratio).rounded())
        guard requested < count || count == 0 else {
            throw MLCreateError.generic(
                reason: "a split by \(ratio) leaves no rows of \(count) for training; choose a smaller ratio"
            )
        }
        var generator = SplitMix64(seed: UInt64(bitPattern: Int64(seed)))
        var (training, validation): ([Int], [Int]) = ([], [])
        training.reserveCapacity(count - requested)
        validation.reserveCapacity(requested)
        for row in 0..<count {
            // Selection sampling: exactly the wanted number of rows is chosen, each with the same probability.
            let draw = generator.next().multipliedFullWidth(by: UInt64(count - row)).high
            if draw < UInt64(requested) {
                validation.append(row)
                requested -= 1
            } else {
                training.append(row)
            }
        }
        return (training, validation)
    }
}
