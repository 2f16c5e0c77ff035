import Foundation
import MLFeatures
import MLFiles
import MLKernels
import MLNumerics
import MLUpdating

/// Trains an updatable network on recorded examples in a given order: `training-runner FOLDER [--double] [--threads
/// N]`.
///
/// FOLDER holds `model.mlmodel`, `run.json` (see `Run`), `inputs.bin` (float32, example by example) and `targets.bin`
/// (int32 classes, or float32 values). Written there: `weights.bin`, every parameter as float64 in the order of the
/// layers, weights before biases. Printed as JSON: the loss of each mini-batch, the seconds of each epoch, and the
/// largest memory of the process.
@main
struct TrainingRunner {
    struct Run: Decodable {
        var input: String
        var inputShape: [Int]
        var target: String
        /// The shape of a target; empty for a class.
        var targetShape: [Int]
        /// By epoch the mini-batches, as places of examples.
        var epochs: [[[Int]]]
    }

    struct Report: Encodable {
        var losses: [Double] = []
        var seconds: [Double] = []
        /// The total of all threads in each epoch.
        var processorSeconds: [Double] = []
        var preparation = 0.0
        var peakMegabytes = 0.0
    }

    static func main() throws {
        var words = Array(CommandLine.arguments.dropFirst())
        let isDouble = words.contains("--double")
        words.removeAll { $0 == "--double" }
        if let place = words.firstIndex(of: "--threads"), place + 1 < words.count, let count = Int(words[place + 1]) {
            Workers.limit(to: count)
            words.removeSubrange(place...place + 1)
        }
        guard let path = words.first else {
            print("usage: training-runner FOLDER [--double] [--threads N]")
            return
        }
        let folder = URL(fileURLWithPath: path)
        let run = try JSONDecoder().decode(Run.self, from: Data(contentsOf: folder.appending(path: "run.json")))
        let file = try ModelFile.open(path: folder.appending(path: "model.mlmodel").path)
        var trainer = try NetworkTrainer(file.specification, precision: isDouble ? .float64 : .float32)
        var report = Report()
        var start = ContinuousClock.now
        let examples = try trainer.examples(try features(run, folder))
        report.preparation = seconds(since: start)
        for epoch in run.epochs {
            start = ContinuousClock.now
            let ticks = clock()
            for batch in epoch { report.losses.append(try trainer.step(examples, batch)) }
            report.seconds.append(seconds(since: start))
            report.processorSeconds.append(Double(clock() - ticks) / Double(CLOCKS_PER_SEC))
        }
        var weights = Data()
        for layer in trainer.layerNames {
            for tensor in [try trainer.weights(of: layer), try trainer.biases(of: layer)].compactMap({ $0 }) {
                tensor.values.withUnsafeBytes { weights.append(contentsOf: $0) }
            }
        }
        try weights.write(to: folder.appending(path: "weights.bin"))
        report.peakMegabytes = peakMegabytes()
        print(String(decoding: try JSONEncoder().encode(report), as: UTF8.self))
    }

    private static func seconds(since start: ContinuousClock.Instant) -> Double {
        let (seconds, attoseconds) = (ContinuousClock.now - start).components
        return Double(seconds) + Double(attoseconds) / 1e18
    }

    private static func peakMegabytes() -> Double {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM") }
        return Double(line?.split(separator: " ").compactMap { Int($0) }.first ?? 0) / 1024
    }

    private static func features(_ run: Run, _ folder: URL) throws -> [[String: FeatureData]] {
        let inputs = try tensors(folder.appending(path: "inputs.bin"), run.inputShape, .float32)
        let isClass = run.targetShape.isEmpty
        let shape = isClass ? [1] : run.targetShape
        let targets = try tensors(folder.appending(path: "targets.bin"), shape, isClass ? .int32 : .float32)
        return zip(inputs, targets).map { input, target in
            [
                run.input: .tensor(input),
                run.target: isClass ? .int64(Int64(target.integers[0])) : .tensor(target),
            ]
        }
    }

    private static func tensors(_ url: URL, _ shape: [Int], _ type: ScalarType) throws -> [Tensor] {
        let data = try Data(contentsOf: url)
        let size = type.byteCount(of: shape.elementCount)
        return (0..<data.count / size).map { index in
            let tensor = Tensor(uninitialized: type, shape: shape)
            data[index * size..<(index + 1) * size].withUnsafeBytes { bytes in
                guard let base = bytes.baseAddress else { return }
                tensor.address.copyMemory(from: base, byteCount: size)
            }
            return tensor
        }
    }
}
