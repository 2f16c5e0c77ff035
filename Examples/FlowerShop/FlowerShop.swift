// An app as session 10152 of WWDC 2020 writes it: its models come from a collection, and until they have arrived from the
// folder that came with the app. Only the product CoreMLDeployment in Package.swift says where collections come from.
import CoreML
import CoreVideo
import Foundation

/// The app: it names the flower on a picture, and tints the picture.
struct FlowerShop {
    /// The models that came with the app.
    let bundle: URL

    func open(_ picture: URL) async throws {
        let collection = await collection()
        let classifier = try await model("FlowerClassifier", of: collection)
        let effects = try await model("FlowerEffects", of: collection)
        let image = try MLFeatureValue(
            imageAt: picture,
            pixelsWide: 32,
            pixelsHigh: 32,
            pixelFormatType: kCVPixelFormatType_32BGRA
        )
        let input = try MLDictionaryFeatureProvider(dictionary: ["image": image])
        let answer = try await classifier.prediction(from: input)
        let styled = try await effects.prediction(from: input)
        let isStyled = styled.featureValue(for: "stylized")?.imageBufferValue != nil
        print(
            "  FlowerClassifier \(version(of: classifier)): \(answer.featureValue(for: "flower")?.stringValue ?? "?")"
        )
        print("  FlowerEffects \(version(of: effects)): \(isStyled ? "picture tinted" : "no picture")")
    }

    /// The collection as it is on the device; `nil` where the server has never been reached.
    private func collection() async -> MLModelCollection? {
        await withCheckedContinuation { (continuation: CheckedContinuation<MLModelCollection?, Never>) in
            let progress = MLModelCollection.beginAccessing(identifier: "FlowerModels") { result in
                switch result {
                case .success(let collection): continuation.resume(returning: collection)
                case .failure(let error):
                    print("  \(error.localizedDescription)")
                    continuation.resume(returning: nil)
                }
            }
            downloads = progress
        }
    }

    private func model(_ name: String, of collection: MLModelCollection?) async throws -> MLModel {
        if let entry = collection?.entries[name] {
            print("  \(name) comes from the collection")
            return try await MLModel.load(contentsOf: entry.modelURL)
        }
        print("  \(name) comes with the app")
        return try await MLModel.load(contentsOf: bundle.appendingPathComponent("\(name).mlmodelc"))
    }

    private func version(of model: MLModel) -> String {
        model.modelDescription.metadata[.versionString] as? String ?? ""
    }
}

/// The progress of the background downloads.
nonisolated(unsafe) private var downloads = Progress(totalUnitCount: 0)

@main
enum Main {
    static func main() async throws {
        guard CommandLine.arguments.count == 3 else {
            print("usage: demo-flower-shop FOLDER-OF-BUNDLED-MODELS PICTURE")
            exit(64)
        }
        let shop = FlowerShop(bundle: URL(fileURLWithPath: CommandLine.arguments[1]))
        try await shop.open(URL(fileURLWithPath: CommandLine.arguments[2]))
        // An app runs on; this one waits until what is fetched has arrived, a minute at most.
        for _ in 0..<600 where !downloads.isFinished && downloads.totalUnitCount != 0 {
            try await Task.sleep(for: .milliseconds(100))
        }
        if downloads.isFinished, downloads.totalUnitCount > 1 {
            print("  \(downloads.totalUnitCount) bytes arrived for the next launch")
        }
    }
}
