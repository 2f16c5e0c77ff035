import Foundation
import MLTrainingCore

/// The scores of candidates on held-out rows, and the choice of those that are still in the running.
///
/// Each repeat tries them on all of its folds, one fold after the other. A candidate that is behind the best by more
/// than chance explains is not tried in the next repeat.
struct ChoiceTrials: Sendable {
    /// A candidate's score on a fold after a stage.
    struct Score: Sendable, Equatable {
        var rows: Int
        /// The number of misclassified rows, or the sum of squared errors.
        var errors: Double
        /// The sum of log losses, or of squared errors.
        var losses: Double
    }

    /// The quantity that is compared.
    enum Measure: Sendable {
        /// The mean squared error.
        case squares
        case accuracy
        /// The classification error and a tenth of the mean log loss, which separates classifiers that are equally
        /// often right on few rows.
        case accuracyAndLoss
    }

    let candidates: [ChoiceCandidate]
    /// The numbers of folds of the repeats that have any.
    private let folds: [Int]
    private let measure: Measure
    /// [candidates][folds so far][stages].
    private(set) var scores: [[[Score]]]
    /// The number of trials made.
    private(set) var count = 0
    private var repeated = 0
    /// The candidates of this repeat.
    private var running: [Int]
    /// The number of trials of this repeat.
    private var position = 0

    init(_ candidates: [ChoiceCandidate], folds: [Int], measure: Measure) {
        self.candidates = candidates
        self.folds = folds.filter { $0 > 0 }
        self.measure = measure
        scores = Array(repeating: [], count: candidates.count)
        running = Array(candidates.indices)
    }

    /// The maximum number of trials.
    var maximumTrialCount: Int { folds.reduce(0, +) * candidates.count }

    /// The next trial; `nil` at the end.
    var next: (repeated: Int, fold: Int, candidate: Int)? {
        guard repeated < folds.count, !running.isEmpty else { return nil }
        return (repeated, position / running.count, running[position % running.count])
    }

    /// Adds the scores of the next trial, one for each stage.
    mutating func add(_ stages: [Score]) {
        guard let next else { return }
        scores[next.candidate].append(stages)
        count += 1
        position += 1
        if position == running.count * folds[repeated] {
            (repeated, position) = (repeated + 1, 0)
            if let best { running = running.filter { lead(of: $0, over: best.candidate) >= -Self.maximumDeficit } }
        }
    }

    // MARK: Choice

    /// The mean of the compared quantity.
    private func mean(_ candidate: Int, _ stage: Int) -> Double {
        let (rows, sum) = scores[candidate].reduce((0, 0.0)) { ($0.0 + $1[stage].rows, $0.1 + value($1[stage])) }
        let mean = sum / Double(rows)
        return mean.isNaN ? .infinity : mean
    }

    private func value(_ score: Score) -> Double {
        measure == .accuracyAndLoss ? score.errors + 0.1 * score.losses : score.errors
    }

    private func bestStage(_ candidate: Int) -> Int {
        let means = (scores[candidate].first ?? []).indices.map { mean(candidate, $0) }
        return means.indices.min { means[$0] < means[$1] } ?? 0
    }

    /// The lead, in standard errors, that other parameters than the defaults need: the best of many leads by chance
    /// alone.
    private static let variedMargin = 0.5
    /// The lag, in standard errors, from which a candidate is not tried any more.
    private static let maximumDeficit = 2.0

    /// The best candidate that was tried in every repeat so far, with its best stage; the first of equal ones.
    var best: (candidate: Int, stage: Int)? {
        let maximumTrialCount = scores.map(\.count).max() ?? 0
        guard maximumTrialCount > 0 else { return nil }
        func first(isVaried: Bool) -> Int? {
            candidates.indices.filter { scores[$0].count == maximumTrialCount && candidates[$0].isVaried == isVaried }
                .map { (number: $0, mean: mean($0, bestStage($0))) }.min { $0.mean < $1.mean }?.number
        }
        guard let usual = first(isVaried: false) else { return first(isVaried: true).map { ($0, bestStage($0)) } }
        if let other = first(isVaried: true), lead(of: other, over: usual) > Self.variedMargin {
            return (other, bestStage(other))
        }
        return (usual, bestStage(usual))
    }

    /// The difference by which a candidate's mean is below another's, in standard errors of the difference.
    ///
    /// The variance between folds is enlarged as in Nadeau and Bengio (2003), as the folds of all repeats share their
    /// rows.
    private func lead(of candidate: Int, over other: Int) -> Double {
        let (stage, otherStage) = (bestStage(candidate), bestStage(other))
        let differences = zip(scores[candidate], scores[other]).map {
            value($1[otherStage]) / Double($1[otherStage].rows) - value($0[stage]) / Double($0[stage].rows)
        }
        let count = Double(differences.count)
        let mean = differences.reduce(0, +) / count
        let squares = differences.reduce(0) { $0 + ($1 - mean) * ($1 - mean) }
        let share = 1 / Double(max(1, (folds.first ?? 2) - 1))
        let error = (squares / max(1, count - 1) * (1 / count + share)).squareRoot()
        // A candidate that diverged is behind in any case.
        return mean.isNaN || error.isNaN ? -.infinity : mean == 0 ? 0 : mean / error
    }

    /// A candidate's score after its best stage over all held-out rows, and its standard deviation between folds.
    ///
    /// The score is the accuracy or the root mean squared error.
    func summary(_ candidate: Int) -> (stage: Int, score: Double, deviation: Double?, folds: Int)? {
        let stage = bestStage(candidate)
        let own = scores[candidate].map { $0[stage] }
        guard !own.isEmpty else { return nil }
        func score(_ errors: Double, _ rows: Int) -> Double {
            let mean = errors / Double(rows)
            return measure == .squares ? mean.squareRoot() : 1 - mean
        }
        let all = score(own.reduce(0) { $0 + $1.errors }, own.reduce(0) { $0 + $1.rows })
        let each = own.map { score($0.errors, $0.rows) }
        let mean = each.reduce(0, +) / Double(each.count)
        let squares = each.reduce(0) { $0 + ($1 - mean) * ($1 - mean) }
        return (stage, all, each.count > 1 ? (squares / Double(each.count - 1)).squareRoot() : nil, each.count)
    }
}

extension ChoiceTrials {
    /// Writes the scores of the trials in their order.
    func encode(to writer: inout CheckpointWriter) {
        var replay = ChoiceTrials(candidates, folds: folds, measure: measure)
        var used = [Int](repeating: 0, count: candidates.count)
        writer.write(UInt64(count))
        while replay.count < count, let next = replay.next {
            let stages = scores[next.candidate][used[next.candidate]]
            used[next.candidate] += 1
            writer.write(stages.map(\.rows))
            writer.write(stages.map(\.errors))
            writer.write(stages.map(\.losses))
            replay.add(stages)
        }
    }

    /// Restores the scores of trials with the same candidates and folds.
    mutating func restore(from reader: inout CheckpointReader) throws {
        var fresh = ChoiceTrials(candidates, folds: folds, measure: measure)
        let written = try reader.readInt(in: 0...maximumTrialCount, "the number of trials")
        for _ in 0..<written {
            guard let next = fresh.next else { throw reader.damaged("the number of trials") }
            let rows: [Int] = try reader.readArray()
            let errors: [Double] = try reader.readArray()
            let losses: [Double] = try reader.readArray()
            guard rows.count == max(1, candidates[next.candidate].stages.count), errors.count == rows.count,
                losses.count == rows.count, rows.allSatisfy({ (1...Int(Int32.max)).contains($0) })
            else { throw reader.damaged("a trial") }
            fresh.add(rows.indices.map { Score(rows: rows[$0], errors: errors[$0], losses: losses[$0]) })
        }
        self = fresh
    }
}
