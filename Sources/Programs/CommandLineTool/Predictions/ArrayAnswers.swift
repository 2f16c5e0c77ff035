import MLEngine
import MLFeatureFiles
import MLFiles
import MLNumerics

/// Writes predictions as arrays in a NumPy archive; a list's arrays have the rows as their first axis.
///
/// Arrays are unchanged, labels are strings or int64. A dictionary is an array of its values, float64, NaN where a row
/// lacks a key, and the keys are the array `NAME.labels`. A sequence is an array; in a list those of all rows are
/// concatenated, and `NAME.lengths` has the length of each. Images are uint8: [height, width, 4] with red, green, blue
/// and alpha, or [height, width]; those of half precision float16.
struct ArrayAnswers: AnswerSink {
    private let file: NewFile
    private let path: String
    private let isList: Bool
    private let names: [String]
    private var columns: [String: GatheredColumn] = [:]
    private var count = 0

    init(_ file: NewFile, _ path: String, isList: Bool, _ names: [String]) {
        (self.file, self.path, self.isList, self.names) = (file, path, isList, names)
    }

    mutating func receive(_ answer: Answer) throws {
        let members = answer.members(names)
        for (name, value) in members {
            guard columns[name] != nil || count == 0 else { throw incomplete(name) }
            var column = columns.removeValue(forKey: name) ?? GatheredColumn(value)
            guard column.append(value) else {
                throw Failure(
                    "'\(path)': an array does not hold the output '\(name)', which is \(column.kind) before and "
                        + "\(value.kind) in row \(count); write a .jsonl file"
                )
            }
            columns[name] = column
        }
        count += 1
        if let name = columns.first(where: { $0.value.count < count })?.key { throw incomplete(name) }
    }

    private func incomplete(_ name: String) -> Failure {
        Failure("'\(path)': row \(count) or the rows before it lack the output '\(name)'; write a .jsonl file")
    }

    mutating func finish() throws {
        var arrays: [String: Tensor] = [:]
        for (name, column) in columns {
            for (suffix, tensor) in column.arrays(isList: isList) {
                guard arrays.updateValue(tensor, forKey: name + suffix) == nil else {
                    throw Failure("'\(path)': two outputs are called '\(name + suffix)'; write a .json file")
                }
            }
        }
        let bytes = try NumpyArchive.write(arrays)
        try failing { () throws(ModelError) in
            try file.append(bytes)
            try file.finish()
        }
    }
}
