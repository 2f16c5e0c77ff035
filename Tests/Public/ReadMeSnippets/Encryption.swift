// The code of the article on encryption.

import CoreML
import CoreMLEncryption
import FoundationNetworking

enum FlowerProblem: Error { case noKey, damaged, other }

/// Loads a model, encrypted or not; a failure states the problem to show to the user.
func flowers(at url: URL) async -> Result<MLModel, FlowerProblem> {
    do {
        return .success(try await MLModel.load(contentsOf: url))
    } catch MLModelError.modelDecryptionKeyFetch {
        return .failure(.noKey)
    } catch MLModelError.modelDecryption {
        return .failure(.damaged)
    } catch {
        return .failure(.other)
    }
}

/// Asks the app's server for keys.
struct KeyServer: ModelKeyService {
    let address: URL

    func lease(for model: EncryptedModelInfo) async throws -> ModelKeyLease {
        var request = URLRequest(url: address.appendingPathComponent(model.keyID))
        request.httpMethod = "POST"
        request.httpBody = model.wrappedKey
        let (key, response) = try await URLSession.shared.data(for: request)
        switch (response as? HTTPURLResponse)?.statusCode {
        case 200?: return ModelKeyLease(contentKey: key, duration: .seconds(7 * 86_400))
        case 403?: throw ModelKeyError.refused("this device may not have it")
        default: throw ModelKeyError.unreachable("the server is busy")
        }
    }
}

func prepare(_ model: URL, server: URL) async throws {
    ModelKeys.register(KeyServer(address: server))
    try await ModelKeys.prefetch(for: model)
}
