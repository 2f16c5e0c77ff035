import Foundation
import MLKernels
import MLNumerics
import MLSeriesTraining

/// Fits MiniRocket's features and a linear classifier to series that `Oracles/series/check --features` writes, so that
/// aeon's can be held against them.
///
/// Standard input has one JSON request a line, see `Request`; a file holds the series as 32-bit floats [series, channels,
/// length], then the class of each. The answer is a line with the accuracy on the test series and the processor seconds of
/// fitting, those of all threads together.
@main
struct SeriesTrainingRunner {
    struct Request: Decodable {
        var train: String
        var test: String
        var rows: Int
        var testRows: Int
        var channels: Int
        var length: Int
        var classes: Int
        var seed: UInt64
    }

    struct Answer: Encodable {
        var accuracy: Double
        var seconds: Double
    }

    static func main() throws {
        while let line = readLine() {
            let request = try JSONDecoder().decode(Request.self, from: Data(line.utf8))
            let answer = try rocket(request)
            FileHandle.standardOutput.write(try JSONEncoder().encode(answer) + Data("\n".utf8))
        }
    }

    static func rocket(_ request: Request) throws -> Answer {
        let (values, labels) = try read(request.train, request.rows)
        let (tests, truth) = try read(request.test, request.testRows)
        let start = processorSeconds()
        let set = try SeriesSet(values: values, channelCount: request.channels, length: request.length)
        let rocket = try MiniRocket(fitting: set, seed: request.seed)
        let features = try rocket.features(of: set)
        let ridge = try RidgeClassifier(features: features, labels: labels, classCount: request.classes)
        let seconds = processorSeconds() - start
        let testSet = try SeriesSet(values: tests, channelCount: request.channels, length: request.length)
        return Answer(
            accuracy: accuracy(ridge.decisions(try rocket.features(of: testSet)), truth),
            seconds: seconds
        )
    }

    /// The part of the rows of `decisions` whose greatest is that of the class.
    static func accuracy(_ decisions: [Float], _ truth: [Int]) -> Double {
        let classes = decisions.count / truth.count
        let right = truth.indices.count { row in
            let values = Array(decisions[row * classes..<(row + 1) * classes])
            return values.indices.max { values[$0] < values[$1] } == truth[row]
        }
        return Double(right) / Double(truth.count)
    }

    /// The series, then their classes.
    static func read(_ path: String, _ rows: Int) throws -> ([Float], [Int]) {
        let data = try Data(contentsOf: URL(fileURLWithPath: path))
        let values = data.withUnsafeBytes { Array($0.bindMemory(to: Float.self)) }
        return (Array(values.dropLast(rows)), values.suffix(rows).map { Int($0) })
    }

    /// Of the process, all threads together.
    static func processorSeconds() -> Double {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
        return seconds(usage.ru_utime) + seconds(usage.ru_stime)
    }
}
