import Foundation
import GRPCCore
import GRPCProtobuf
import InferenceProtocol
import NIOCore
import SwiftProtobuf

/// The Open Inference Protocol over gRPC, over the models that the routes answer for.
///
/// Outputs are in `raw_output_contents`, whatever form the inputs came in.
/// Source: https://kserve.github.io/website/docs/concepts/architecture/data-plane/v2-protocol
struct InferenceService: RegistrableRPCService {
    static let name = "inference.GRPCInferenceService"

    private let routes: ServingRoutes
    private var repository: ModelRepository { routes.repository }

    init(_ routes: ServingRoutes) { self.routes = routes }

    func registerMethods<Transport: ServerTransport>(with router: inout RPCRouter<Transport>) {
        func add<Input: Message, Output: Message>(
            _ method: String,
            _ type: Input.Type,
            _ body: @escaping @Sendable (Input) async throws -> Output
        ) {
            router.register(Self.name, method, body)
        }
        add("ServerLive", Inference_ServerLiveRequest.self) { _ in
            Inference_ServerLiveResponse.with { $0.live = true }
        }
        add("ServerReady", Inference_ServerReadyRequest.self) { [repository] _ in
            Inference_ServerReadyResponse.with { $0.ready = repository.isReady }
        }
        add("ServerMetadata", Inference_ServerMetadataRequest.self) { _ in
            Inference_ServerMetadataResponse.with { answer in
                answer.name = "coreml-serve"
                answer.version = ServingRoutes.version
                answer.extensions = ServingRoutes.extensions
            }
        }
        add("ModelReady", Inference_ModelReadyRequest.self) { request in
            _ = try model(request.name, request.version)
            return Inference_ModelReadyResponse.with { $0.ready = true }
        }
        add("ModelMetadata", Inference_ModelMetadataRequest.self) { request in
            metadata(try model(request.name, request.version))
        }
        add("ModelInfer", Inference_ModelInferRequest.self) { request in try await infer(request) }
        add("ModelConfig", Inference_ModelConfigRequest.self) { request in
            let model = try model(request.name, request.version)
            return Inference_ModelConfigResponse.with { $0.config = Self.configuration(model) }
        }
        add("ModelStatistics", Inference_ModelStatisticsRequest.self) { [repository] request in
            let models = try request.name.isEmpty ? repository.loaded : [model(request.name, request.version)]
            return Inference_ModelStatisticsResponse.with { $0.modelStats = models.map(Self.statistics) }
        }
        add("RepositoryIndex", Inference_RepositoryIndexRequest.self) { request in index(request) }
        add("RepositoryModelLoad", Inference_RepositoryModelLoadRequest.self) { [repository] request in
            if let parameter = request.parameters.keys.min() {
                throw ServingError.invalid(
                    "This server loads models as they are: it does not accept the parameter \"\(parameter)\"."
                )
            }
            try await repository.load(request.modelName)
            return Inference_RepositoryModelLoadResponse()
        }
        add("RepositoryModelUnload", Inference_RepositoryModelUnloadRequest.self) { [repository] request in
            try repository.unload(request.modelName)
            return Inference_RepositoryModelUnloadResponse()
        }
        registerStream(&router)
    }

    /// Requests one after the other: each has an answer or an error, and an error does not end the stream.
    private func registerStream<Transport: ServerTransport>(_ router: inout RPCRouter<Transport>) {
        router.registerHandler(
            forMethod: MethodDescriptor(fullyQualifiedService: Self.name, method: "ModelStreamInfer"),
            deserializer: ProtobufDeserializer<Inference_ModelInferRequest>(),
            serializer: ProtobufSerializer<Inference_ModelStreamInferResponse>()
        ) { requests, _ in
            StreamingServerResponse { writer in
                for try await request in requests.messages {
                    var answer = Inference_ModelStreamInferResponse()
                    do { answer.inferResponse = try await infer(request) } catch let error as ServingError {
                        answer.errorMessage = error.description
                        answer.inferResponse.id = request.id
                    }
                    try await writer.write(answer)
                }
                return [:]
            }
        }
    }

    // MARK: Calls

    /// The model of a request; an empty version stands for the newest.
    private func model(_ name: String, _ version: String) throws -> LoadedModel {
        try repository.model(name, version.isEmpty ? nil : version)
    }

    private func infer(_ request: Inference_ModelInferRequest) async throws -> Inference_ModelInferResponse {
        let model = try model(request.modelName, request.modelVersion)
        return try await model.counting {
            let share = BodyReservation(routes.budget)
            try share.grow(to: request.elementByteCount)
            let outputs = try await model.outputs(InferenceRequest(request))
            let answer = Inference_ModelInferResponse.with { answer in
                answer.modelName = model.name
                answer.modelVersion = model.version
                answer.id = request.id
                for (tensor, _) in outputs {
                    answer.outputs.append(
                        .with { output in
                            output.name = tensor.name
                            output.datatype = tensor.type.rawValue
                            output.shape = tensor.shape.map { Int64($0) }
                        }
                    )
                    answer.rawOutputContents.append(Data(tensor.binary.readableBytesView))
                }
            }
            return withExtendedLifetime(share) { answer }
        }
    }

    private func metadata(_ model: LoadedModel) -> Inference_ModelMetadataResponse {
        func described(_ tensors: [TensorDescription]) -> [Inference_ModelMetadataResponse.TensorMetadata] {
            tensors.map { tensor in
                .with { metadata in
                    metadata.name = tensor.name
                    metadata.datatype = tensor.type.rawValue
                    metadata.shape = tensor.shape.map { Int64($0) }
                }
            }
        }
        let facts = ModelFacts(model)
        return .with { answer in
            answer.name = facts.name
            answer.versions = repository.versions(facts.name)
            answer.platform = ModelFacts.platform
            answer.inputs = described(facts.inputs)
            answer.outputs = described(facts.outputs)
        }
    }

    private func index(_ request: Inference_RepositoryIndexRequest) -> Inference_RepositoryIndexResponse {
        let entries = repository.index().filter { !request.ready || $0.state == "READY" }
        return .with { answer in
            answer.models = entries.map { entry in
                .with { model in
                    model.name = entry.name
                    model.version = entry.version
                    model.state = entry.state
                    model.reason = entry.reason
                }
            }
        }
    }

    private static func configuration(_ model: LoadedModel) -> Inference_ModelConfig {
        let facts = ModelFacts(model)
        return .with { configuration in
            configuration.name = facts.name
            configuration.platform = ModelFacts.platform
            configuration.backend = ModelFacts.platform
            configuration.input = facts.inputs.map { tensor in
                .with { input in
                    input.name = tensor.name
                    input.dataType = tensor.type.configurationType
                    input.dims = tensor.shape.map { Int64($0) }
                }
            }
            configuration.output = facts.outputs.map { tensor in
                .with { output in
                    output.name = tensor.name
                    output.dataType = tensor.type.configurationType
                    output.dims = tensor.shape.map { Int64($0) }
                }
            }
            guard let batching = facts.batching else { return }
            configuration.dynamicBatching = .with { message in
                message.preferredBatchSize = [Int32(clamping: batching.preferredSize)]
                message.maxQueueDelayMicroseconds = UInt64(batching.delay)
            }
        }
    }

    private static func statistics(_ model: LoadedModel) -> Inference_ModelStatistics {
        func duration(_ spent: ModelFacts.TimedCount) -> Inference_StatisticDuration {
            .with { duration in
                duration.count = UInt64(spent.count)
                duration.ns = UInt64(spent.nanoseconds)
            }
        }
        let (facts, statistics) = (ModelFacts(model), model.counts.statistics)
        return .with { message in
            message.name = facts.name
            message.version = facts.version
            message.lastInference = UInt64(statistics.last)
            message.inferenceCount = UInt64(statistics.inferences)
            message.executionCount = UInt64(statistics.executions)
            message.inferenceStats = .with { stats in
                stats.success = duration(statistics.success)
                stats.fail = duration(statistics.failure)
                stats.queue = duration(statistics.queue)
                stats.computeInfer = duration(statistics.compute)
            }
        }
    }
}

/// gRPC's health checking: the whole server, or the inference service, serves when every model that should be loaded
/// is.
struct HealthService: RegistrableRPCService {
    private let repository: ModelRepository

    init(_ repository: ModelRepository) { self.repository = repository }

    func registerMethods<Transport: ServerTransport>(with router: inout RPCRouter<Transport>) {
        router.register("grpc.health.v1.Health", "Check") {
            [repository] (request: Grpc_Health_V1_HealthCheckRequest) -> Grpc_Health_V1_HealthCheckResponse in
            guard ["", InferenceService.name].contains(request.service) else {
                throw ServingError.missing("There is no service \"\(request.service)\".")
            }
            return .with { $0.status = repository.isReady ? .serving : .notServing }
        }
    }
}

extension RPCRouter {
    /// Registers a call with one request and one answer; a `ServingError` becomes its gRPC status.
    fileprivate mutating func register<Input: Message, Output: Message>(
        _ service: String,
        _ method: String,
        _ body: @escaping @Sendable (Input) async throws -> Output
    ) {
        registerHandler(
            forMethod: MethodDescriptor(fullyQualifiedService: service, method: method),
            deserializer: ProtobufDeserializer<Input>(),
            serializer: ProtobufSerializer<Output>()
        ) { stream, _ in
            let request = try await ServerRequest(stream: stream)
            do {
                return StreamingServerResponse(single: ServerResponse(message: try await body(request.message)))
            } catch let error as ServingError { throw RPCError(error) } catch is CancellationError {
                throw RPCError(code: .cancelled, message: "The client left.")
            } catch let error as RPCError { throw error } catch {
                throw RPCError(code: .internalError, message: "\(error)")
            }
        }
    }
}

extension RPCError {
    /// The status of a refusal or failure, by that of HTTP.
    fileprivate init(_ error: ServingError) {
        let code: RPCError.Code =
            switch error.status {
            case 400: .invalidArgument
            case 404: .notFound
            case 413: .resourceExhausted
            case 499: .cancelled
            case 503: .unavailable
            default: .internalError
            }
        self.init(code: code, message: error.description)
    }
}

extension Inference_ModelInferRequest {
    /// The bytes of the elements, which the budget of bodies counts.
    fileprivate var elementByteCount: Int {
        var count = rawInputContents.reduce(0) { $0 + $1.count }
        for input in inputs where input.hasContents {
            let lists = input.contents
            count += lists.boolContents.count
            count += 4 * (lists.intContents.count + lists.uintContents.count + lists.fp32Contents.count)
            count += 8 * (lists.int64Contents.count + lists.uint64Contents.count + lists.fp64Contents.count)
            count += lists.bytesContents.reduce(0) { $0 + $1.count }
        }
        return count
    }
}

extension TensorType {
    /// The type in the configuration of Triton's models.
    fileprivate var configurationType: Inference_DataType {
        switch self {
        case .bool: .typeBool
        case .uint8: .typeUint8
        case .uint16: .typeUint16
        case .uint32: .typeUint32
        case .uint64: .typeUint64
        case .int8: .typeInt8
        case .int16: .typeInt16
        case .int32: .typeInt32
        case .int64: .typeInt64
        case .fp16: .typeFp16
        case .fp32: .typeFp32
        case .fp64: .typeFp64
        case .bytes: .typeString
        }
    }
}
