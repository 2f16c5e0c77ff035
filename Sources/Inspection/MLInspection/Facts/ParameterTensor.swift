package import MLNumerics

/// One tensor of learned numbers, as its model stores it.
package struct ParameterTensor: Sendable {
    /// Where it stands: the constant of a program, or layer and field of a network, such as `conv1.weights`.
    package let name: String
    /// The extents when decoded; of a network's field whose layer does not say them the number of values.
    package let shape: [Int]
    /// The number of values when decoded.
    package let count: Int
    package let storage: ParameterStorage
    /// The bytes that are stored for it: packed values, tables, scales and masks.
    package let byteCount: Int
    /// What the same bytes are known by when other tensors refer to them; `nil` for values that stand in place.
    package let origin: String?
    private let read: @Sendable () throws(ModelError) -> Tensor

    init(
        name: String,
        shape: [Int],
        count: Int,
        storage: ParameterStorage,
        byteCount: Int,
        origin: String? = nil,
        read: @escaping @Sendable () throws(ModelError) -> Tensor
    ) {
        self.name = name
        self.shape = shape
        self.count = count
        self.storage = storage
        self.byteCount = byteCount
        self.origin = origin
        self.read = read
    }

    /// The values, decoded.
    package func values() throws(ModelError) -> Tensor {
        try trailing("'\(name)'") { () throws(ModelError) in try read() }
    }
}

/// How the values of a tensor are packed.
package struct ParameterStorage: Hashable, Sendable, CustomStringConvertible {
    /// The name in reports: "float16", "linear int8", "palette of 4 bits", "sparse float16", "sparse, palette of 4 bits".
    package let description: String

    init(_ description: String) { self.description = description }
}

/// What a model's tensors of parameters amount to.
package struct ParameterSummary: Sendable {
    /// The tensors of one kind of storage.
    package struct Row: Sendable {
        package let storage: ParameterStorage
        package var tensors = 0
        package var parameters = 0
        package var bytes = 0
    }

    /// By bytes, the largest first.
    package let rows: [Row]
    /// The parameters, each stored tensor once however many functions refer to it.
    package let parameters: Int
    package let bytes: Int
    /// Tensors that refer to bytes which another refers to, too.
    package let sharedTensors: Int

    package init(_ tensors: [ParameterTensor]) {
        var rows: [ParameterStorage: Row] = [:]
        var known: Set<String> = []
        var shared = 0
        for tensor in tensors {
            if let origin = tensor.origin, !known.insert(origin).inserted {
                shared += 1
                continue
            }
            var row = rows[tensor.storage] ?? Row(storage: tensor.storage)
            row.tensors += 1
            row.parameters += tensor.count
            row.bytes += tensor.byteCount
            rows[tensor.storage] = row
        }
        self.rows = rows.values.sorted { ($1.bytes, $0.storage.description) < ($0.bytes, $1.storage.description) }
        parameters = self.rows.reduce(0) { $0 + $1.parameters }
        bytes = self.rows.reduce(0) { $0 + $1.bytes }
        sharedTensors = shared
    }

    /// How often the stored bytes go into those of the same parameters as float32; `nil` without parameters.
    package var compression: Double? { bytes == 0 ? nil : Double(parameters) * 4 / Double(bytes) }
}
