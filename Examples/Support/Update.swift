import CoreML

/// Updates the compiled model at `url` and gives the result.
public func update(
    _ url: URL,
    with examples: [[String: MLFeatureValue]],
    configuration: MLModelConfiguration = MLModelConfiguration(),
    epochEnd: (@Sendable (Int, Double) -> Void)? = nil
) async throws -> MLModel {
    let batch = MLArrayBatchProvider(array: try examples.map { try MLDictionaryFeatureProvider(dictionary: $0) })
    return try await withCheckedThrowingContinuation { continuation in
        do {
            let handlers = MLUpdateProgressHandlers(
                forEvents: epochEnd == nil ? [] : [.epochEnd],
                progressHandler: { context in
                    let loss = context.metrics[.lossValue] as? Double ?? 0
                    epochEnd?(context.metrics[.epochIndex] as? Int ?? 0, loss)
                },
                completionHandler: { context in
                    if let error = context.task.error {
                        continuation.resume(throwing: error)
                    } else {
                        continuation.resume(returning: context.model)
                    }
                }
            )
            try MLUpdateTask(
                forModelAt: url,
                trainingData: batch,
                configuration: configuration,
                progressHandlers: handlers
            ).resume()
        } catch { continuation.resume(throwing: error) }
    }
}
