import Foundation
import MLKernels
import MLLinearTraining
import MLNumerics
import MLTrainingCore

/// Fits linear models to tables that `Oracles/linear-models/check` writes, so that scikit-learn's can be held against
/// them, and finds similar items for `Oracles/recommenders/check`.
///
/// Standard input has one JSON request a line; one with a measure is of the latter kind (`Recommendation`). A table's file
/// holds 64-bit floats: the dense columns row by row; `.targets` has the targets; a sparse block, when there is one, has the
/// files `.starts`, `.columns` (64-bit integers) and `.values`. The answer is a line with the seconds and processor seconds of
/// fitting (from the table as it lies in memory), iterations, whether the fit converged and the objective; weights and offsets
/// of every output are in `FILE.model`.
@main
struct LinearTrainingRunner {
    struct Request: Decodable {
        var file: String
        var rows: Int
        var columns: Int
        var sparseColumns: Int
        /// "squares", "logistic" or "hinge".
        var objective: String
        var classes: Int
        var l1: Double
        var l2: Double
        var iterations: Int
        var threshold: Double
        var rescaling: Bool
        var repeats: Int
    }

    /// Ratings are 64-bit integers and floats: all users, all items, all ratings. The best items of every user, of those
    /// that the user did not rate, are 32-bit integers in `FILE.best`, -1 where there are no more.
    struct Recommendation: Decodable {
        var file: String
        var measure: String
        var count: Int
        var userCount: Int
        var itemCount: Int
        var threshold: Double
        var maxCount: Int
        var wanted: Int
    }

    static func recommend(_ request: Recommendation) throws {
        let numbers: [Int64] = try read(request.file)
        let count = request.count
        let users = numbers[..<count].map { Int32($0) }
        let items = numbers[count..<2 * count].map { Int32($0) }
        let values = numbers[(2 * count)...].map { Double(bitPattern: UInt64(bitPattern: $0)) }
        let start = ContinuousClock.now
        let ratings = try ItemSimilarities.Ratings(
            users: users,
            items: items,
            values: values,
            userCount: request.userCount,
            itemCount: request.itemCount
        )
        guard let measure = ItemSimilarities.Measure(rawValue: request.measure) else {
            throw ModelError(.invalidInput, "no measure '\(request.measure)'")
        }
        let found = try ItemSimilarities(
            of: ratings,
            measure: measure,
            threshold: request.threshold,
            maxCount: request.maxCount
        )
        let fitted = ContinuousClock.now
        var rated = [[(item: Int, rating: Double)]](repeating: [], count: request.userCount)
        for entry in users.indices { rated[Int(users[entry])].append((Int(items[entry]), values[entry])) }
        var best: [Int32] = []
        for own in rated {
            let known = Set(own.map(\.item))
            let list = ItemSimilarities.best(found.scores(own.sorted { $0.item < $1.item }), request.wanted) {
                !known.contains($0)
            }
            best += list.map { Int32($0) } + [Int32](repeating: -1, count: request.wanted - list.count)
        }
        let answered = ContinuousClock.now
        try best.withUnsafeBytes { Data($0) }.write(to: URL(fileURLWithPath: request.file + ".best"))
        let times =
            "{\"fit\": \((fitted - start) / .seconds(1)), \"recommend\": \((answered - fitted) / .seconds(1))}\n"
        FileHandle.standardOutput.write(Data(times.utf8))
    }

    static func main() throws {
        while let line = readLine() {
            if line.contains("\"measure\"") {
                try recommend(JSONDecoder().decode(Recommendation.self, from: Data(line.utf8)))
                continue
            }
            let request = try JSONDecoder().decode(Request.self, from: Data(line.utf8))
            let targets: [Double] = try read(request.file + ".targets")
            let dense: [Double] = try read(request.file)
            var blocks: [LinearTrainingMatrix.Block] = []
            if request.columns > 0 { blocks.append(.dense(dense, columns: request.columns)) }
            if request.sparseColumns > 0 {
                let starts: [Int64] = try read(request.file + ".starts")
                let columns: [Int64] = try read(request.file + ".columns")
                blocks.append(
                    .sparse(
                        LinearTrainingMatrix.SparseRows(
                            starts: starts.map { Int($0) },
                            columns: columns.map { Int32($0) },
                            values: try read(request.file + ".values"),
                            columnCount: request.sparseColumns
                        )
                    )
                )
            }
            var settings = LinearTrainingSettings()
            settings.maxIterations = request.iterations
            settings.convergenceThreshold = request.threshold
            settings.l1Penalty = request.l1
            settings.l2Penalty = request.l2
            settings.featureRescaling = request.rescaling
            let objective: LinearObjective =
                switch request.objective {
                case "squares": .leastSquares
                case "hinge": .smoothedHinge
                default: .logistic(classes: request.classes)
                }
            var times: [Double] = []
            var processorTimes: [Double] = []
            var fitted: LinearTrainer?
            for _ in 0..<request.repeats {
                fitted = nil
                let (start, before) = (ContinuousClock.now, processorTime())
                let matrix = try LinearTrainingMatrix(rowCount: request.rows, blocks: blocks)
                var trainer = try LinearTrainer(matrix, targets: targets, objective: objective, settings: settings)
                try trainer.train()
                times.append((ContinuousClock.now - start) / .seconds(1))
                processorTimes.append(processorTime() - before)
                fitted = trainer
            }
            guard let fitted else { continue }
            let model = fitted.model
            let numbers = model.weights.flatMap { $0 } + model.offsets
            try numbers.withUnsafeBytes { Data($0) }.write(to: URL(fileURLWithPath: request.file + ".model"))
            let answer: [String: Any] = [
                "seconds": times.sorted()[times.count / 2],
                "processor": processorTimes.sorted()[times.count / 2], "iterations": fitted.iteration,
                "converged": fitted.isConverged, "objective": fitted.objectiveValue,
            ]
            var data = try JSONSerialization.data(withJSONObject: answer)
            data.append(10)
            FileHandle.standardOutput.write(data)
        }
    }

    /// Seconds of processor time of all threads so far.
    static func processorTime() -> Double {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) * 1e-6 }
        return seconds(usage.ru_utime) + seconds(usage.ru_stime)
    }

    /// A file's numbers, straight into the memory that keeps them: copies of large tables would leave pages behind that one
    /// side of a comparison is given and the other is not.
    static func read<Value: BitwiseCopyable>(_ path: String) throws -> [Value] {
        guard let file = fopen(path, "rb") else { throw ModelError(.io, "'\(path)' does not open") }
        defer { fclose(file) }
        fseek(file, 0, SEEK_END)
        let count = ftell(file) / MemoryLayout<Value>.stride
        rewind(file)
        let values = [Value](unsafeUninitializedCapacity: count) { buffer, read in
            read = fread(buffer.baseAddress, MemoryLayout<Value>.stride, count, file)
        }
        guard values.count == count else { throw ModelError(.io, "'\(path)' ends early") }
        return values
    }
}
