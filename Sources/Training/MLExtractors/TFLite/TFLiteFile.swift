import MLNumerics

/// The first graph of a TensorFlow Lite file: its tensors and operators, as the file states them.
struct TFLiteFile {
    struct Tensor {
        enum Scalar: Int8 {
            case float32 = 0
            case float16 = 1
            case int32 = 2
        }

        var name: String
        var shape: [Int]
        /// `nil` for a type that is not read here.
        var scalar: Scalar?
        /// The values of a constant; empty for a value that is computed.
        var content: ArraySlice<UInt8>
        /// The sparse layout of a constant's values.
        var sparsity: Sparsity?

        var count: Int { shape.reduce(1, *) }
    }

    /// The layout of a sparse tensor: its dimensions, with those of blocks behind them, in the order in which they are
    /// traversed.
    struct Sparsity {
        enum Dimension {
            case dense(Int)
            /// Compressed rows: the entries of row `i` are `segments[i]..<segments[i + 1]`, at `indices`.
            case sparse(segments: [Int], indices: [Int])
        }

        var order: [Int]
        var blocks: [Int]
        var dimensions: [Dimension]
    }

    struct Operator {
        /// The number of a built-in operator.
        var code: Int
        var inputs: [Int]
        var outputs: [Int]
        /// The table of options.
        var options: FlatBuffer.Table?
    }

    let buffer: FlatBuffer
    let tensors: [Tensor]
    let operators: [Operator]
    let inputs: [Int]
    let outputs: [Int]

    /// Tensors may have at most this many values, and a file this many tensors and operators.
    static let valueLimit = 1 << 26
    static let entryLimit = 100_000

    /// Reads a file.
    ///
    /// - Throws: `.malformed` for files that are damaged, `.unsupported` for operators of an app's own.
    init(_ bytes: [UInt8], path: String) throws(ModelError) {
        buffer = try FlatBuffer(bytes, path: path)
        guard buffer.isIdentified(as: "TFL3") else {
            throw buffer.damaged("it does not begin with the mark TFL3 of version 3")
        }
        let model = try buffer.root()
        let graphs = try buffer.tables(model, 2, atMost: 1000)
        guard let graph = graphs.first else { throw buffer.damaged("it holds no graph") }
        let contents = try buffer.tables(model, 4, atMost: Self.entryLimit)
        let codes = try buffer.tables(model, 1, atMost: Self.entryLimit)
        var tensors: [Tensor] = []
        for table in try buffer.tables(graph, 0, atMost: Self.entryLimit) {
            tensors.append(try Self.tensor(buffer, table, contents))
        }
        var operators: [Operator] = []
        for table in try buffer.tables(graph, 3, atMost: Self.entryLimit) {
            operators.append(try Self.operation(buffer, table, codes, tensors.count))
        }
        self.tensors = tensors
        self.operators = operators
        inputs = try Self.references(buffer, graph, 1, tensors.count, isOptional: false)
        outputs = try Self.references(buffer, graph, 2, tensors.count, isOptional: false)
    }

    private static func tensor(
        _ buffer: FlatBuffer,
        _ table: FlatBuffer.Table,
        _ contents: [FlatBuffer.Table]
    ) throws(ModelError) -> Tensor {
        let name = try buffer.text(table, 3)
        let shape = try buffer.numbers(table, 0, of: Int32.self) ?? []
        var count = 1
        for extent in shape {
            guard extent > 0, extent <= valueLimit / count else {
                throw buffer.damaged("the tensor '\(name)' has the shape \(shape)")
            }
            count *= extent
        }
        let number: UInt32 = try buffer.number(table, 2, default: 0)
        guard number < contents.count else { throw buffer.damaged("the tensor '\(name)' has no buffer") }
        return Tensor(
            name: name,
            shape: shape,
            scalar: Tensor.Scalar(rawValue: try buffer.number(table, 1, default: 0)),
            content: try buffer.content(contents[Int(number)], 0) ?? [],
            sparsity: try buffer.table(table, 6).map { (table) throws(ModelError) in try sparsity(buffer, table, name) }
        )
    }

    private static func sparsity(
        _ buffer: FlatBuffer,
        _ table: FlatBuffer.Table,
        _ name: String
    ) throws(ModelError) -> Sparsity {
        var dimensions: [Sparsity.Dimension] = []
        for dimension in try buffer.tables(table, 2, atMost: 16) {
            if try buffer.number(dimension, 0, default: Int8(0)) == 0 {
                let size = Int(try buffer.number(dimension, 1, default: Int32(0)))
                guard size > 0, size <= valueLimit else {
                    throw buffer.damaged("the sparse tensor '\(name)' has a dimension of \(size)")
                }
                dimensions.append(.dense(size))
            } else {
                dimensions.append(
                    .sparse(
                        segments: try indices(buffer, dimension, 2, name),
                        indices: try indices(buffer, dimension, 4, name)
                    )
                )
            }
        }
        return Sparsity(
            order: try buffer.numbers(table, 0, of: Int32.self) ?? [],
            blocks: try buffer.numbers(table, 1, of: Int32.self) ?? [],
            dimensions: dimensions
        )
    }

    /// Indices in one of the three widths; the field `field` names the type and the next one holds the table.
    private static func indices(
        _ buffer: FlatBuffer,
        _ table: FlatBuffer.Table,
        _ field: Int,
        _ name: String
    ) throws(ModelError) -> [Int] {
        let type: UInt8 = try buffer.number(table, field, default: 0)
        guard let vector = try buffer.table(table, field + 1) else {
            throw buffer.damaged("the sparse tensor '\(name)' has no indices")
        }
        switch type {
        case 1: return try buffer.numbers(vector, 0, of: Int32.self) ?? []
        case 2: return try buffer.numbers(vector, 0, of: UInt16.self) ?? []
        case 3: return try buffer.numbers(vector, 0, of: UInt8.self) ?? []
        default: throw buffer.damaged("the sparse tensor '\(name)' has indices of the type \(type)")
        }
    }

    private static func operation(
        _ buffer: FlatBuffer,
        _ table: FlatBuffer.Table,
        _ codes: [FlatBuffer.Table],
        _ count: Int
    ) throws(ModelError) -> Operator {
        let number: UInt32 = try buffer.number(table, 0, default: 0)
        guard number < codes.count else { throw buffer.damaged("an operator has no code") }
        let code = codes[Int(number)]
        // Files before version 3a of the schema have only the narrow field.
        let narrow: Int8 = try buffer.number(code, 0, default: 0)
        let wide: Int32 = try buffer.number(code, 3, default: 0)
        return Operator(
            code: max(Int(narrow), Int(wide)),
            inputs: try references(buffer, table, 1, count, isOptional: true),
            outputs: try references(buffer, table, 2, count, isOptional: false),
            options: try buffer.table(table, 4)
        )
    }

    /// Numbers of tensors; each exists, or is −1 where an input may be left out.
    private static func references(
        _ buffer: FlatBuffer,
        _ table: FlatBuffer.Table,
        _ field: Int,
        _ count: Int,
        isOptional: Bool
    ) throws(ModelError) -> [Int] {
        let numbers = try buffer.numbers(table, field, of: Int32.self) ?? []
        for number in numbers where number >= count || number < (isOptional ? -1 : 0) {
            throw buffer.damaged("the tensor \(number) does not exist")
        }
        return numbers
    }
}
