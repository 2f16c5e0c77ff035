import CoreML
import Foundation
import GRPCCore
import GRPCNIOTransportHTTP2Posix
import GRPCProtobuf
import InferenceProtocol
import Logging
import ServiceLifecycle
import SwiftProtobuf
import Testing

import ModelServing

@Suite("Serving models over gRPC") struct GRPCTests {
    private func everything(_ limits: RequestLimits = RequestLimits()) async throws -> ServingWorld {
        try await ServingWorld(limits: limits) { models in
            try models.write(try TestModels.rows(), "rows/1/model.mlmodel")
            try models.write(try TestModels.rows(scale: 2), "rows/2/model.mlmodel")
            try models.write(try TestModels.copy(.int32, [2]), "integers.mlmodel")
            try models.write(try TestModels.copy(.float16, [2]), "halves.mlmodel")
            try models.write(try TestModels.neighbors(), "neighbors.mlmodel")
        }
    }

    @Test func aWholeConversation() async throws {
        try await everything().runGRPC { client in
            let live: Inference_ServerLiveResponse = try await client.call("ServerLive", Inference_ServerLiveRequest())
            let ready: Inference_ServerReadyResponse = try await client.call(
                "ServerReady",
                Inference_ServerReadyRequest()
            )
            #expect(live.live && ready.ready)
            let server: Inference_ServerMetadataResponse = try await client.call(
                "ServerMetadata",
                Inference_ServerMetadataRequest()
            )
            #expect(server.name == "coreml-serve" && server.extensions.contains("statistics"))
            let isReady: Inference_ModelReadyResponse = try await client.call(
                "ModelReady",
                Inference_ModelReadyRequest.with { ($0.name, $0.version) = ("rows", "1") }
            )
            #expect(isReady.ready)
            let metadata: Inference_ModelMetadataResponse = try await client.call(
                "ModelMetadata",
                Inference_ModelMetadataRequest.with { $0.name = "rows" }
            )
            #expect(metadata.versions == ["1", "2"] && metadata.inputs.map(\.name) == ["x"])
            #expect(metadata.inputs.first?.datatype == "FP32" && metadata.inputs.first?.shape == [-1, 3])

            // The newest version by default, raw elements, an id.
            var answer = try await client.infer(.rows([[1, 0, 0], [0, 1, 0]], raw: true).with(id: "7"))
            #expect(answer.id == "7" && answer.modelName == "rows" && answer.modelVersion == "2")
            #expect(answer.outputs.map(\.name) == ["y"] && answer.outputs.first?.shape == [2, 3])
            #expect(answer.floats(0) == [2, 8, 15, 4, 10, 17])
            // An older one, elements in a list.
            answer = try await client.infer(.rows([[1, 0, 0]], raw: false).with(version: "1"))
            #expect(answer.floats(0) == [1, 4, 8] && answer.modelVersion == "1")

            let config: Inference_ModelConfigResponse = try await client.call(
                "ModelConfig",
                Inference_ModelConfigRequest.with { $0.name = "integers" }
            )
            #expect(config.config.input.map(\.dataType) == [.typeInt32] && config.config.output.map(\.dims) == [[2]])
            let statistics: Inference_ModelStatisticsResponse = try await client.call(
                "ModelStatistics",
                Inference_ModelStatisticsRequest.with { ($0.name, $0.version) = ("rows", "2") }
            )
            #expect(statistics.modelStats.map(\.inferenceCount) == [1])
            let index: Inference_RepositoryIndexResponse = try await client.call(
                "RepositoryIndex",
                Inference_RepositoryIndexRequest()
            )
            #expect(index.models.map(\.state) == [String](repeating: "READY", count: 5))
        }
    }

    @Test func elementsOfEveryKind() async throws {
        try await everything().runGRPC { client in
            var request = Inference_ModelInferRequest.of("integers", "INT32", [2]) { $0.intContents = [3, -4] }
            var answer = try await client.infer(request)
            #expect(answer.rawOutputContents == [withUnsafeBytes(of: (Int32(3), Int32(-4))) { Data($0) }])
            request = .of("halves", "FP16", [2]) { _ in }
            request.inputs[0].clearContents()
            request.rawInputContents = [Data([0, 0x3C, 0, 0xC0])]
            answer = try await client.infer(request)
            #expect(answer.outputs.first?.datatype == "FP16" && answer.rawOutputContents == request.rawInputContents)
            // Classes, as Triton's classification extension gives them.
            request = .of("neighbors", "FP32", [2]) { $0.fp32Contents = [1, 1] }
            request.inputs[0].name = "point"
            request.outputs = [
                .with { output in
                    output.name = "probabilities"
                    output.parameters["classification"] = .with { $0.int64Param = 1 }
                }
            ]
            answer = try await client.infer(request)
            let classes = String(decoding: answer.rawOutputContents.first?.dropFirst(4) ?? Data(), as: UTF8.self)
            #expect(answer.outputs.map(\.datatype) == ["BYTES"] && classes.hasSuffix("near"), "\(classes)")
        }
    }

    @Test func whatDoesNotFitIsNamed() async throws {
        try await everything().runGRPC { client in
            func refusal(_ request: Inference_ModelInferRequest) async throws -> RPCError? {
                do {
                    _ = try await client.infer(request)
                    return nil
                } catch let error as RPCError { return error }
            }
            let rows = Inference_ModelInferRequest.rows([[1, 0, 0]], raw: true)
            func broken(_ change: (inout Inference_ModelInferRequest) -> Void) -> Inference_ModelInferRequest {
                var request = rows
                change(&request)
                return request
            }
            for (request, code, words) in [
                (broken { $0.modelName = "nothing" }, RPCError.Code.notFound, "nothing"),
                (broken { $0.modelVersion = "9" }, .notFound, "9"),
                (broken { $0.inputs = [] }, .invalidArgument, "inputs"),
                (broken { $0.inputs[0].datatype = "FP8" }, .invalidArgument, "FP8"),
                (broken { $0.inputs[0].shape = [-1, 3] }, .invalidArgument, "shape"),
                (broken { $0.inputs[0].shape = [.max, .max] }, .invalidArgument, "too large"),
                (broken { $0.inputs[0].name = "z" }, .invalidArgument, "\"x\" is missing"),
                (broken { $0.rawInputContents = [Data(count: 5)] }, .invalidArgument, "5 bytes"),
                (broken { $0.rawInputContents.append(Data()) }, .invalidArgument, "raw_input_contents"),
                (broken { $0.inputs[0].contents.fp32Contents = [1] }, .invalidArgument, "both"),
                (broken { $0.rawInputContents = [] }, .invalidArgument, "no elements"),
                (
                    .of("rows", "FP32", [1, 3]) { $0.fp64Contents = [1, 2, 3] }, .invalidArgument, "3 in fp64_contents"
                ),
                (.of("integers", "INT8", [2]) { $0.intContents = [1, 300] }, .invalidArgument, "300"),
                (.of("halves", "FP16", [2]) { _ in }, .invalidArgument, "raw_input_contents"),
                (broken { $0.outputs = [.with { $0.name = "w" }] }, .invalidArgument, "w"),
                (
                    broken { $0.parameters["sequence_id"] = .with { $0.int64Param = 4 } }, .invalidArgument, "sequence"
                ),
                (
                    broken { $0.inputs[0].parameters["shared_memory_region"] = .with { $0.stringParam = "r" } },
                    .invalidArgument, "shared memory"
                ),
            ] {
                let error = try #require(try await refusal(request), "\(words)")
                #expect(error.code == code && error.message.contains(words), "\(error)")
            }
            let load = Inference_RepositoryModelLoadRequest.with { $0.modelName = "rows" }
            await #expect(throws: RPCError.self) {
                let _: Inference_RepositoryModelLoadResponse = try await client.call("RepositoryModelLoad", load)
            }
            #expect(try await client.infer(rows).floats(0) == [2, 8, 15])
        }
    }

    @Test func aStreamGoesOnAfterAnError() async throws {
        try await everything().runGRPC { client in
            let requests: [Inference_ModelInferRequest] = [
                .rows([[1, 0, 0]], raw: true).with(id: "a"), .of("nothing", "FP32", [1]) { $0.fp32Contents = [1] },
                .rows([[0, 1, 0]], raw: true).with(id: "c"),
            ]
            let answers = try await client.stream(requests)
            #expect(answers.map(\.errorMessage.isEmpty) == [true, false, true])
            #expect(answers.map(\.inferResponse.id) == ["a", "", "c"])
            #expect(answers.last?.inferResponse.floats(0) == [4, 10, 17])
        }
    }

    @Test func healthChecks() async throws {
        try await everything().runGRPC { client in
            func check(_ service: String) async throws -> Grpc_Health_V1_HealthCheckResponse {
                try await client.call("Check", Grpc_Health_V1_HealthCheckRequest.with { $0.service = service }, health)
            }
            let (whole, service) = try await (check(""), check("inference.GRPCInferenceService"))
            #expect(whole.status == .serving && service.status == .serving)
            await #expect(throws: RPCError.self) { _ = try await check("another") }
        }
    }

    @Test func aMessageBeyondTheLimitIsRefused() async throws {
        var limits = RequestLimits()
        limits.bodyBytes = 1 << 10
        try await everything(limits).runGRPC { client in
            let many = [[Float]](repeating: [1, 0, 0], count: 200)
            let error = await #expect(throws: RPCError.self) { _ = try await client.infer(.rows(many, raw: true)) }
            // The transport ends the call before the service sees it.
            #expect(error?.code == .unavailable, "\(String(describing: error))")
            let answer = try await client.infer(.rows([[1, 0, 0]], raw: true))
            #expect(answer.floats(0) == [2, 8, 15])
        }
    }
}

private let inference = "inference.GRPCInferenceService"
private let health = "grpc.health.v1.Health"

private typealias Client = GRPCClient<HTTP2ClientTransport.Posix>

extension ServingWorld {
    /// Calls `body` with a client of a server at a free port, and ends both afterwards.
    fileprivate func runGRPC(_ body: @Sendable (Client) async throws -> Void) async throws {
        defer { pool.stop() }
        var options = ConnectionOptions()
        options.port = 0
        let (ports, port) = AsyncStream.makeStream(of: Int.self)
        let server = try InferenceServer(routes, options: options) { number in
            port.yield(number)
            port.finish()
        }
        let services = ServiceGroup(
            services: [server],
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        )
        async let served: Void = services.run()
        let number = try #require(await ports.first { _ in true })
        try await withGRPCClient(
            transport: .http2NIOPosix(
                target: .ipv4(address: "127.0.0.1", port: number),
                transportSecurity: .plaintext
            )
        ) { client in try await body(client) }
        await services.triggerGracefulShutdown()
        try await served
    }
}

extension GRPCClient<HTTP2ClientTransport.Posix> {
    fileprivate func call<Request: Message, Answer: Message>(
        _ method: String,
        _ request: Request,
        _ service: String = inference
    ) async throws -> Answer {
        try await unary(
            request: ClientRequest(message: request),
            descriptor: MethodDescriptor(fullyQualifiedService: service, method: method),
            serializer: ProtobufSerializer<Request>(),
            deserializer: ProtobufDeserializer<Answer>(),
            options: .defaults
        ) { try $0.message }
    }

    fileprivate func infer(_ request: Inference_ModelInferRequest) async throws -> Inference_ModelInferResponse {
        try await call("ModelInfer", request)
    }

    fileprivate func stream(
        _ requests: [Inference_ModelInferRequest]
    ) async throws -> [Inference_ModelStreamInferResponse] {
        try await bidirectionalStreaming(
            request: StreamingClientRequest { writer in for request in requests { try await writer.write(request) } },
            descriptor: MethodDescriptor(fullyQualifiedService: inference, method: "ModelStreamInfer"),
            serializer: ProtobufSerializer<Inference_ModelInferRequest>(),
            deserializer: ProtobufDeserializer<Inference_ModelStreamInferResponse>(),
            options: .defaults
        ) { response in
            var answers: [Inference_ModelStreamInferResponse] = []
            for try await answer in response.messages { answers.append(answer) }
            return answers
        }
    }
}

extension Inference_ModelInferRequest {
    /// A request with one input, `x`.
    fileprivate static func of(
        _ model: String,
        _ type: String,
        _ shape: [Int64],
        _ fill: (inout Inference_InferTensorContents) -> Void
    ) -> Self {
        .with { request in
            request.modelName = model
            request.inputs = [
                .with { input in
                    (input.name, input.datatype, input.shape) = ("x", type, shape)
                    fill(&input.contents)
                }
            ]
        }
    }

    fileprivate static func rows(_ rows: [[Float]], raw: Bool) -> Self {
        var request = of("rows", "FP32", [Int64(rows.count), 3]) { $0.fp32Contents = rows.flatMap { $0 } }
        guard raw else { return request }
        request.inputs[0].clearContents()
        request.rawInputContents = [rows.flatMap { $0 }.withUnsafeBytes { Data($0) }]
        return request
    }

    fileprivate func with(id: String = "", version: String = "") -> Self {
        var request = self
        (request.id, request.modelVersion) = (id, version)
        return request
    }
}

extension Inference_ModelInferResponse {
    fileprivate func floats(_ output: Int) -> [Float] {
        rawOutputContents[output].withUnsafeBytes { bytes in
            (0..<bytes.count / 4).map { bytes.loadUnaligned(fromByteOffset: 4 * $0, as: Float.self) }
        }
    }
}
