// An app that teaches its model new stickers, in the words of Apple's documentation.
import CoreML

final class StickerTeacher {
    private let updatedModelURL: URL
    private let temporaryURL: URL
    private var currentModel: MLModel?

    init(folder: URL) {
        updatedModelURL = folder.appendingPathComponent("personalized.mlmodelc")
        temporaryURL = folder.appendingPathComponent("personalized_tmp.mlmodelc")
    }

    func teach(_ drawings: [(image: CVPixelBuffer, sticker: String)], whenDone: @escaping (Error?) -> Void) throws {
        var providers = [MLFeatureProvider]()
        for (image, sticker) in drawings {
            let inputs: [String: MLFeatureValue] = [
                "drawing": MLFeatureValue(pixelBuffer: image),
                "label": MLFeatureValue(string: sticker),
            ]
            providers.append(try MLDictionaryFeatureProvider(dictionary: inputs))
        }
        let task = try MLUpdateTask(
            forModelAt: updatedModelURL,
            trainingData: MLArrayBatchProvider(array: providers),
            configuration: nil,
            completionHandler: { context in
                if context.task.state == .failed {
                    whenDone(context.task.error)
                    return
                }
                self.save(context)
                whenDone(nil)
            }
        )
        task.resume()
    }

    func fineTune(_ data: MLBatchProvider, epochs: Int) throws -> MLUpdateTask {
        let configuration = MLModelConfiguration()
        configuration.computeUnits = .cpuOnly
        configuration.parameters = [
            .epochs: epochs, .learningRate: 0.01, MLParameterKey.numberOfNeighbors.scoped(to: "classifier"): 3,
        ]
        let progressHandler = { (context: MLUpdateContext) in
            switch context.event {
            case .trainingBegin:
                print("begins with", context.parameters[.learningRate] ?? "no rate")
            case .miniBatchEnd:
                let batchIndex = context.metrics[.miniBatchIndex] as! Int
                let batchLoss = context.metrics[.lossValue] as! Double
                print("mini-batch \(batchIndex), loss \(batchLoss)")
            case .epochEnd:
                let epochIndex = context.metrics[.epochIndex] as! Int
                if epochIndex == 10 {
                    context.task.resume(withParameters: [.learningRate: 0.001])
                }
            default:
                print("unknown event")
            }
        }
        let handlers = MLUpdateProgressHandlers(
            forEvents: [.trainingBegin, .miniBatchEnd, .epochEnd],
            progressHandler: progressHandler,
            completionHandler: { self.save($0) }
        )
        return try MLUpdateTask(
            forModelAt: updatedModelURL,
            trainingData: data,
            configuration: configuration,
            progressHandlers: handlers
        )
    }

    private func save(_ context: MLUpdateContext) {
        let updatedModel = context.model
        let fileManager = FileManager.default
        do {
            try fileManager.createDirectory(at: temporaryURL, withIntermediateDirectories: true, attributes: nil)
            try updatedModel.write(to: temporaryURL)
            _ = try fileManager.replaceItemAt(updatedModelURL, withItemAt: temporaryURL)
            currentModel = try MLModel(contentsOf: updatedModelURL)
        } catch {
            print("Could not save the updated model: \(error)")
        }
    }

    var learningRateRange: String? {
        let description = currentModel?.modelDescription.parameterDescriptionsByKey[.learningRate]
        guard let constraint = description?.numericConstraint else { return nil }
        return "\(constraint.minNumber) to \(constraint.maxNumber)"
    }
}
