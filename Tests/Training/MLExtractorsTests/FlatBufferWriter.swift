/// Values of a FlatBuffer, to be written by tests.
indirect enum Flat {
    case int8(Int8)
    case uint8(UInt8)
    case int32(Int32)
    case uint32(UInt32)
    case table([Int: Flat])
    case tables([Flat])
    case ints([Int32])
    case uint16s([UInt16])
    case bytes([UInt8])
    case text(String)

    /// A whole buffer with this table as its root.
    func buffer(_ identifier: String = "TFL3") -> [UInt8] {
        var bytes: [UInt8] = [0, 0, 0, 0] + Array(identifier.utf8)
        let root = write(&bytes)
        Self.patch(&bytes, 0, root)
        return bytes
    }

    private static func patch(_ bytes: inout [UInt8], _ place: Int, _ target: Int) {
        for (index, byte) in little(UInt32(target - place)).enumerated() { bytes[place + index] = byte }
    }

    private static func little<Number: FixedWidthInteger>(_ number: Number) -> [UInt8] {
        withUnsafeBytes(of: number.littleEndian) { Array($0) }
    }

    /// Appends a table or list, and returns its place.
    private func write(_ bytes: inout [UInt8]) -> Int {
        while bytes.count % 4 != 0 { bytes.append(0) }
        switch self {
        case .table(let fields):
            let numbers = fields.keys.sorted()
            let start = bytes.count
            bytes +=
                Self.little(UInt16(4 + 2 * ((numbers.last ?? -1) + 1))) + Self.little(UInt16(4 + 4 * numbers.count))
            for number in 0..<(numbers.last ?? -1) + 1 {
                let index = numbers.firstIndex(of: number)
                bytes += Self.little(UInt16(index.map { 4 + 4 * $0 } ?? 0))
            }
            while bytes.count % 4 != 0 { bytes.append(0) }
            let place = bytes.count
            bytes += Self.little(Int32(place - start))
            bytes += [UInt8](repeating: 0, count: 4 * numbers.count)
            for (index, number) in numbers.enumerated() {
                let slot = place + 4 + 4 * index
                var scalar: [UInt8] = []
                switch fields[number] {
                case .int8(let value)?: scalar = Self.little(value)
                case .uint8(let value)?: scalar = [value]
                case .int32(let value)?: scalar = Self.little(value)
                case .uint32(let value)?: scalar = Self.little(value)
                case let other?: Self.patch(&bytes, slot, other.write(&bytes))
                case nil: break
                }
                for (offset, byte) in scalar.enumerated() { bytes[slot + offset] = byte }
            }
            return place
        case .tables(let tables):
            let place = bytes.count
            bytes += Self.little(UInt32(tables.count)) + [UInt8](repeating: 0, count: 4 * tables.count)
            for (index, table) in tables.enumerated() {
                let target = table.write(&bytes)
                Self.patch(&bytes, place + 4 + 4 * index, target)
            }
            return place
        case .ints(let values): return Self.list(&bytes, values.count, values.flatMap { Self.little($0) })
        case .uint16s(let values): return Self.list(&bytes, values.count, values.flatMap { Self.little($0) })
        case .bytes(let values): return Self.list(&bytes, values.count, values)
        case .text(let text): return Self.list(&bytes, text.utf8.count, Array(text.utf8) + [0])
        default: preconditionFailure("a number is part of a table")
        }
    }

    private static func list(_ bytes: inout [UInt8], _ count: Int, _ content: [UInt8]) -> Int {
        let place = bytes.count
        bytes += little(UInt32(count)) + content
        return place
    }
}

/// A TensorFlow Lite network that tests build operator by operator.
struct TFLiteNetwork {
    private var tensors: [Flat] = []
    private var buffers: [Flat] = [.table([:])]
    private var codes: [Int32] = []
    private var operators: [Flat] = []
    var inputs: [Int32] = []
    var outputs: [Int32] = []

    /// Adds a value that is computed, and returns its number.
    mutating func value(_ name: String, _ shape: [Int32], type: Int8 = 0) -> Int32 {
        tensors.append(.table([0: .ints(shape), 1: .int8(type), 2: .uint32(0), 3: .text(name)]))
        return Int32(tensors.count - 1)
    }

    /// Adds a constant of bytes, and returns its number.
    mutating func constant(_ shape: [Int32], type: Int8, _ content: [UInt8], sparsity: Flat? = nil) -> Int32 {
        buffers.append(.table([0: .bytes(content)]))
        var fields: [Int: Flat] = [
            0: .ints(shape), 1: .int8(type), 2: .uint32(UInt32(buffers.count - 1)), 3: .text("constant"),
        ]
        if let sparsity { fields[6] = sparsity }
        tensors.append(.table(fields))
        return Int32(tensors.count - 1)
    }

    mutating func floats(_ shape: [Int32], _ values: [Float]) -> Int32 {
        constant(
            shape,
            type: 0,
            values.flatMap { value in (0..<4).map { UInt8(truncatingIfNeeded: value.bitPattern >> (8 * $0)) } }
        )
    }

    mutating func integers(_ values: [Int32], shape: [Int32]? = nil) -> Int32 {
        let bytes = values.flatMap { value in (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) } }
        return constant(shape ?? [Int32(values.count)], type: 2, bytes)
    }

    static func halves(_ values: [Float16]) -> [UInt8] {
        values.flatMap { [UInt8(truncatingIfNeeded: $0.bitPattern), UInt8($0.bitPattern >> 8)] }
    }

    /// Adds an operator with a new value as its output, and returns the value's number.
    @discardableResult
    mutating func add(
        _ code: Int32,
        _ inputs: [Int32],
        _ name: String,
        _ shape: [Int32],
        _ options: [Int: Flat]? = nil,
        type: Int8 = 0
    ) -> Int32 {
        let output = value(name, shape, type: type)
        codes.append(code)
        var fields: [Int: Flat] = [
            0: .uint32(UInt32(codes.count - 1)), 1: .ints(inputs), 2: .ints([output]),
        ]
        if let options { fields[4] = .table(options) }
        operators.append(.table(fields))
        return output
    }

    var bytes: [UInt8] {
        let graph: Flat = .table([
            0: .tables(tensors), 1: .ints(inputs), 2: .ints(outputs), 3: .tables(operators),
        ])
        let numbers = codes.map { Flat.table([0: .int8(Int8(min($0, 127))), 3: .int32($0)]) }
        return Flat.table([0: .uint32(3), 1: .tables(numbers), 2: .tables([graph]), 4: .tables(buffers)]).buffer()
    }
}
