package import MLNumerics

/// A tensor of learned parameters, as its model stores it.
package struct ParameterTensor: Sendable {
    /// Its location: the constant of a program, or layer and field of a network, such as `conv1.weights`.
    package let name: String
    /// The extents when decoded; for a network's field whose layer does not imply them the number of values.
    package let shape: [Int]
    /// The number of values when decoded.
    package let count: Int
    package let storage: ParameterStorage
    /// The number of stored bytes: packed values, tables, scales and masks.
    package let byteCount: Int
    /// Identifies the stored bytes when other tensors refer to them, too; `nil` for inline values.
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
        try withErrorContext("'\(name)'") { () throws(ModelError) in try read() }
    }
}

/// The storage format of a tensor's values.
package struct ParameterStorage: Hashable, Sendable, CustomStringConvertible {
    /// The name in reports: "float16", "linear int8", "palette of 4 bits", "sparse float16", "sparse, palette of 4 bits".
    package let description: String

    init(_ description: String) { self.description = description }
}

/// A summary of a model's parameter tensors.
package struct ParameterSummary: Sendable {
    /// The tensors with one storage format.
    package struct Row: Sendable {
        package let storage: ParameterStorage
        package var tensors = 0
        package var parameters = 0
        package var bytes = 0
    }

    /// The formats by bytes, the largest first.
    package let rows: [Row]
    /// The number of parameters; each stored tensor is counted once, however many functions refer to it.
    package let parameters: Int
    package let bytes: Int
    /// The number of tensors that share their bytes with another one.
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

    /// The ratio of the parameters' size as float32 to the stored bytes; `nil` without parameters.
    package var compression: Double? { bytes == 0 ? nil : Double(parameters) * 4 / Double(bytes) }
}
