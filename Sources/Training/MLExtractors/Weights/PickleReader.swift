import MLNumerics

/// Reads pickles that hold nothing but tensors in dictionaries, lists and tuples.
///
/// Pickle is a language whose programs call Python functions. This reader knows the opcodes that PyTorch writes for a
/// dictionary of tensors, and the few names of `Name`; everything else is refused, and nothing is ever called. Values
/// are numbered nodes, so neither nested nor cyclic ones can exhaust the stack, and their number is limited.
struct PickleReader {
    /// A function or class that a pickle may name.
    enum Name: Hashable {
        case orderedDictionary
        case rebuildTensor
        case rebuildParameter
        /// The class of a storage of these scalars.
        case storage(ScalarType)

        init?(module: String, name: String) {
            switch (module, name) {
            case ("collections", "OrderedDict"): self = .orderedDictionary
            case ("torch._utils", "_rebuild_tensor_v2"): self = .rebuildTensor
            case ("torch._utils", "_rebuild_parameter"): self = .rebuildParameter
            case ("torch", "FloatStorage"): self = .storage(.float32)
            case ("torch", "DoubleStorage"): self = .storage(.float64)
            case ("torch", "HalfStorage"): self = .storage(.float16)
            case ("torch", "LongStorage"): self = .storage(.int64)
            case ("torch", "IntStorage"): self = .storage(.int32)
            case ("torch", "ShortStorage"): self = .storage(.int16)
            case ("torch", "CharStorage"): self = .storage(.int8)
            case ("torch", "ByteStorage"): self = .storage(.uint8)
            case ("torch", "BoolStorage"): self = .storage(.bool)
            default: return nil
            }
        }
    }

    /// The memory that tensors are parts of.
    struct Storage: Hashable {
        var key: String
        var scalarType: ScalarType
        /// The number of its elements.
        var count: Int
    }

    /// A part of a storage.
    struct TensorLocation: Hashable {
        var storage: Storage
        var offset: Int
        var shape: [Int]
        var strides: [Int]

        /// Whether the elements follow each other in the storage.
        var isContiguous: Bool {
            var step = 1
            for (extent, stride) in zip(shape, strides).reversed() where extent != 1 {
                guard stride == step else { return false }
                step *= extent
            }
            return true
        }
    }

    /// A value; the numbers are those of other nodes.
    enum Node {
        case none
        case bool(Bool)
        case integer(Int)
        /// An integer of more than 64 bits: its bytes, the lowest first.
        case large([UInt8])
        case real
        case text(String)
        case tuple([Int])
        case list([Int])
        case dictionary([(key: Int, value: Int)])
        case name(Name)
        case storage(Storage)
        case tensor(TensorLocation)
    }

    private let bytes: [UInt8]
    private let path: String
    /// The position of the next byte.
    private(set) var position: Int
    private(set) var nodes: [Node] = []
    private var stack: [Int] = []
    private var marks: [Int] = []
    private var memo: [Int: Int] = [:]

    /// - Parameters:
    ///   - bytes: The file.
    ///   - path: The name of the file, for errors.
    ///   - position: The position at which the pickle begins.
    init(_ bytes: [UInt8], path: String, at position: Int = 0) {
        self.bytes = bytes
        self.path = path
        self.position = position
    }

    /// Reads a pickle to its end, and returns the number of its value.
    ///
    /// - Throws: `.malformed` for a damaged pickle and for one that does or names anything else.
    mutating func read() throws(ModelError) -> Int {
        while true {
            let at = position
            let code = try byte()
            if code == 0x2E {
                guard marks.isEmpty, stack.count == 1 else { throw damaged("it ends with \(stack.count) values") }
                return stack[0]
            }
            guard let opcode = Opcode(rawValue: code) else {
                throw damaged(
                    "the instruction 0x\(String(code, radix: 16)) at byte \(at) is not one that a dictionary of tensors "
                        + "needs; it is not run"
                )
            }
            try perform(opcode)
            guard nodes.count <= PyTorchWeights.valueLimit else {
                throw damaged("it has more than \(PyTorchWeights.valueLimit) values")
            }
        }
    }

    /// The instructions that are followed.
    private enum Opcode: UInt8 {
        case proto = 0x80
        case mark = 0x28
        case none = 0x4E
        case newTrue = 0x88
        case newFalse = 0x89
        case binInt = 0x4A
        case binInt1 = 0x4B
        case binInt2 = 0x4D
        case long1 = 0x8A
        case binFloat = 0x47
        case binUnicode = 0x58
        case shortBinUnicode = 0x8C
        case emptyTuple = 0x29
        case tuple = 0x74
        case tuple1 = 0x85
        case tuple2 = 0x86
        case tuple3 = 0x87
        case emptyList = 0x5D
        case append = 0x61
        case appends = 0x65
        case emptyDict = 0x7D
        case setItem = 0x73
        case setItems = 0x75
        case binPut = 0x71
        case longBinPut = 0x72
        case memoize = 0x94
        case binGet = 0x68
        case longBinGet = 0x6A
        case global = 0x63
        case reduce = 0x52
        case build = 0x62
        case binPersid = 0x51
    }

    private mutating func perform(_ opcode: Opcode) throws(ModelError) {
        switch opcode {
        case .proto:
            let version = try byte()
            guard version <= 5 else { throw damaged("its protocol is \(version); 2 to 5 are known") }
        case .mark: marks.append(stack.count)
        case .none: push(.none)
        case .newTrue: push(.bool(true))
        case .newFalse: push(.bool(false))
        case .binInt: push(.integer(Int(Int32(truncatingIfNeeded: try integer(4)))))
        case .binInt1: push(.integer(try integer(1)))
        case .binInt2: push(.integer(try integer(2)))
        case .long1: try pushLong()
        case .binFloat:
            _ = try take(8)
            push(.real)
        case .binUnicode: try pushText(try integer(4))
        case .shortBinUnicode: try pushText(try integer(1))
        case .emptyTuple: push(.tuple([]))
        case .tuple: push(.tuple(try popToMark()))
        case .tuple1: push(.tuple(try pop(1)))
        case .tuple2: push(.tuple(try pop(2)))
        case .tuple3: push(.tuple(try pop(3)))
        case .emptyList: push(.list([]))
        case .append: try extend(try pop(1))
        case .appends: try extend(try popToMark())
        case .emptyDict: push(.dictionary([]))
        case .setItem: try set(try pop(2))
        case .setItems: try set(try popToMark())
        case .binPut: memo[try integer(1)] = try top()
        case .longBinPut: memo[try integer(4)] = try top()
        case .memoize: memo[memo.count] = try top()
        case .binGet: try recall(try integer(1))
        case .longBinGet: try recall(try integer(4))
        case .global: try pushName()
        case .reduce: try reduce()
        case .build: try build()
        case .binPersid: try pushStorage()
        }
    }

    // MARK: The stack

    private mutating func push(_ node: Node) {
        stack.append(nodes.count)
        nodes.append(node)
    }

    private func top() throws(ModelError) -> Int {
        guard let last = stack.last, stack.count > (marks.last ?? 0) else { throw damaged("a value is missing") }
        return last
    }

    private mutating func pop(_ count: Int) throws(ModelError) -> [Int] {
        guard stack.count - count >= marks.last ?? 0 else { throw damaged("a value is missing") }
        let values = Array(stack.suffix(count))
        stack.removeLast(count)
        return values
    }

    private mutating func popToMark() throws(ModelError) -> [Int] {
        guard let mark = marks.popLast() else { throw damaged("a mark is missing") }
        let values = Array(stack[mark...])
        stack.removeLast(stack.count - mark)
        return values
    }

    private mutating func recall(_ index: Int) throws(ModelError) {
        guard let node = memo[index] else { throw damaged("it refers to a value that it has not stored") }
        stack.append(node)
    }

    // MARK: Values

    private mutating func pushLong() throws(ModelError) {
        let count = try integer(1)
        let digits = Array(bytes[try take(count)])
        guard digits.count > 8 else {
            var value: UInt64 = (digits.last ?? 0) & 0x80 != 0 ? ~0 : 0
            for digit in digits.reversed() { value = value << 8 | UInt64(digit) }
            return push(.integer(Int(Int64(bitPattern: value))))
        }
        push(.large(digits))
    }

    private mutating func pushText(_ count: Int) throws(ModelError) {
        guard let text = String(validating: bytes[try take(count)], as: UTF8.self) else {
            throw damaged("a text is not UTF-8")
        }
        push(.text(text))
    }

    private mutating func extend(_ values: [Int]) throws(ModelError) {
        let node = try top()
        guard case .list(var list) = nodes[node] else {
            throw damaged("values are appended to something other than a list")
        }
        nodes[node] = .none  // so that the list is not copied
        list += values
        nodes[node] = .list(list)
    }

    private mutating func set(_ values: [Int]) throws(ModelError) {
        let node = try top()
        guard case .dictionary(var items) = nodes[node], values.count.isMultiple(of: 2) else {
            throw damaged("items are set in something other than a dictionary")
        }
        nodes[node] = .none
        for index in stride(from: 0, to: values.count, by: 2) { items.append((values[index], values[index + 1])) }
        nodes[node] = .dictionary(items)
    }

    private mutating func pushName() throws(ModelError) {
        let (module, name) = (try line(), try line())
        guard let known = Name(module: module, name: name) else {
            throw damaged("it names '\(module).\(name)', which does not belong to tensors; none of it is run")
        }
        push(.name(known))
    }

    /// A call; only those that make dictionaries and tensors are known.
    private mutating func reduce() throws(ModelError) {
        let call = try pop(2)
        guard case .name(let name) = nodes[call[0]], case .tuple(let arguments) = nodes[call[1]] else {
            throw damaged("it calls a value that is not a function")
        }
        switch name {
        case .orderedDictionary:
            var items: [(key: Int, value: Int)] = []
            if let first = arguments.first {
                guard arguments.count == 1, case .list(let pairs) = nodes[first] else {
                    throw damaged("a dictionary consists of something other than pairs")
                }
                for pair in pairs {
                    guard case .tuple(let parts) = nodes[pair], parts.count == 2 else {
                        throw damaged("a dictionary consists of something other than pairs")
                    }
                    items.append((parts[0], parts[1]))
                }
            }
            push(.dictionary(items))
        case .rebuildTensor: push(.tensor(try tensor(arguments)))
        case .rebuildParameter:
            guard let first = arguments.first, case .tensor(let node) = nodes[first] else {
                throw damaged("a parameter consists of something other than a tensor")
            }
            push(.tensor(node))
        case .storage: throw damaged("it calls the class of a storage")
        }
    }

    private func tensor(_ arguments: [Int]) throws(ModelError) -> TensorLocation {
        guard arguments.count >= 4, case .storage(let storage) = nodes[arguments[0]],
            case .integer(let offset) = nodes[arguments[1]],
            case .tuple(let sizes) = nodes[arguments[2]], case .tuple(let steps) = nodes[arguments[3]]
        else { throw damaged("a tensor consists of something other than a storage, an offset, a shape and strides") }
        func numbers(_ positions: [Int]) throws(ModelError) -> [Int] {
            var result: [Int] = []
            for node in positions {
                guard case .integer(let value) = nodes[node], value >= 0 else {
                    throw damaged("a tensor's shape or strides are not integers of 0 or more")
                }
                result.append(value)
            }
            return result
        }
        let shape = try numbers(sizes)
        let strides = try numbers(steps)
        guard offset >= 0 else { throw damaged("a tensor's offset is \(offset)") }
        guard shape.count == strides.count, shape.count <= 8 else {
            throw damaged("a tensor's shape has \(shape.count) axes, its strides \(strides.count)")
        }
        return TensorLocation(storage: storage, offset: offset, shape: shape, strides: strides)
    }

    /// State of a dictionary, such as PyTorch's `_metadata`, which says nothing about tensors and is left out.
    private mutating func build() throws(ModelError) {
        _ = try pop(1)
        guard case .dictionary = nodes[try top()] else {
            throw damaged("it sets the state of something other than a dictionary")
        }
    }

    /// A storage, which is the tuple of 'storage', its class, key, device and count, and None in old files.
    private mutating func pushStorage() throws(ModelError) {
        let identifier = try pop(1)[0]
        guard case .tuple(let parts) = nodes[identifier], parts.count == 5 || parts.count == 6,
            case .text("storage") = nodes[parts[0]], case .name(.storage(let type)) = nodes[parts[1]],
            case .text(let key) = nodes[parts[2]], case .text = nodes[parts[3]],
            case .integer(let count) = nodes[parts[4]], count >= 0
        else { throw damaged("it refers to an external object that is not the storage of a tensor") }
        if parts.count == 6 {
            guard case .none = nodes[parts[5]] else {
                throw damaged("a storage is a view of another, an old form that is not supported")
            }
        }
        push(.storage(Storage(key: key, scalarType: type, count: count)))
    }

    // MARK: Bytes

    private mutating func byte() throws(ModelError) -> UInt8 { bytes[try take(1).lowerBound] }

    private mutating func integer(_ width: Int) throws(ModelError) -> Int {
        bytes[try take(width)].reversed().reduce(0) { $0 << 8 | Int($1) }
    }

    private mutating func line() throws(ModelError) -> String {
        guard let end = bytes[position...].prefix(256).firstIndex(of: 0x0A),
            let text = String(validating: bytes[position..<end], as: UTF8.self)
        else { throw damaged("a name is cut off") }
        position = end + 1
        return text
    }

    private mutating func take(_ count: Int) throws(ModelError) -> Range<Int> {
        guard count <= bytes.count - position else { throw damaged("it is cut off") }
        defer { position += count }
        return position..<position + count
    }

    private func damaged(_ text: String) -> ModelError {
        ModelError(.malformed, "the pickle of the weights is refused: \(text)", at: path)
    }
}
