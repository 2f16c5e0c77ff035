import Foundation
import InferenceProtocol
import NIOCore

extension InferenceRequest {
    /// Takes a request that came over gRPC.
    ///
    /// - Throws: `ServingError` that names what is wrong.
    init(_ message: Inference_ModelInferRequest) throws {
        self.init()
        id = message.id.isEmpty ? nil : message.id
        guard !message.inputs.isEmpty else { throw ServingError.invalid("The request has no \"inputs\".") }
        for (name, count) in [("inputs", message.inputs.count), ("outputs", message.outputs.count)]
        where count > Self.maximumTensorCount {
            throw ServingError.invalid("There are more than \(Self.maximumTensorCount) \(name).")
        }
        let raw = message.rawInputContents
        guard raw.isEmpty || raw.count == message.inputs.count else {
            throw ServingError.invalid(
                "\"raw_input_contents\" has \(raw.count) entries, but there are \(message.inputs.count) inputs: send the "
                    + "bytes of all inputs there, or none."
            )
        }
        for (index, input) in message.inputs.enumerated() {
            let tensor = try Tensor(input, "inputs[\(index)]", bytes: raw.isEmpty ? nil : raw[index])
            guard !inputs.contains(where: { $0.name == tensor.name }) else {
                throw ServingError.invalid("The input \"\(tensor.name)\" occurs twice.")
            }
            inputs.append(tensor)
        }
        outputs = try message.outputs.enumerated().map { try Output($1, "outputs[\($0)]") }
        sequence = try Self.sequence(message.parameters)
    }

    private static func sequence(_ parameters: [String: Inference_InferParameter]) throws -> SequenceParameters? {
        var sequence = SequenceParameters()
        if let parameter = parameters["sequence_id"] {
            switch parameter.parameterChoice {
            case .int64Param(let number): sequence.id = number == 0 ? "" : String(number)
            case .uint64Param(let number): sequence.id = number == 0 ? "" : String(number)
            case .stringParam(let text): sequence.id = text
            default: throw ServingError.invalid("\"parameters.sequence_id\" must be an integer or a string.")
            }
        }
        sequence.isFirst = try parameters["sequence_start"]?.boolean("parameters.sequence_start") ?? false
        sequence.isLast = try parameters["sequence_end"]?.boolean("parameters.sequence_end") ?? false
        return sequence == SequenceParameters() ? nil : sequence
    }
}

extension InferenceRequest.Output {
    fileprivate init(_ message: Inference_ModelInferRequest.InferRequestedOutputTensor, _ place: String) throws {
        try refuseSharedMemory(message.parameters, place)
        var classCount = 0
        if let parameter = message.parameters["classification"] {
            guard case .int64Param(let number)? = parameter.parameterChoice, let count = Int(exactly: number),
                count >= 0
            else { throw ServingError.invalid("\(place).parameters.classification must be an integer, 0 or more.") }
            classCount = count
        }
        self.init(name: message.name, isBinary: true, classCount: classCount)
    }
}

extension Inference_InferParameter {
    fileprivate func boolean(_ place: String) throws -> Bool {
        guard case .boolParam(let value)? = parameterChoice else {
            throw ServingError.invalid("\"\(place)\" must be a Boolean.")
        }
        return value
    }
}

private func refuseSharedMemory(_ parameters: [String: Inference_InferParameter], _ place: String) throws {
    if parameters["shared_memory_region"] != nil {
        throw ServingError.invalid(
            "\(place).parameters.shared_memory_region: this server has no shared memory extension."
        )
    }
}

extension Tensor {
    /// Takes an input with its elements: `bytes`, or those of the message when there are none.
    fileprivate init(
        _ input: Inference_ModelInferRequest.InferInputTensor,
        _ place: String,
        bytes: Data?
    ) throws {
        try refuseSharedMemory(input.parameters, place)
        let name = input.name
        let type = try TensorType(input.datatype, "\(place).datatype")
        var shape: [Int] = []
        for extent in input.shape { try Self.append(extent, to: &shape, "\(place).shape") }
        let count = try Self.count(of: shape, name)
        if let bytes {
            guard !input.hasContents else {
                throw ServingError.invalid("The input \"\(name)\" has both \"contents\" and \"raw_input_contents\".")
            }
            self.init(name, type, shape, try Self.elements(ByteBuffer(bytes: bytes), type, count: count, of: name))
        } else {
            self.init(name, type, shape, try Self.elements(input.contents, type, count: count, of: name))
        }
    }

    /// The elements of a typed list.
    private static func elements(
        _ contents: Inference_InferTensorContents,
        _ type: TensorType,
        count: Int,
        of name: String
    ) throws -> Elements {
        let lists = [
            "bool_contents": contents.boolContents.count, "int_contents": contents.intContents.count,
            "int64_contents": contents.int64Contents.count, "uint_contents": contents.uintContents.count,
            "uint64_contents": contents.uint64Contents.count, "fp32_contents": contents.fp32Contents.count,
            "fp64_contents": contents.fp64Contents.count, "bytes_contents": contents.bytesContents.count,
        ]
        guard let requested = type.contentsName else {
            throw ServingError.invalid(
                "The input \"\(name)\" is of the type \(type.rawValue), whose elements go into \"raw_input_contents\"."
            )
        }
        guard lists[requested] == count, lists.allSatisfy({ $0.key == requested || $0.value == 0 }) else {
            let found = lists.filter { $0.value > 0 }.sorted { $0.key < $1.key }.map { "\($0.value) in \($0.key)" }
            throw ServingError.invalid(
                "The input \"\(name)\" has \(found.isEmpty ? "no elements" : found.joined(separator: ", ")), but its shape "
                    + "and type \(type.rawValue) take \(count) in \(requested)."
            )
        }
        switch type {
        case .bool: return .raw(bytes(contents.boolContents.map { $0 ? 1 : 0 } as [UInt8]))
        case .int8: return .raw(bytes(try narrowed(contents.intContents, Int8.self, name)))
        case .int16: return .raw(bytes(try narrowed(contents.intContents, Int16.self, name)))
        case .int32: return .raw(bytes(contents.intContents))
        case .int64: return .raw(bytes(contents.int64Contents))
        case .uint8: return .raw(bytes(try narrowed(contents.uintContents, UInt8.self, name)))
        case .uint16: return .raw(bytes(try narrowed(contents.uintContents, UInt16.self, name)))
        case .uint32: return .raw(bytes(contents.uintContents))
        case .uint64: return .raw(bytes(contents.uint64Contents))
        case .fp32: return .raw(bytes(contents.fp32Contents))
        case .fp64: return .raw(bytes(contents.fp64Contents))
        case .bytes: return .strings(contents.bytesContents.map { ByteBuffer(bytes: $0) })
        case .fp16: preconditionFailure("FP16 has no list")
        }
    }

    private static func bytes(_ values: [some BitwiseCopyable]) -> ByteBuffer {
        values.withUnsafeBytes { ByteBuffer(bytes: $0) }
    }

    private static func narrowed<Wide: BinaryInteger, Narrow: FixedWidthInteger>(
        _ values: [Wide],
        _ type: Narrow.Type,
        _ name: String
    ) throws -> [Narrow] {
        try values.enumerated().map { index, value in
            guard let narrow = Narrow(exactly: value) else {
                throw ServingError.invalid(
                    "Element \(index) of the input \"\(name)\" is \(value), which is not an \(Narrow.isSigned ? "INT" : "UINT")"
                        + "\(Narrow.bitWidth)."
                )
            }
            return narrow
        }
    }
}

extension TensorType {
    /// The list of `InferTensorContents` that holds elements of this type; `nil` where there is none.
    fileprivate var contentsName: String? {
        switch self {
        case .bool: "bool_contents"
        case .int8, .int16, .int32: "int_contents"
        case .int64: "int64_contents"
        case .uint8, .uint16, .uint32: "uint_contents"
        case .uint64: "uint64_contents"
        case .fp16: nil
        case .fp32: "fp32_contents"
        case .fp64: "fp64_contents"
        case .bytes: "bytes_contents"
        }
    }
}
