import Foundation
import MLEngine
import MLNumerics
import MLSpecification

/// A prediction as a person reads it.
enum PredictionText {
    static func text(_ outputs: [String: FeatureData], _ interface: SpecModelDescription, top: Int) throws -> String {
        var lines: [String] = []
        let order = interface.output.map(\.name) + outputs.keys.sorted()
        var seen: Set<String> = []
        for name in order where seen.insert(name).inserted {
            guard let data = outputs[name] else { continue }
            switch data {
            case .int64(let value): lines.append("\(name): \(value)")
            case .double(let value): lines.append("\(name): \(Float(value))")
            case .string(let value): lines.append("\(name): \(value)")
            case .tensor(let tensor): lines.append("\(name): \(summary(tensor))")
            case .image(let image):
                let path = try OutputWriter.writeImage(image, named: name)
                lines.append("\(name): image of \(image.width) × \(image.height), written to \(path)")
            case .dictionary(.strings(let values)): lines.append(ranking(name, values.map { ($0, $1) }, top))
            case .dictionary(.integers(let values)): lines.append(ranking(name, values.map { ("\($0)", $1) }, top))
            case .sequence(.strings(let values)): lines.append("\(name): \(values.joined(separator: " "))")
            case .sequence(.integers(let values)):
                lines.append("\(name): \(values.map(String.init).joined(separator: " "))")
            }
        }
        return lines.joined(separator: "\n")
    }

    private static func ranking(_ name: String, _ values: [(label: String, value: Double)], _ top: Int) -> String {
        let sorted = values.sorted { ($1.value, $0.label) < ($0.value, $1.label) }
        var table = Table(rightAligned: [1])
        for (label, value) in sorted.prefix(top) {
            table.add(label, String(format: "%.1f %%", value * 100), bar(value))
        }
        return "\(name):\n" + table.text()
    }

    /// The elements of a small array; type, shape, range and mean of a larger one.
    static func summary(_ tensor: Tensor) -> String {
        let head = "\(tensor.scalarType.milName) \(tensor.shape)"
        guard tensor.scalarType != .string else { return "\(head) \(tensor.strings.prefix(8).joined(separator: ", "))" }
        let values = tensor.values
        if values.count <= 16 { return "\(head) " + values.map { "\(Float($0))" }.joined(separator: " ") }
        let finite = values.filter(\.isFinite)
        guard let least = finite.min(), let greatest = finite.max() else { return "\(head), no finite element" }
        let mean = finite.reduce(0, +) / Double(finite.count)
        let odd = values.count - finite.count
        return "\(head) from \(Float(least)) to \(Float(greatest)), mean \(Float(mean))"
            + (odd > 0 ? ", \(odd) not finite" : "")
    }
}
