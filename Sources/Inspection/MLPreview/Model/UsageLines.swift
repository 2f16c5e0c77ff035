package import MLSpecification

/// Example code that makes the same prediction as the page, generated from a model's interface.
package struct UsageLines: Sendable {
    private let path: String
    private let interface: SpecModelDescription
    private let kind: PreviewKind

    /// Writes the examples for a model.
    ///
    /// - Parameters:
    ///   - path: The model's file or folder.
    ///   - interface: The model's interface.
    ///   - kind: The kind of preview, on which the examples depend.
    package init(path: String, interface: SpecModelDescription, kind: PreviewKind) {
        self.path = path
        self.interface = interface
        self.kind = kind
    }

    private var inputs: [SpecFeatureDescription] { interface.input.filter { !$0.type.isOptional } }

    // MARK: Swift

    /// A whole program.
    package var swift: String {
        var lines = ["import CoreML", "import Foundation", ""]
        lines.append("let model = try MLModel(contentsOf: URL(fileURLWithPath: \(Self.quoted(path))))")
        var entries: [String] = []
        for (index, input) in inputs.enumerated() {
            let name = Self.quoted(input.name)
            switch input.type.type {
            case .imageType?:
                let variable = index == 0 ? "picture" : "picture\(index + 1)"
                lines.append("let \(variable) = try MLFeatureValue(")
                lines.append("    imageAt: URL(fileURLWithPath: \"picture.jpg\"),")
                lines.append(
                    "    constraint: model.modelDescription.inputDescriptionsByName[\(name)]!.imageConstraint!"
                )
                lines.append(")")
                entries.append("    \(name): \(variable),")
            case .multiArrayType(let array)?:
                let variable = index == 0 ? "array" : "array\(index + 1)"
                lines.append(Self.arrayLine(variable, array))
                entries.append("    \(name): MLFeatureValue(multiArray: \(variable)),")
            case .int64Type?: entries.append("    \(name): MLFeatureValue(int64: 1),")
            case .doubleType?: entries.append("    \(name): MLFeatureValue(double: 0.5),")
            case .stringType?: entries.append("    \(name): MLFeatureValue(string: \"text\"),")
            case .dictionaryType(let type)?:
                if case .int64KeyType? = type.keyType {
                    entries.append("    \(name): try MLFeatureValue(dictionary: [1: 1.0]),")
                } else {
                    entries.append("    \(name): try MLFeatureValue(dictionary: [\"key\": 1.0]),")
                }
            case .sequenceType(let type)?:
                if case .int64Type? = type.type {
                    entries.append("    \(name): MLFeatureValue(sequence: MLSequence(int64s: [1, 2])),")
                } else {
                    entries.append("    \(name): MLFeatureValue(sequence: MLSequence(strings: [\"a\", \"b\"])),")
                }
            case .stateType?, nil: break
            }
        }
        lines.append("let inputs = try MLDictionaryFeatureProvider(dictionary: [")
        lines += entries.isEmpty ? ["    :"] : entries
        lines.append("])")
        if interface.state.isEmpty {
            lines.append("let outputs = try model.prediction(from: inputs)")
        } else {
            lines.append("let state = model.makeState()")
            lines.append("let outputs = try model.prediction(from: inputs, using: state)")
        }
        for output in interface.output { lines.append(Self.printLine(output)) }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func arrayLine(_ variable: String, _ array: SpecArrayFeatureType) -> String {
        let shape = sampleShape(array).map(String.init).joined(separator: ", ")
        let scalar =
            switch array.dataType {
            case .int32: "Int32"
            case .int8: "Int8"
            case .double: "Double"
            case .float16: "Float16"
            default: "Float"
            }
        return "let \(variable) = MLMultiArray(MLShapedArray<\(scalar)>(repeating: 0, shape: [\(shape)]))"
    }

    private static func printLine(_ output: SpecFeatureDescription) -> String {
        let value = "outputs.featureValue(for: \(quoted(output.name)))!"
        switch output.type.type {
        case .int64Type?: return "print(\(value).int64Value)"
        case .doubleType?: return "print(\(value).doubleValue)"
        case .stringType?: return "print(\(value).stringValue)"
        case .dictionaryType?: return "print(\(value).dictionaryValue)"
        case .multiArrayType?: return "print(\(value).multiArrayValue!)"
        case .imageType?: return "print(\(value).imageBufferValue!)"
        case .sequenceType?: return "print(\(value).sequenceValue!)"
        case .stateType?, nil: return "print(\(value))"
        }
    }

    // MARK: Python

    /// A whole program for coremltools.
    package var python: String {
        var lines = ["import coremltools as ct"]
        if inputs.contains(where: \.isArray) { lines.append("import numpy as np") }
        if inputs.contains(where: \.isImage) { lines.append("from PIL import Image") }
        lines += ["", "model = ct.models.MLModel(\(Self.quoted(path)))", "inputs = {"]
        for input in inputs { lines.append("    \(Self.quoted(input.name)): \(Self.pythonValue(input)),") }
        lines.append("}")
        if interface.state.isEmpty {
            lines.append("outputs = model.predict(inputs)")
        } else {
            lines.append("outputs = model.predict(inputs, state=model.make_state())")
        }
        for output in interface.output { lines.append("print(outputs[\(Self.quoted(output.name))])") }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func pythonValue(_ input: SpecFeatureDescription) -> String {
        switch input.type.type {
        case .imageType(let image)?:
            let mode = input.isGrayImage ? "L" : "RGB"
            return "Image.open(\"picture.jpg\").convert(\"\(mode)\").resize((\(image.width), \(image.height)))"
        case .multiArrayType(let array)?:
            let shape = sampleShape(array)
            let extents = shape.map(String.init).joined(separator: ", ") + (shape.count == 1 ? "," : "")
            let type =
                switch array.dataType {
                case .int32: "int32"
                case .int8: "int8"
                case .double: "float64"
                case .float16: "float16"
                default: "float32"
                }
            return "np.zeros((\(extents)), dtype=np.\(type))"
        case .int64Type?: return "1"
        case .doubleType?: return "0.5"
        case .stringType?: return "\"text\""
        case .dictionaryType(let type)?:
            if case .int64KeyType? = type.keyType { return "{1: 1.0}" }
            return "{\"key\": 1.0}"
        case .sequenceType(let type)?:
            if case .int64Type? = type.type { return "[1, 2]" }
            return "[\"a\", \"b\"]"
        case .stateType?, nil: return "None"
        }
    }

    // MARK: Shell

    /// A command.
    package var shell: String {
        let start = "coreml predict \(Self.shellWord(path))"
        switch kind {
        case .soundClassifier: return "\(start) sound.wav --windows\n"
        case .activityClassifier: return "\(start) recording.csv --windows\n"
        case .keypointClassifier: return "\(start) points.json --windows\n"
        case .textClassifier, .wordTagger: return "\(start) --text 'Some text'\n"
        case .recommender: return "\(start) --items ITEM --k 5\n"
        default: break
        }
        let pictures = inputs.filter(\.isImage)
        if inputs.count == 1, pictures.count == 1 {
            let makesPictures = interface.output.contains(where: \.isImage)
            return "\(start) picture.jpg\(makesPictures ? " -o result.png" : "")\n"
        }
        let values = inputs.map { input in
            " \\\n  -i " + Self.shellWord("\(input.name)=\(Self.shellValue(input))")
        }
        return start + values.joined() + "\n"
    }

    private static func shellValue(_ input: SpecFeatureDescription) -> String {
        switch input.type.type {
        case .imageType?: return "picture.jpg"
        case .multiArrayType(let array)?:
            let shape = sampleShape(array)
            let count = shape.reduce(1) { $0.multipliedReportingOverflow(by: $1).overflow ? Int.max : $0 * $1 }
            guard shape.count == 1, count <= 16 else { return "array.npy" }
            return "[\([String](repeating: "0", count: count).joined(separator: ", "))]"
        case .int64Type?: return "1"
        case .doubleType?: return "0.5"
        case .stringType?: return "text"
        case .dictionaryType(let type)?:
            if case .int64KeyType? = type.keyType { return #"{"1": 1}"# }
            return #"{"key": 1}"#
        case .sequenceType(let type)?:
            if case .int64Type? = type.type { return "[1, 2]" }
            return #"["a", "b"]"#
        case .stateType?, nil: return ""
        }
    }

    // MARK: Parts

    /// An allowed shape of the input.
    package static func sampleShape(_ array: SpecArrayFeatureType) -> [Int] {
        if !array.shape.isEmpty { return array.shape.map { Int(clamping: $0) } }
        switch array.shapeFlexibility {
        case .enumeratedShapes(let all)?: return all.shapes.first?.shape.map { Int(clamping: $0) } ?? []
        case .shapeRange(let range)?: return range.sizeRanges.map { max(Int(clamping: $0.lowerBound), 1) }
        case nil: return []
        }
    }

    /// A string literal in both Swift and Python.
    static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }

    static func shellWord(_ text: String) -> String {
        let isPlain =
            !text.isEmpty
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"):
                    true
                default: "/._-+=:,@%".utf8.contains(byte)
                }
            }
        if isPlain { return text }
        var result = "'"
        for character in text { result += character == "'" ? "'\\''" : String(character) }
        return result + "'"
    }
}
