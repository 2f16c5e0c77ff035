package import NIOCore

/// A request for a prediction, parsed, with all checks that do not need the model.
package struct InferenceRequest: Sendable {
    /// An output that the client wants.
    package struct Output: Sendable {
        package let name: String
        /// Whether the client wants it in the binary part; `nil` when it leaves that to the request.
        var isBinary: Bool?
        /// The number of classes that the client wants instead of the values; 0 for the values.
        var classCount = 0
    }

    /// The number that the client gave the request, which its answer repeats.
    package var id: String?
    package var inputs: [Tensor] = []
    /// The wanted outputs; empty for all.
    package var outputs: [Output] = []
    /// Whether outputs are binary where the client does not say.
    package var wantsBinary = false
    /// The sequence that the request belongs to.
    package var sequence: SequenceParameters?

    package init() {}
}

/// A request's place in a sequence of requests that share a state.
package struct SequenceParameters: Sendable, Equatable {
    package var id = ""
    package var isFirst = false
    package var isLast = false
}

extension InferenceRequest {
    /// The most inputs or outputs of a request.
    static let maximumTensorCount = 1024

    /// Reads a request of JSON, whose tensors may follow it in binary.
    ///
    /// - Parameters:
    ///   - body: the request's body.
    ///   - headerLength: the length of the JSON as `Inference-Header-Content-Length` states it; `nil` when the whole
    ///     body is JSON.
    /// - Throws: `ServingError` that names what is wrong.
    package init(body: ByteBuffer, headerLength: Int?) throws {
        let length = headerLength ?? body.readableBytes
        guard length <= body.readableBytes else {
            throw ServingError.invalid(
                "Inference-Header-Content-Length is \(length), but the body has only \(body.readableBytes) bytes."
            )
        }
        var binary = body
        binary.moveReaderIndex(forwardBy: length)
        self.init()
        try body.withUnsafeReadableBytes { bytes in
            var reader = JSONReader(UnsafeRawBufferPointer(rebasing: bytes[..<length]))
            guard try reader.kind() == .object else {
                throw ServingError.invalid("The request must be a JSON object.")
            }
            try readMembers(&reader, &binary)
            try reader.finish()
        }
        guard !inputs.isEmpty else { throw ServingError.invalid("The request has no \"inputs\".") }
        guard binary.readableBytes == 0 else {
            throw ServingError.invalid(
                "\(binary.readableBytes) bytes follow the JSON and the tensors that it announces: the sum of "
                    + "\"binary_data_size\" and Inference-Header-Content-Length must be the length of the body."
            )
        }
    }

    private mutating func readMembers(_ reader: inout JSONReader, _ binary: inout ByteBuffer) throws {
        var request = self
        try reader.readObject { reader, key in
            switch key {
            case "id": request.id = try reader.text("id")
            case "inputs":
                try reader.list("inputs") { reader, index in
                    guard request.inputs.count < Self.maximumTensorCount else {
                        throw ServingError.invalid("There are more than \(Self.maximumTensorCount) inputs.")
                    }
                    let tensor = try Tensor(&reader, "inputs[\(index)]", &binary)
                    guard !request.inputs.contains(where: { $0.name == tensor.name }) else {
                        throw ServingError.invalid("The input \"\(tensor.name)\" occurs twice.")
                    }
                    request.inputs.append(tensor)
                }
            case "outputs":
                try reader.list("outputs") { reader, index in
                    guard request.outputs.count < Self.maximumTensorCount else {
                        throw ServingError.invalid("There are more than \(Self.maximumTensorCount) outputs.")
                    }
                    request.outputs.append(try Output(&reader, "outputs[\(index)]"))
                }
            case "parameters": try request.readParameters(&reader)
            default: try reader.skipValue()
            }
        }
        self = request
    }

    private mutating func readParameters(_ reader: inout JSONReader) throws {
        var request = self
        var sequence = SequenceParameters()
        try reader.object("parameters") { reader, key in
            switch key {
            case "binary_data_output": request.wantsBinary = try reader.boolean("parameters.binary_data_output")
            case "sequence_id":
                if try reader.kind() == .number {
                    let id = try reader.integer("parameters.sequence_id")
                    sequence.id = id == 0 ? "" : String(id)
                } else {
                    sequence.id = try reader.text("parameters.sequence_id")
                }
            case "sequence_start": sequence.isFirst = try reader.boolean("parameters.sequence_start")
            case "sequence_end": sequence.isLast = try reader.boolean("parameters.sequence_end")
            default: try reader.skipValue()
            }
        }
        request.sequence = sequence == SequenceParameters() ? nil : sequence
        self = request
    }
}

extension InferenceRequest.Output {
    fileprivate init(_ reader: inout JSONReader, _ place: String) throws {
        var name: String?
        var isBinary: Bool?
        var classCount = 0
        try reader.object(place) { reader, key in
            switch key {
            case "name": name = try reader.text("\(place).name")
            case "parameters":
                try reader.object("\(place).parameters") { reader, key in
                    let place = "\(place).parameters.\(key)"
                    switch key {
                    case "binary_data": isBinary = try reader.boolean(place)
                    case "classification":
                        classCount = try reader.integer(place)
                        guard classCount >= 0 else { throw ServingError.invalid("\(place) must be 0 or more.") }
                    case "shared_memory_region":
                        throw ServingError.invalid("\(place): this server has no shared memory extension.")
                    default: try reader.skipValue()
                    }
                }
            default: try reader.skipValue()
            }
        }
        guard let name else { throw ServingError.invalid("\(place) has no \"name\".") }
        self.init(name: name, isBinary: isBinary, classCount: classCount)
    }
}

// MARK: Values with a place

/// Reads values of known kinds; errors name the value's place in the request.
extension JSONReader {
    private mutating func expect(_ kind: Kind, _ place: String) throws {
        let found = try self.kind()
        guard found == kind else {
            throw ServingError.invalid("\"\(place)\" must be \(kind.rawValue), not \(found.rawValue).")
        }
    }

    mutating func text(_ place: String) throws -> String {
        try expect(.string, place)
        return try readString()
    }

    mutating func boolean(_ place: String) throws -> Bool {
        try expect(.bool, place)
        return try readBool()
    }

    mutating func integer(_ place: String) throws -> Int {
        try expect(.number, place)
        let number = try readNumber()
        guard let value = number.integer(Int.self) else {
            throw ServingError.invalid("\"\(place)\" must be an integer of 64 bits.")
        }
        return value
    }

    mutating func object(_ place: String, _ body: (inout JSONReader, String) throws -> Void) throws {
        try expect(.object, place)
        try readObject(body)
    }

    mutating func list(_ place: String, _ body: (inout JSONReader, Int) throws -> Void) throws {
        try expect(.array, place)
        try readArray(body)
    }
}
