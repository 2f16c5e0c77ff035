import Foundation
import MLTrainingCore

/// The files of a training, with the features of those that are read so far.
struct ImageFiles {
    /// A file and its label.
    struct File {
        var path: String
        var label: String
        var isValidation: Bool
    }

    /// The outcome of reading a file.
    struct Result: Sendable {
        /// [views, width]; empty for a file that is skipped.
        var features: [Float] = []
        /// The fingerprint of the file's bytes.
        var content: UInt64 = 0
        /// The reason for skipping the file; empty for a file that is used.
        var reason = ""
    }

    private(set) var files: [File]
    private var results: [Result] = []
    private var width = 0
    /// The labels of the classes, once all files are read: those of training files that could be.
    private(set) var labels: [String] = []

    /// - Throws: `MLCreateError` for fewer than two labels, and labels that only validation data have.
    init(training: [(label: String, path: String)], validation: [(label: String, path: String)]) throws {
        files =
            training.map { File(path: $0.path, label: $0.label, isValidation: false) }
            + validation.map { File(path: $0.path, label: $0.label, isValidation: true) }
        let numbers = LabelNumbers(training.map(\.label))
        guard numbers.labels.count > 1 else {
            let found = numbers.labels.first.map { "one label, '\($0)'" } ?? "no images"
            throw MLCreateError.generic(
                reason: "the training data has \(found); a classifier needs images of at least two labels"
            )
        }
        for file in validation { _ = try numbers.number(of: file.label) }
    }

    /// The number of files that are read.
    var extracted: Int { results.count }
    var isComplete: Bool { results.count == files.count }
    var hasValidation: Bool { zip(files, results).contains { $0.isValidation && $1.reason.isEmpty } }

    mutating func append(_ new: [Result], width: Int) {
        self.width = width
        results += new
    }

    /// Leaves out pictures with two labels, and finds the labels of the others.
    /// - Throws: `MLCreateError` if fewer than two labels have pictures that can be used.
    mutating func finish() throws {
        var owners: [UInt64: [Int]] = [:]
        for (index, result) in results.enumerated() where result.reason.isEmpty && !files[index].isValidation {
            owners[result.content, default: []].append(index)
        }
        for same in owners.values where Set(same.map { files[$0].label }).count > 1 {
            for index in same {
                let other = same.first { files[$0].label != files[index].label } ?? index
                let text = "the same image is labelled '\(files[other].label)', too: \(files[other].path)"
                results[index] = Result(content: results[index].content, reason: text)
            }
        }
        findLabels()
        guard labels.count > 1 else {
            let examples = skipped.prefix(3).map { "\($0.url.path): \($0.reason)" }.joined(separator: "; ")
            throw MLCreateError.generic(
                reason:
                    "of \(files.count) images \(skipped.count) cannot be used, and fewer than two labels are left "
                    + "(\(examples)); repair them or add others"
            )
        }
    }

    private mutating func findLabels() {
        let used = zip(files, results).filter { !$0.isValidation && $1.reason.isEmpty }
        labels = Set(used.map(\.0.label)).sorted()
    }

    /// The files that are left out.
    var skipped: [MLImageClassifier.SkippedImage] {
        zip(files, results).filter { !$1.reason.isEmpty }.map { file, result in
            .init(url: URL(fileURLWithPath: file.path), label: file.label, reason: result.reason)
        }
    }

    /// All views of the training pictures as examples.
    func trainingRows() -> (rows: [Float], labels: [Int]) {
        var (rows, classes): ([Float], [Int]) = ([], [])
        let numbers = LabelNumbers(labels)
        for (file, result) in zip(files, results) where result.reason.isEmpty && !file.isValidation {
            guard let label = try? numbers.number(of: file.label) else { continue }
            rows += result.features
            classes += [Int](repeating: label, count: result.features.count / width)
        }
        return (rows, classes)
    }

    /// One row for each picture, as predictions have it: the first view, or the mean of the first two.
    func predictionRows(isValidation: Bool, isMirrored: Bool) -> (rows: [Float], labels: [Int], paths: [String]) {
        var (rows, classes, paths): ([Float], [Int], [String]) = ([], [], [])
        let numbers = LabelNumbers(labels)
        for (file, result) in zip(files, results) where result.reason.isEmpty && file.isValidation == isValidation {
            guard let label = try? numbers.number(of: file.label) else { continue }
            let first = result.features[..<width]
            if isMirrored {
                rows += zip(first, result.features[width..<2 * width]).map { ($0 + $1) / 2 }
            } else {
                rows += first
            }
            classes.append(label)
            paths.append(file.path)
        }
        return (rows, classes, paths)
    }

    /// The most probable class of each row.
    static func classes(_ probabilities: [Float], _ count: Int) -> [(index: Int, probability: Float)] {
        stride(from: 0, to: probabilities.count, by: max(count, 1)).map { start in
            var best = start
            for position in start..<start + count where probabilities[position] > probabilities[best] {
                best = position
            }
            return (best - start, probabilities[best])
        }
    }

    // MARK: Bytes

    func write(_ writer: inout CheckpointWriter, withFeatures: Bool) {
        writer.write(files.map(\.path))
        writer.write(files.map(\.label))
        writer.write(files.map { $0.isValidation ? UInt8(1) : 0 })
        writer.write(withFeatures)
        if withFeatures { writeFeatures(&writer) }
    }

    func writeFeatures(_ writer: inout CheckpointWriter) {
        writer.write(Int64(width))
        writer.write(results.map(\.reason))
        writer.write(results.map(\.content))
        writer.write(results.map { Int64($0.features.count) })
        writer.write(results.flatMap(\.features))
    }

    init(_ reader: inout CheckpointReader) throws {
        let paths = try reader.readStrings()
        let labels = try reader.readStrings()
        let isValidation: [UInt8] = try reader.readArray()
        guard paths.count == labels.count, paths.count == isValidation.count, !paths.isEmpty else {
            throw reader.damaged("labels are missing")
        }
        files = paths.indices.map { File(path: paths[$0], label: labels[$0], isValidation: isValidation[$0] == 1) }
        if try reader.readBool() {
            try readFeatures(&reader)
            guard isComplete, self.labels.count > 1 else { throw reader.damaged("features are missing") }
        }
    }

    mutating func readFeatures(_ reader: inout CheckpointReader) throws {
        let width = try reader.readInt(in: 0...1 << 24, "the number of features")
        let reasons = try reader.readStrings()
        let contents: [UInt64] = try reader.readArray()
        let counts: [Int64] = try reader.readArray()
        let values: [Float] = try reader.readArray()
        guard reasons.count <= files.count, contents.count == reasons.count, counts.count == reasons.count,
            values.allSatisfy(\.isFinite)
        else { throw reader.damaged("features are missing") }
        var (results, position): ([Result], Int) = ([], 0)
        for (index, count) in counts.enumerated() {
            let isUsed = reasons[index].isEmpty
            guard count >= 0, count <= values.count - position, isUsed == (count > 0),
                !isUsed || width > 0 && Int(count) % width == 0
            else { throw reader.damaged("features are cut off") }
            results.append(
                Result(
                    features: Array(values[position..<position + Int(count)]),
                    content: contents[index],
                    reason: reasons[index]
                )
            )
            position += Int(count)
        }
        guard position == values.count else { throw reader.damaged("there are more features than files") }
        self.width = width
        self.results = results
        if isComplete { findLabels() }
    }
}
