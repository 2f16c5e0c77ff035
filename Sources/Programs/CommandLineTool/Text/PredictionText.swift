import Foundation
import MLEngine
import MLNumerics

/// Writes predictions for people.
struct PredictionText: AnswerSink {
    /// The number of a classifier's classes to show.
    let top: Int
    /// Whether to name the input of each prediction.
    let isList: Bool
    let names: [String]
    let pictures: PictureFiles

    mutating func receive(_ answer: Answer) throws {
        if answer.keys.count > 1 {
            print(try line(answer))
        } else {
            if isList, let key = answer.keys.first { print("\(brief(key.value)):") }
            print(try block(answer))
        }
    }

    mutating func finish() throws {}

    /// The prediction for one of many windows or rows.
    private func line(_ answer: Answer) throws -> String {
        let outputs = answer.members(names).dropFirst(answer.keys.count)
        return (answer.keys.map { brief($0.value) } + (try outputs.map { try brief($0.value, $0.name, answer) }))
            .joined(separator: "  ")
    }

    private func brief(_ value: FeatureData) -> String {
        switch value {
        case .int64(let value): "\(value)"
        case .double(let value): "\(value)"
        case .string(let value): value
        case .tensor(let tensor): Self.summary(tensor)
        case .sequence(.strings(let values)): values.joined(separator: " ")
        case .sequence(.integers(let values)): values.map(String.init).joined(separator: " ")
        case .dictionary(.strings(let values)): share(values.values.max())
        case .dictionary(.integers(let values)): share(values.values.max())
        case .image(let image): "image of \(image.width) × \(image.height)"
        }
    }

    private func brief(_ value: FeatureData, _ name: String, _ answer: Answer) throws -> String {
        guard case .image(let image) = value else { return brief(value) }
        return try pictures.write(image, named: name, of: answer)
    }

    private func share(_ value: Double?) -> String { value.map { String(format: "%.1f %%", $0 * 100) } ?? "" }

    private func block(_ answer: Answer) throws -> String {
        var lines: [String] = []
        var sequences: [(name: String, cells: [String])] = []
        for (name, data) in answer.members(names).dropFirst(answer.keys.count) {
            switch data {
            case .int64, .double, .string, .tensor: lines.append("\(name): \(brief(data))")
            case .image(let image):
                let path = try pictures.write(image, named: name, of: answer)
                lines.append("\(name): image of \(image.width) × \(image.height), written to \(path)")
            case .dictionary(.strings(let values)): lines.append(ranking(name, values.map { ($0, $1) }))
            case .dictionary(.integers(let values)): lines.append(ranking(name, values.map { ("\($0)", $1) }))
            case .sequence(.strings(let values)): sequences.append((name, values))
            case .sequence(.integers(let values)): sequences.append((name, values.map(String.init)))
            }
        }
        let count = sequences.first?.cells.count ?? 0
        if sequences.count > 1, sequences.allSatisfy({ $0.cells.count == count }) {
            // Such as tokens and their tags, which correspond one to one.
            var table = Table()
            table.add(sequences.map(\.name))
            for index in 0..<count { table.add(sequences.map { $0.cells[index] }) }
            lines.append(table.text(indent: ""))
        } else {
            lines += sequences.map { "\($0.name): \($0.cells.joined(separator: " "))" }
        }
        return lines.joined(separator: "\n")
    }

    private func ranking(_ name: String, _ values: [(label: String, value: Double)]) -> String {
        let sorted = values.sorted { ($1.value, $0.label) < ($0.value, $1.label) }
        let areShares = values.allSatisfy { (0...1.000_001).contains($0.value) }
        var table = Table(rightAligned: [1])
        for (label, value) in sorted.prefix(top) {
            if areShares { table.add(label, share(value), bar(value)) } else { table.add(label, "\(Float(value))") }
        }
        return "\(name):\n" + table.text()
    }

    /// The elements of a small array; type, shape, range and mean of a larger one.
    static func summary(_ tensor: Tensor) -> String {
        let head = "\(tensor.scalarType.milName) \(tensor.shape)"
        guard tensor.scalarType != .string else { return "\(head) \(tensor.strings.prefix(8).joined(separator: ", "))" }
        let values = tensor.values
        if values.count <= 16 { return ([head] + elements(tensor)).joined(separator: " ") }
        let finite = values.filter(\.isFinite)
        guard let minimum = finite.min(), let maximum = finite.max() else { return "\(head), no finite element" }
        let mean = finite.reduce(0, +) / Double(finite.count)
        let odd = values.count - finite.count
        let range = Tensor(values: [minimum, maximum], scalarType: tensor.scalarType, shape: [2])
        return "\(head) from \(elements(range).joined(separator: " to ")), mean \(mean)"
            + (odd > 0 ? ", \(odd) not finite" : "")
    }

    /// Each element with the digits that parse to the same value of its type.
    private static func elements(_ tensor: Tensor) -> [String] {
        switch tensor.scalarType {
        case .float16: tensor.values.map { "\(Float16($0))" }
        case .float32: tensor.values.map { "\(Float($0))" }
        case .int64: tensor.withElements(of: Int64.self) { $0.map { "\($0)" } }
        case .uint64: tensor.withElements(of: UInt64.self) { $0.map { "\($0)" } }
        case .float64: tensor.values.map { "\($0)" }
        default: tensor.values.map { "\(Int($0))" }
        }
    }
}
