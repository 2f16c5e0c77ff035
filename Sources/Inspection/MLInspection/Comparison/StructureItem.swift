import MLFeatureFiles
import MLFiles
import MLGraph
import MLLowering
import MLNumerics
import MLSpecification
import SwiftProtobuf

/// An operation or a layer in comparable form.
struct StructureItem {
    let name: String
    let kind: String
    /// The attributes other than wiring and weights, by name, in order.
    let attributes: [String: String]
    /// Properties that may differ without making it another operation: the element types of results.
    let types: [String: String]
    /// The operands that come from earlier operations or inputs, by argument.
    let inputs: [(argument: String, value: String)]
    let outputs: [String]
    /// The parameter tensors among its operands, by argument.
    let parameters: [(argument: String, tensor: String)]

    /// Equal for items with the same attributes, whatever their names are.
    var signature: String {
        let parts = attributes.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        return kind + "|" + parts.joined(separator: "|") + "|" + inputs.map(\.argument).joined(separator: ",") + "|"
            + parameters.map(\.argument).joined(separator: ",")
    }
}

/// A unit of comparison: a function of a program, or a network.
struct StructureList {
    /// The name in the model: a function's name, empty for a network.
    let name: String
    let items: [StructureItem]
    let tensors: [String: ParameterTensor]
    /// The names of tensors in their order.
    let tensorNames: [String]

    init(name: String, items: [StructureItem], tensors: [ParameterTensor]) {
        self.name = name
        self.items = items
        self.tensors = Dictionary(tensors.map { ($0.name, $0) }) { first, _ in first }
        tensorNames = tensors.map(\.name)
    }

    /// The lists of a model that is a graph; `nil` for other models.
    static func lists(of file: ModelFile) -> [StructureList]? {
        if let layers = file.specification.networkLayers {
            return [StructureList(name: "", items: items(layers, inside: ""), tensors: file.parameterTensors())]
        }
        guard case .mlProgram(let program)? = file.specification.type else { return nil }
        return program.functions.sorted { $0.key < $1.key }.map { name, function in
            let constants = ProgramConstants(file, function)
            let tensors = constants.parameterTensors()
            var items: [StructureItem] = []
            function.blockSpecializations[function.opset]?.forEachOperation { operation in
                guard operation.type != "const", !operation.isConstantExpression else { return }
                items.append(StructureItem(operation, file, constants, parameters: Set(tensors.map(\.name))))
            }
            return StructureList(name: name, items: items, tensors: tensors)
        }
    }

    private static func items(_ layers: [SpecNeuralNetworkLayer], inside prefix: String) -> [StructureItem] {
        layers.enumerated().flatMap { index, layer in
            let name = prefix + (layer.name.isEmpty ? "layers[\(index)]" : layer.name)
            return [StructureItem(layer, named: name)] + items(layer.nestedLayers, inside: name + " › ")
        }
    }
}

extension StructureItem {
    /// Describes an operation of an ML program.
    ///
    /// - Parameters:
    ///   - operation: The operation.
    ///   - file: The model that contains it.
    ///   - constants: The constants of the program.
    ///   - names: The names of the constants that count as learned parameters.
    init(
        _ operation: MILOperation,
        _ file: ModelFile,
        _ constants: ProgramConstants,
        parameters names: Set<String>
    ) {
        var attributes: [String: String] = [:]
        var inputs: [(String, String)] = []
        var parameters: [(String, String)] = []
        for (name, value) in operation.attributes where name != "name" { attributes[name] = Self.text(value, file) }
        for (name, argument) in operation.inputs.sorted(by: { $0.key < $1.key }) {
            let isList = argument.arguments.count > 1
            for (index, binding) in argument.arguments.enumerated() {
                let location = isList ? "\(name)[\(index)]" : name
                switch binding.binding {
                case .name(let source)? where names.contains(source): parameters.append((location, source))
                case .name(let source)? where constants.isConstant(source):
                    attributes[location] = (try? constants.tensor(named: source)).map(Self.text) ?? "constant"
                case .name(let source)?: inputs.append((location, source))
                case .value(let value)?: attributes[location] = Self.text(value, file)
                case nil: break
                }
            }
        }
        var types: [String: String] = [:]
        for (index, output) in operation.outputs.enumerated() {
            let location = operation.outputs.count > 1 ? "result \(index)" : "result"
            guard let type = try? ValueType(output.type) else { continue }
            attributes[location] = "[\(type.shape.map(\.description).joined(separator: ", "))]"
            types["\(location) type"] = type.scalarType.milName
        }
        self.init(
            name: operation.outputs.first?.name ?? "",
            kind: operation.type,
            attributes: attributes,
            types: types,
            inputs: inputs,
            outputs: operation.outputs.map(\.name),
            parameters: parameters
        )
    }

    init(_ layer: SpecNeuralNetworkLayer, named name: String) {
        var bare = layer.withoutWeights
        switch bare.layer {
        case .branch?: bare.branch = SpecBranchLayerParams()
        case .loop(var loop)?:
            loop.conditionNetwork = SpecNeuralNetwork()
            loop.bodyNetwork = SpecNeuralNetwork()
            bare.loop = loop
        default: break
        }
        (bare.name, bare.input, bare.output) = ("", [], [])
        var attributes: [String: String] = [:]
        for (path, value) in FieldTree(bare).leaves { attributes[path] = value.text }
        self.init(
            name: name,
            kind: layer.kindName,
            attributes: attributes,
            types: [:],
            inputs: layer.input.enumerated().map { ("input \($0)", $1) },
            outputs: layer.output,
            parameters: layer.weightFields.filter { !layer[keyPath: $0.path].isEmpty }
                .map { ($0.name, "\(name).\($0.name)") }
        )
    }

    private static let maximumItemCount = 16

    private static func text(_ value: MILValue, _ file: ModelFile) -> String {
        guard let tensor = try? file.tensor(of: value) else {
            let elements = value.immediateValue.list.values
            return elements.isEmpty
                ? "constant" : elements.prefix(maximumItemCount).map { text($0, file) }.joined(separator: ", ")
        }
        return text(tensor)
    }

    /// The contents of a small constant; for a large one its shape and a hash of its contents.
    private static func text(_ tensor: Tensor?) -> String {
        guard let tensor else { return "constant" }
        let texts =
            tensor.scalarType == .string
            ? tensor.strings : tensor.count <= maximumItemCount ? tensor.values.map(Self.number) : []
        guard tensor.count <= maximumItemCount else {
            var hash: UInt64 = 0xCBF2_9CE4_8422_2325
            func add(_ bits: UInt64) { hash = (hash ^ bits) &* 0x100_0000_01B3 }
            if tensor.scalarType == .string {
                for text in texts { for byte in text.utf8 { add(UInt64(byte)) } }
            } else {
                for value in tensor.values { add(value.bitPattern) }
            }
            return "\(tensor.scalarType.milName) \(tensor.shape) #\(String(hash, radix: 16).prefix(8))"
        }
        return tensor.shape.isEmpty ? texts.joined() : "[\(texts.joined(separator: ", "))]"
    }

    private static func number(_ value: Double) -> String {
        value == value.rounded() && abs(value) < 1e15 ? "\(Int64(value))" : Float(value).description
    }
}
