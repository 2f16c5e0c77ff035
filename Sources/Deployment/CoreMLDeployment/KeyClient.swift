import CoreML
import CoreMLEncryption
import DeploymentClient
import DeploymentKeys

/// The key service that gives `MLModel.load` the key of an encrypted model.
struct KeyClient: ModelKeyService {
    func lease(for model: EncryptedModelInfo) async throws -> ModelKeyLease {
        let client: LeaseClient
        do throws(DeploymentError) { client = try ModelDeployment.clients().leases } catch {
            throw ModelKeyError.unreachable(error.description)
        }
        let requested = LeaseClient.EncryptedModel(
            keyID: model.keyID,
            content: model.contentID,
            wrapped: Array(model.wrappedKey),
            archive: nil
        )
        do throws(DeploymentKeyError) {
            let held = try await client.key(of: requested)
            let bytes = held.contentKey.withBytes { Data($0) }
            return ModelKeyLease(contentKey: bytes, duration: held.remaining.map { .seconds($0) })
        } catch {
            throw error.isRetryable
                ? ModelKeyError.unreachable(error.description) : ModelKeyError.refused(error.description)
        }
    }
}

/// Registers the key client, in addition to any service of the app's; called when the first encrypted model is opened.
@_cdecl("coreml_deployment_register_keys")
func registerKeyClient() { ModelKeys.registerUsual(KeyClient()) }
