// An app whose model comes from a collection, and that says how long that takes: Reliability/delivered-load runs it.
//   DeliveryRunner COLLECTION MODEL PREDICTIONS
//   DeliveryRunner key MODEL    gets the key of a model before any was opened, or prints why not and ends with 1
// Prints a JSON object: `delivered` (whether the model came from the collection); milliseconds of `load` and of the median
// `prediction`, both after the collection was opened; mebibytes of `peak` resident memory, and how much of it the load added.

import CoreML
import CoreMLEncryption
import Foundation

func mebibytes(_ field: String) -> Double {
    let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    let line = status.split(separator: "\n").first { $0.hasPrefix(field + ":") } ?? ""
    return (line.split(separator: " ").dropFirst().compactMap { Double($0) }.first ?? 0) / 1024
}

func milliseconds(_ body: () async throws -> Void) async throws -> Double {
    let start = ContinuousClock.now
    try await body()
    let time = (ContinuousClock.now - start).components
    return Double(time.seconds) * 1e3 + Double(time.attoseconds) / 1e15
}

if CommandLine.arguments.count == 3, CommandLine.arguments[1] == "key" {
    do { try await ModelKeys.prefetch(for: URL(fileURLWithPath: CommandLine.arguments[2])) } catch {
        print(error.localizedDescription)
        exit(1)
    }
    exit(0)
}
guard CommandLine.arguments.count == 4, let count = Int(CommandLine.arguments[3]), count > 0 else {
    print("usage: DeliveryRunner COLLECTION MODEL PREDICTIONS")
    exit(64)
}
let (identifier, name) = (CommandLine.arguments[1], CommandLine.arguments[2])
let collection = try await withCheckedThrowingContinuation { continuation in
    _ = MLModelCollection.beginAccessing(identifier: identifier) { continuation.resume(with: $0) }
}
guard let entry = collection.entries[name] else {
    // Not there yet: give it time to arrive for the next launch. The script launches again until it is there.
    try await Task.sleep(for: .seconds(3))
    print("{\"delivered\": false}")
    exit(0)
}
let before = mebibytes("VmRSS")
var loaded: MLModel?
let load = try await milliseconds { loaded = try await MLModel.load(contentsOf: entry.modelURL) }
guard let model = loaded else { fatalError("no model and no error") }
let zeros = try MLMultiArray(shape: [1, 1024], dataType: .float32)
for index in 0..<1024 { zeros[index] = NSNumber(value: Double(index % 7) / 7) }
// Nobody changes it.
nonisolated(unsafe) let input = try MLDictionaryFeatureProvider(dictionary: ["x": zeros])
var times: [Double] = []
for _ in 0..<count { times.append(try await milliseconds { _ = try await model.prediction(from: input) }) }
times.sort()
let peak = mebibytes("VmHWM")
print(
    "{\"delivered\": true, \"load\": \(load), \"prediction\": \(times[count / 2]), \"peak\": \(peak), \"added\": \(peak - before)}"
)
