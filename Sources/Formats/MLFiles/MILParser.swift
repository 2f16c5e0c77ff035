package import MLNumerics
package import MLSpecification

/// Parses the MIL text that `MILPrinter` writes and that compiled models have as `model.mil`.
package struct MILParser {
    private var lexer: MILLexer
    private var token = MILLexer.Token.end
    private var following = MILLexer.Token.end
    /// The offsets of `token` and `following`.
    private var locations = (0, 0)
    private static let maximumDepth = 60

    private init(_ text: [UInt8]) throws(ModelError) {
        lexer = MILLexer(text)
        try advance()
        try advance()
    }

    /// Parses a program; errors name line and column.
    package static func program(_ text: [UInt8]) throws(ModelError) -> MILProgram {
        var parser = try MILParser(text)
        return try parser.program()
    }

    private mutating func program() throws(ModelError) -> MILProgram {
        var program = MILProgram()
        try expect(name: "program")
        try expect("(")
        _ = try number()
        try expect(")")
        program.version = 1
        program.attributes = try attributes()
        try expect("{")
        while try !take("}") {
            try expect(name: "func")
            let name = try identifier("the name of a function")
            guard program.functions[name] == nil else { throw error("the function \(name) occurs twice") }
            program.functions[name] = try function()
        }
        guard token == .end else { throw unexpected("the end of the text") }
        return program
    }

    private mutating func function() throws(ModelError) -> MILFunction {
        var function = MILFunction()
        try expect("<")
        let opset = try identifier("an opset")
        function.opset = MILOpset(textName: opset)?.name ?? opset
        try expect(">")
        function.inputs = try parameters()
        function.attributes = try attributes()
        function.blockSpecializations[function.opset] = try body(depth: 0)
        return function
    }

    private mutating func parameters() throws(ModelError) -> [MILNamedValueType] {
        try expect("(")
        var parameters: [MILNamedValueType] = []
        if try take(")") { return parameters }
        repeat { parameters.append(try typedName()) } while try take(",")
        try expect(")")
        return parameters
    }

    private mutating func typedName() throws(ModelError) -> MILNamedValueType {
        var parameter = MILNamedValueType()
        parameter.type = try type(depth: 0)
        parameter.name = try identifier("a name")
        return parameter
    }

    /// Parses the body of a block: `{ operations } -> (results);`.
    private mutating func body(depth: Int) throws(ModelError) -> MILBlock {
        guard depth < Self.maximumDepth else {
            throw error("blocks are nested deeper than \(Self.maximumDepth) levels")
        }
        var block = MILBlock()
        try expect("{")
        while try !take("}") { block.operations.append(try operation(depth: depth)) }
        guard token == .arrow else { throw unexpected("->") }
        try advance()
        try expect("(")
        if try !take(")") {
            repeat { block.outputs.append(try identifier("the name of a result")) } while try take(",")
            try expect(")")
        }
        try expect(";")
        return block
    }

    private mutating func operation(depth: Int) throws(ModelError) -> MILOperation {
        var operation = MILOperation()
        if following != .punctuation("(") {
            repeat { operation.outputs.append(try typedName()) } while try take(",")
            try expect("=")
        }
        operation.type = try identifier("the name of an operation")
        try expect("(")
        if try !take(")") {
            repeat {
                let name = try identifier("the name of an operand")
                guard operation.inputs[name] == nil else { throw error("the operand \(name) occurs twice") }
                try expect("=")
                operation.inputs[name] = try argument()
            } while try take(",")
            try expect(")")
        }
        operation.attributes = try attributes()
        if try take("{") {
            while try !take("}") {
                let inputs = try parameters()
                var block = try body(depth: depth + 1)
                block.inputs = inputs
                operation.blocks.append(block)
            }
        }
        try expect(";")
        return operation
    }

    private mutating func argument() throws(ModelError) -> MILArgument {
        var argument = MILArgument()
        guard try take("(") else {
            argument.arguments = [try binding()]
            return argument
        }
        if try take(")") { return argument }
        repeat { argument.arguments.append(try binding()) } while try take(",")
        try expect(")")
        return argument
    }

    private mutating func binding() throws(ModelError) -> MILArgument.Binding {
        var binding = MILArgument.Binding()
        if case .name = token, following == .punctuation("<") || following == .punctuation("(") {
            binding.value = try value()
        } else {
            binding.name = try identifier("a name or a value")
        }
        return binding
    }

    private mutating func attributes() throws(ModelError) -> [String: MILValue] {
        var attributes: [String: MILValue] = [:]
        guard try take("[") else { return attributes }
        if try take("]") { return attributes }
        repeat {
            let name = try identifier("the name of an attribute")
            guard attributes[name] == nil else { throw error("the attribute \(name) occurs twice") }
            try expect("=")
            attributes[name] = try value()
        } while try take(",")
        try expect("]")
        return attributes
    }
}

extension MILParser {
    /// The current token.
    var current: MILLexer.Token { token }

    mutating func advance() throws(ModelError) {
        token = following
        locations.0 = locations.1
        following = try lexer.next()
        locations.1 = lexer.start
    }

    mutating func take(_ character: Character) throws(ModelError) -> Bool {
        guard token == .punctuation(character) else { return false }
        try advance()
        return true
    }

    mutating func expect(_ character: Character) throws(ModelError) {
        guard try take(character) else { throw unexpected(String(character)) }
    }

    mutating func expect(name: String) throws(ModelError) {
        guard token == .name(name) else { throw unexpected(name) }
        try advance()
    }

    /// Parses a name, plain or in quotes.
    mutating func identifier(_ detail: String) throws(ModelError) -> String {
        switch token {
        case .name(let name), .text(let name):
            try advance()
            return name
        default: throw unexpected(detail)
        }
    }

    /// Parses the digits of a number, or a word that stands for one (`inf`, `true`).
    mutating func number() throws(ModelError) -> String {
        switch token {
        case .number(let number), .name(let number):
            try advance()
            return number
        default: throw unexpected("a number")
        }
    }

    func unexpected(_ expected: String) -> ModelError {
        error("\(expected) was expected, but \(token.description.prefix(80)) was found")
    }

    func error(_ detail: String) -> ModelError {
        ModelError(.malformed, "The MIL text is broken: \(detail).", at: lexer.location(locations.0))
    }
}
