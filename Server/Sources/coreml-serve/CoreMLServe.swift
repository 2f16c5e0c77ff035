import ArgumentParser
import Foundation
import Hummingbird
import Logging
import ModelServing
import ServerSupport
import ServiceLifecycle
import UnixSignals

@main
struct CoreMLServe: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "coreml-serve",
        abstract: "Serve Core ML models over HTTP and gRPC with the Open Inference Protocol (KServe v2).",
        discussion: """
            Clients are tritonclient, KServe's SDK, curl and any other client of the protocol.

            Examples:
              coreml serve MobileNet.mlpackage
              coreml serve models/                      # models/NAME/VERSION/MODEL.mlpackage
              coreml serve digits=Digits.mlpackage houses.mlmodel --host 0.0.0.0 --port 8000
              coreml serve models/ --grpc-port 8001     # HTTP at 8000 and gRPC at 8001
              coreml serve models/ --max-batch 16 --max-delay 2
              coreml serve models/ --model-control explicit --load-model digits

              curl localhost:8000/v2/models/digits
              curl localhost:8000/v2/models/digits/infer \\
                -d '{"inputs": [{"name": "x", "datatype": "FP32",
                  "shape": [1, 2], "data": [0.5, 1]}]}'
              curl localhost:8000/v2/models/MobileNet/infer \\
                -H 'Inference-Header-Content-Length: 0' --data-binary @cat.jpg

            Exit status: 0 after SIGTERM or SIGINT, when the running requests have ended; 1 failure, 64 wrong usage. \
            Documentation/Serving.md describes types, batches and metrics.
            """,
        version: "coreml-serve \(ServingRoutes.version)"
    )

    @Argument(help: "Models (.mlpackage, .mlmodel, .mlmodelc), NAME=MODEL, or folders of models.")
    var models: [String]
    @Option(help: "The address to listen on.") var host = "127.0.0.1"
    @Option(help: "The port to listen on; 0 for any free port.") var port = 8000
    @Option(help: "The port for gRPC, usually 8001; 0 for any free port. Without it there is no gRPC.")
    var grpcPort: Int?

    @Option(
        name: .customLong("max-batch"),
        help: "The maximum batch size; models that are no faster in batches predict one by one. 1 for no batches."
    )
    var maximumBatchSize = 8
    @Option(
        name: .customLong("max-delay"),
        help:
            "The longest time in milliseconds that an example waits for others; 0 gathers only examples that wait anyway."
    )
    var delay = 0.0
    @Option(help: "The number of predictions at the same time; by default the number of processors.")
    var workers: Int?
    @Option(
        name: .customLong("max-queue"),
        help: "The maximum number of requests that wait for a model; others are answered with 503."
    )
    var maximumQueueLength = 256
    @Option(name: .customLong("max-body"), help: "The maximum size of a request's body in MiB.") var bodyMegabytes = 64
    @Option(
        name: .customLong("max-bodies"),
        help: "The maximum total size of the bodies being processed, in MiB; other requests are answered with 503."
    )
    var totalMegabytes = 512
    @Option(
        name: .customLong("max-connections"),
        help: "The maximum number of connections; others wait until one ends."
    )
    var maximumConnectionCount = 1024
    @Option(help: "The seconds that a client may keep the server waiting.") var patience = 60

    @Option(
        help: """
            When models are loaded: poll (all, and changed ones again), explicit (those of --load-model, and those that \
            clients load) or none (all at the start).
            """
    )
    var modelControl = ModelControl.poll
    @Option(
        name: .customLong("load-model"),
        help: "A model that is loaded at the start of explicit control; * for all."
    )
    var loadedModels: [String] = []
    @Option(
        help: """
            The seconds between two checks for changed models; SIGHUP checks immediately, in explicit control the loaded \
            models.
            """
    )
    var pollSeconds = 5
    @Option(help: "The seconds that requests have to end after SIGTERM.") var grace = 30
    @Option(help: "The lowest level that is logged to standard error.") var logLevel = LogLevel.notice
    @Option(help: "The format of the log: text, or json, one object per line.") var logFormat = LogFormat.text

    func validate() throws {
        let positive = [
            ("--max-batch", maximumBatchSize), ("--workers", workers ?? 1), ("--max-queue", maximumQueueLength),
            ("--max-body", bodyMegabytes), ("--max-bodies", totalMegabytes),
            ("--max-connections", maximumConnectionCount),
            ("--patience", patience), ("--poll-seconds", pollSeconds), ("--grace", grace),
        ]
        for (name, value) in positive where !(1...1_000_000).contains(value) {
            throw ValidationError("\(name) takes a number from 1 to 1000000.")
        }
        guard (0...60_000).contains(delay) else { throw ValidationError("--max-delay takes 0 to 60000 milliseconds.") }
        for (name, port) in [("--port", port), ("--grpc-port", grpcPort ?? 0)] where !(0...65_535).contains(port) {
            throw ValidationError("\(name) takes a number from 0 to 65535.")
        }
        guard bodyMegabytes <= totalMegabytes else { throw ValidationError("--max-body must not exceed --max-bodies.") }
        guard loadedModels.isEmpty || modelControl == .explicit else {
            throw ValidationError("--load-model needs --model-control explicit.")
        }
        guard !models.isEmpty else { throw ValidationError("Name a model or a folder of models.") }
    }

    func run() async throws {
        let logger = logFormat.logger(logLevel)
        do { try await serve(logger) } catch let error as ServingError {
            FileHandle.standardError.write(Data("Error: \(error.description)\n".utf8))
            throw ExitCode.failure
        }
    }

    private func serve(_ logger: Logger) async throws {
        let metrics = ServingMetrics()
        var batches = BatchOptions()
        batches.maximumBatchSize = maximumBatchSize
        batches.delay = .microseconds(Int64(delay * 1000))
        batches.maximumQueueLength = maximumQueueLength
        let pool = PredictionPool(workers: workers ?? ProcessInfo.processInfo.activeProcessorCount)
        let repository = ModelRepository(
            try models.map { try ModelSource(argument: $0) },
            control: modelControl,
            options: batches,
            pool: pool,
            metrics: metrics,
            logger: logger
        )
        try await repository.start(loadedModels)
        guard modelControl == .explicit || !repository.loaded.isEmpty else {
            throw ServingError(500, "No model could be loaded.")
        }
        var limits = RequestLimits()
        (limits.bodyBytes, limits.totalBytes) = (bodyMegabytes << 20, totalMegabytes << 20)
        var connections = ConnectionOptions()
        (connections.host, connections.port) = (host, port)
        connections.maximumConnectionCount = maximumConnectionCount
        connections.patience = .seconds(patience)
        var services: [any ServiceLifecycle.Service] = []
        if modelControl == .poll { services.append(ModelWatch(repository, interval: .seconds(pollSeconds))) }
        services.append(ReloadSignal(repository: repository, logger: logger))
        let routes = ServingRoutes(repository, metrics: metrics, limits: limits)
        let place = host.contains(":") ? "[\(host)]" : host
        if let grpcPort {
            var connections = connections
            connections.port = grpcPort
            services.append(
                try InferenceServer(routes, options: connections) { port in
                    print("Listening for gRPC at \(place):\(port)")
                    fflush(nil)
                }
            )
        }
        let application = servingApplication(
            routes,
            options: connections,
            services: services,
            logger: logger,
            onRunning: { port in
                print("Listening at http://\(place):\(port)")
                fflush(nil)
            }
        )
        var configuration = ServiceGroupConfiguration(
            services: [.init(service: application)],
            gracefulShutdownSignals: [.sigterm, .sigint],
            logger: logger
        )
        configuration.maximumGracefulShutdownDuration = .seconds(grace)
        try await ServiceGroup(configuration: configuration).run()
        pool.stop()
    }
}

extension ModelControl: ExpressibleByArgument {}

/// Looks for changed models at `SIGHUP`, which would otherwise end the process.
struct ReloadSignal: ServiceLifecycle.Service {
    let repository: ModelRepository
    let logger: Logger

    func run() async throws {
        await cancelWhenGracefulShutdown {
            for await _ in await UnixSignalsSequence(trapping: .sighup) {
                guard repository.control != .none else {
                    logger.notice("SIGHUP has no effect with --model-control none.")
                    continue
                }
                // A change counts when two looks agree.
                await repository.refresh()
                try? await Task.sleep(for: .milliseconds(200))
                await repository.refresh()
            }
        }
    }
}
