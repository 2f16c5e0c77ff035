package import MLNumerics
package import MLSpecification

/// Writes a MIL program as text, in the form of the `model.mil` of a compiled model.
///
/// Operands and attributes are sorted by name; floating-point numbers are hexadecimal and so exact. Programs of opset
/// CoreML8 and later write values of rank 0 by their bare type (`string("valid")`), older ones as tensors
/// (`tensor<string, []>("valid")`). Of a function, the block that its opset selects is written; documentation strings
/// and attributes of types are omitted.
package struct MILPrinter {
    var text = ""
    let hasBareScalars: Bool

    init(hasBareScalars: Bool) { self.hasBareScalars = hasBareScalars }

    /// The text of a program.
    package static func text(_ program: MILProgram) throws(ModelError) -> String {
        let opsets = program.functions.values.map(\.opset)
        let isRecent = opsets.contains { (MILOpset($0)?.number ?? 0) >= 8 }
        var printer = MILPrinter(hasBareScalars: isRecent)
        printer.text = isRecent ? "program(1.3)\n" : "program(1.0)\n"
        if !program.attributes.isEmpty {
            try printer.attributes(program.attributes)
            printer.text += "\n"
        }
        printer.text += "{\n"
        for (name, function) in program.functions.sorted(by: { $0.key < $1.key }) {
            try withErrorContext("function \(name)") { () throws(ModelError) in try printer.function(name, function) }
        }
        printer.text += "}\n"
        return printer.text
    }

    private mutating func function(_ name: String, _ function: MILFunction) throws(ModelError) {
        guard let block = function.blockSpecializations[function.opset] else {
            throw ModelError(
                .invalidModel,
                "The function selects the opset \"\(function.opset)\", but has a block only for "
                    + function.blockSpecializations.keys.sorted().joined(separator: ", ") + "; convert the model again."
            )
        }
        text += "    func \(Self.identifier(name))<\(MILOpset(function.opset)?.textName ?? function.opset)>("
        parameters(function.inputs)
        text += ") "
        if !function.attributes.isEmpty {
            try attributes(function.attributes)
            text += " "
        }
        try body(block, indent: "    ")
        text += ";\n"
    }

    private mutating func parameters(_ inputs: [MILNamedValueType]) {
        for (index, input) in inputs.enumerated() {
            if index > 0 { text += ", " }
            type(input.type)
            text += " " + Self.identifier(input.name)
        }
    }

    private mutating func body(_ block: MILBlock, indent: String) throws(ModelError) {
        guard indent.utf8.count < 4 * 60 else {
            throw ModelError(.unsupported, "Blocks are nested deeper than 60 levels; convert the model again.")
        }
        text += "{\n"
        for operation in block.operations {
            text += indent + "    "
            try self.operation(operation, indent: indent + "    ")
        }
        text += indent + "} -> ("
        text += block.outputs.map(Self.identifier).joined(separator: ", ") + ")"
    }

    private mutating func operation(_ operation: MILOperation, indent: String) throws(ModelError) {
        for (index, output) in operation.outputs.enumerated() {
            if index > 0 { text += ", " }
            type(output.type)
            text += " " + Self.identifier(output.name)
        }
        if !operation.outputs.isEmpty { text += " = " }
        text += Self.identifier(operation.type) + "("
        for (index, (name, argument)) in operation.inputs.sorted(by: { $0.key < $1.key }).enumerated() {
            if index > 0 { text += ", " }
            text += Self.identifier(name) + " = "
            if argument.arguments.count != 1 { text += "(" }
            for (position, binding) in argument.arguments.enumerated() {
                if position > 0 { text += ", " }
                switch binding.binding {
                case .name(let name)?: text += Self.identifier(name)
                case .value(let constant)?: try value(constant)
                case nil:
                    throw ModelError(.malformed, "The operand \(name) is bound to nothing; convert the model again.")
                }
            }
            if argument.arguments.count != 1 { text += ")" }
        }
        text += ")"
        if !operation.attributes.isEmpty { try attributes(operation.attributes) }
        if !operation.blocks.isEmpty {
            text += " {\n"
            for block in operation.blocks {
                text += indent + "    ("
                parameters(block.inputs)
                text += ") "
                try body(block, indent: indent + "    ")
                text += ";\n"
            }
            text += indent + "}"
        }
        text += ";\n"
    }

    private mutating func attributes(_ attributes: [String: MILValue]) throws(ModelError) {
        text += "["
        for (index, (name, constant)) in attributes.sorted(by: { $0.key < $1.key }).enumerated() {
            if index > 0 { text += ", " }
            text += Self.identifier(name) + " = "
            try value(constant)
        }
        text += "]"
    }

    /// A name as it is when it is a plain identifier, otherwise in quotes.
    static func identifier(_ name: String) -> String {
        let isPlain = !name.isEmpty && name.utf8.first.map { !isDigit($0) } == true && name.utf8.allSatisfy(isPart)
        return isPlain ? name : quoted(name)
    }

    static func isDigit(_ byte: UInt8) -> Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte }

    static func isPart(_ byte: UInt8) -> Bool {
        let lower = byte | 0x20
        return UInt8(ascii: "a")...UInt8(ascii: "z") ~= lower || isDigit(byte) || byte == UInt8(ascii: "_")
    }

    static func quoted(_ string: String) -> String {
        var result = "\""
        for scalar in string.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            case "\0": result += "\\0"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}
