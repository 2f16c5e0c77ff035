import Foundation
import MLKernels
import MLNumerics
import MLTreeTraining

/// Grows trees on tables that `Oracles/trees/check` writes, so that XGBoost's can be held against them.
///
/// Standard input has one JSON request a line: `{"train": FILE, "test": FILE, "rows": n, "testRows": m, "columns": d,
/// "classes": k, "rounds": r, "forest": false, "method": "exact", "settings…": …}`; a file holds the columns as 32-bit
/// floats one after the other, that of the training table then the targets. The answer is a line with the seconds of
/// fitting and the processor seconds of all threads for it; the sums of the test table are in `FILE.sums`.
@main
struct TreeTrainingRunner {
    struct Request: Decodable {
        var train: String
        var test: String
        var rows: Int
        var testRows: Int
        var columns: Int
        /// 0 for a regression.
        var classes: Int
        var rounds: Int
        var forest: Bool
        var method: String
        var maxDepth: Int
        var stepSize: Double
        var subsample: Double
        var seed: UInt64
        var minLossReduction: Double
    }

    static func main() throws {
        while let line = readLine() {
            let request = try JSONDecoder().decode(Request.self, from: Data(line.utf8))
            let (columns, rest) = try read(request.train, request.rows, request.columns)
            let table = try TreeTrainingTable(columns: columns)
            var settings = TreeTrainingSettings()
            settings.maxIterations = request.rounds
            settings.maxDepth = request.maxDepth
            settings.stepSize = request.stepSize
            settings.rowSubsample = request.subsample
            settings.columnSubsample = request.subsample
            settings.randomSeed = request.seed
            settings.minLossReduction = request.minLossReduction
            settings.method =
                switch request.method {
                case "exact": .exact
                case "refined": .refined(bins: 255)
                case "automatic": .automatic
                default: .histogram(bins: 255)
                }
            let objective: TreeObjective =
                switch request.classes {
                case 0: .squaredError
                case 2: .logistic
                default: .softmax(classes: request.classes)
                }
            let start = ContinuousClock.now
            let before = processorTime()
            var trainer = try TreeTrainer(table, targets: rest, objective: objective, settings: settings)
            if request.forest {
                trainer.growForest(request.rounds)
            } else {
                for _ in 0..<request.rounds { trainer.step() }
            }
            let seconds = (ContinuousClock.now - start) / .seconds(1)
            let processor = processorTime() - before
            let (tests, _) = try read(request.test, request.testRows, request.columns)
            let test = try TreeTrainingTable(columns: tests)
            var sums = [Float](repeating: objective.baseScore, count: request.testRows * objective.outputCount)
            for (index, tree) in trainer.trees.enumerated() {
                tree.add(
                    to: &sums,
                    of: test,
                    output: index % objective.outputCount,
                    stride: objective.outputCount
                )
            }
            try sums.withUnsafeBytes { Data($0) }.write(to: URL(fileURLWithPath: request.test + ".sums"))
            let answer = ["seconds": seconds, "processor": processor]
            FileHandle.standardOutput.write(try JSONEncoder().encode(answer) + Data([10]))
        }
    }

    /// Seconds of processor time of all threads so far.
    static func processorTime() -> Double {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) * 1e-6 }
        return seconds(usage.ru_utime) + seconds(usage.ru_stime)
    }

    /// The columns of a table and what is behind them, read one by one, so that memory holds them once.
    static func read(_ path: String, _ rows: Int, _ columns: Int) throws -> ([[Float]], [Float]) {
        let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
        defer { file.closeFile() }
        func next() throws -> [Float] {
            guard let data = try file.read(upToCount: rows * MemoryLayout<Float>.stride) else { return [] }
            return [Float](unsafeUninitializedCapacity: data.count / MemoryLayout<Float>.stride) { buffer, count in
                count = data.copyBytes(to: buffer) / MemoryLayout<Float>.stride
            }
        }
        let table = try (0..<columns).map { _ in try next() }
        return (table, try next())
    }
}
