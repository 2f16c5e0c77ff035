import CoreML
import CoreMLExtras
import Foundation
import Hummingbird
import HummingbirdTesting
import Logging
import NIOCore
import ServerSupport

import ModelServing

/// A server of test models, and requests to it.
struct ServingWorld {
    let models: TestModels
    let pool: PredictionPool
    let repository: ModelRepository
    let routes: ServingRoutes

    init(
        control: ModelControl = .poll,
        batches: BatchOptions = BatchOptions(),
        limits: RequestLimits = RequestLimits(),
        workers: Int = 2,
        clock: any PredictionClock = MachineClock(),
        loading names: [String] = [],
        _ make: (TestModels) throws -> Void
    ) async throws {
        models = try TestModels()
        try make(models)
        pool = PredictionPool(workers: workers, clock: clock)
        let metrics = ServingMetrics()
        var logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        logger.logLevel = .critical
        repository = ModelRepository(
            [.folder(path: models.folder.path)],
            control: control,
            options: batches,
            pool: pool,
            metrics: metrics,
            logger: logger
        )
        try await repository.start(names)
        routes = ServingRoutes(repository, metrics: metrics, limits: limits)
    }

    /// Calls `body` with a client, and ends the workers afterwards.
    func run(_ body: @Sendable (any TestClientProtocol) async throws -> Void) async throws {
        defer { pool.stop() }
        try await Application(router: routes.router()).test(.router) { client in try await body(client) }
    }
}

/// An answer's JSON.
struct Answer: Decodable, Equatable {
    struct Output: Decodable, Equatable {
        let name: String
        let datatype: String
        let shape: [Int]
        var data: [Value]?
    }

    enum Value: Decodable, Equatable {
        case number(Double)
        case text(String)

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let number = try? container.decode(Double.self) {
                self = .number(number)
            } else {
                self = .text(try container.decode(String.self))
            }
        }
    }

    var model_name: String?
    var model_version: String?
    var id: String?
    var outputs: [Output]?
    var error: String?

    init(_ response: TestResponse) throws {
        self = try JSONDecoder().decode(Answer.self, from: Data(response.body.readableBytesView))
    }

    /// The numbers of an output.
    func numbers(_ name: String) -> [Double]? {
        outputs?.first { $0.name == name }?.data?.compactMap { if case .number(let value) = $0 { value } else { nil } }
    }

    func texts(_ name: String) -> [String]? {
        outputs?.first { $0.name == name }?.data?.compactMap { if case .text(let value) = $0 { value } else { nil } }
    }
}

extension TestClientProtocol {
    func post(_ path: String, _ body: String, _ headers: HTTPFields = [:]) async throws -> TestResponse {
        try await execute(uri: path, method: .post, headers: headers, body: ByteBuffer(string: body))
    }

    func get(_ path: String) async throws -> TestResponse { try await execute(uri: path, method: .get) }
}
