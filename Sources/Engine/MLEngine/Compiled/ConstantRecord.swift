import MLFiles
import MLGraph
import MLNumerics
import MLOperators

/// The location of a constant of a compiled model.
enum ConstantLocation: Hashable, Sendable {
    /// In the compiled file itself, at an offset from the start of its constants.
    case section(Int)
    /// In a weight file beside it; where packed forms of a constant with `isPacked` exist, they replace it.
    case weights(file: Int, byteOffset: Int, isPacked: Bool)
    /// In the record itself.
    case strings([String])
    /// Not stored: packed forms replace it.
    case packedOnly
    /// Computed when it is needed, by an operator from earlier constants: compressed weights.
    case deferred(type: String, attributes: ValueTree, operands: [Int?])
}

/// One constant of a compiled model.
struct ConstantRecord: Hashable, Sendable {
    let scalarType: ScalarType
    let shape: [Int]
    let location: ConstantLocation

    func write(to writer: inout BinaryWriter) {
        writer.text(scalarType.milName)
        writer.unsigned(shape.count)
        for extent in shape { writer.unsigned(extent) }
        switch location {
        case .section(let offset):
            writer.byte(0)
            writer.unsigned(offset)
        case .weights(let file, let offset, let isPacked):
            writer.byte(isPacked ? 4 : 1)
            writer.unsigned(file)
            writer.unsigned(offset)
        case .strings(let strings):
            writer.byte(2)
            writer.unsigned(strings.count)
            for string in strings { writer.text(string) }
        case .packedOnly: writer.byte(3)
        case .deferred(let type, let attributes, let operands):
            writer.byte(5)
            writer.text(type)
            attributes.write(to: &writer)
            writer.unsigned(operands.count)
            for operand in operands { writer.unsigned(operand.map { $0 + 1 } ?? 0) }
        }
    }

    init(scalarType: ScalarType, shape: [Int], location: ConstantLocation) {
        self.scalarType = scalarType
        self.shape = shape
        self.location = location
    }

    init(from reader: inout BinaryReader) throws(ModelError) {
        let name = try reader.text()
        guard let scalarType = ScalarType(milName: name) else {
            throw BinaryReader.malformed("'\(name)' is not a scalar type")
        }
        self.scalarType = scalarType
        var shape: [Int] = []
        for _ in 0..<(try reader.count()) { shape.append(try reader.unsigned()) }
        _ = try shape.checkedElementCount()
        self.shape = shape
        let kind = try reader.byte()
        switch kind {
        case 0: location = .section(try reader.unsigned())
        case 1, 4:
            let (file, offset) = (try reader.unsigned(), try reader.unsigned())
            location = .weights(file: file, byteOffset: offset, isPacked: kind == 4)
        case 2:
            var strings: [String] = []
            for _ in 0..<(try reader.count()) { strings.append(try reader.text()) }
            location = .strings(strings)
        case 3: location = .packedOnly
        case 5:
            let type = try reader.text()
            let attributes = try ValueTree(from: &reader)
            var operands: [Int?] = []
            for _ in 0..<(try reader.count()) {
                let number = try reader.unsigned()
                operands.append(number == 0 ? nil : number - 1)
            }
            location = .deferred(type: type, attributes: attributes, operands: operands)
        default: throw BinaryReader.malformed("\(kind) is not a location of a constant")
        }
    }

    /// The constant, in the memory of the file that holds it.
    ///
    /// `section` is the compiled file, whose constants start at `constants`; `earlier` are the constants before this
    /// one; `weights` returns a weight file by its number, or `nil` for one that is needed only in packed forms.
    func tensor(
        section: TensorStorage,
        constants: Range<Int>,
        earlier: [Tensor],
        weights: (_ file: Int, _ isPacked: Bool) throws(ModelError) -> WeightFile?
    ) throws(ModelError) -> Tensor {
        switch location {
        case .section(let offset): return try tensor(in: section, constants, at: offset)
        case .weights(let file, let offset, let isPacked):
            guard let storage = try weights(file, isPacked)?.storage else { return try unloadedTensor() }
            return try tensor(in: storage, 0..<storage.byteCount, at: offset)
        case .strings(let strings):
            guard scalarType == .string, strings.count == shape.elementCount else {
                throw BinaryReader.malformed("\(strings.count) strings for shape \(shape)")
            }
            return Tensor(strings: strings, shape: shape)
        case .packedOnly: return try unloadedTensor()
        case .deferred(let type, let attributes, let operands):
            return try deferred(type, attributes, operands, earlier)
        }
    }

    private func deferred(
        _ name: String,
        _ attributes: ValueTree,
        _ operands: [Int?],
        _ earlier: [Tensor]
    ) throws(ModelError) -> Tensor {
        guard let type = Catalogue.writtenOperators[name] else {
            throw ModelError(.malformed, "'\(name)' is not an operator known here; compile the model again.")
        }
        func decoded<O: Operator>(_: O.Type) throws(ModelError) -> any Operator { try attributes.decoded(as: O.self) }
        let op = try decoded(type)
        var tensors: [Tensor?] = []
        for operand in operands {
            guard operand.map({ earlier.indices.contains($0) }) ?? true else {
                throw BinaryReader.malformed("a constant is computed from one that does not come before it")
            }
            tensors.append(operand.map { earlier[$0] })
        }
        let known = tensors.map { tensor in
            tensor.map { Operands.Operand(type: ValueType($0.scalarType, Shape($0.shape))) }
        }
        let types = try op.resultTypes(of: Operands(known))
        guard types == [ValueType(scalarType, Shape(shape))],
            let tensor = DeferredResult.results(of: op, tensors, types)?.first
        else { throw BinaryReader.malformed("'\(name)' does not compute the constant that is recorded") }
        return tensor
    }

    private func unloadedTensor() throws(ModelError) -> Tensor {
        let byteCount = scalarType.byteCount(of: shape.elementCount)
        guard scalarType != .string, let storage = TensorStorage(absent: byteCount) else {
            throw BinaryReader.malformed("there is no room for a constant of \(byteCount) bytes")
        }
        return Tensor(scalarType: scalarType, shape: shape, storage: storage)
    }

    private func tensor(
        in storage: TensorStorage,
        _ range: Range<Int>,
        at offset: Int
    ) throws(ModelError) -> Tensor {
        let byteCount = scalarType.byteCount(of: shape.elementCount)
        guard scalarType != .string, offset <= range.count, byteCount <= range.count - offset,
            (Int(bitPattern: storage.address) + range.lowerBound + offset) % max(scalarType.bitWidth / 8, 1) == 0
        else { throw BinaryReader.malformed("a constant of \(byteCount) bytes is not inside the file") }
        return Tensor(
            scalarType: scalarType,
            shape: shape,
            storage: storage,
            byteOffset: range.lowerBound + offset
        )
    }
}
