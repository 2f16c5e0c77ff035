import DeploymentKeys
import Foundation
import MLEncryption
import MLFiles
import Testing

/// The vectors in Documentation/Formats/vectors/key-service.json, which the second implementation made.
@Suite struct VectorTests {
    private struct File: Decodable {
        let vectors: [Vector]
    }

    private struct Vector: Decodable {
        struct Key: Decodable {
            let algorithm: String
            let publicKey: String
        }

        let name: String
        let valid: Bool
        let serviceKey: Key
        let recipient: String
        let request: String
        let response: String
        let contentKey: String?
    }

    /// A device's result for the answer, after it has sent the request.
    private func contentKey(_ vector: Vector) throws -> String {
        let bytes = try #require(Base64.bytes(vector.serviceKey.publicKey.utf8))
        let algorithm = try #require(SigningAlgorithm(rawValue: vector.serviceKey.algorithm))
        let key = try SigningPublicKey(algorithm, bytes: bytes)
        let text = Array(vector.request.utf8)
        let request = try ReleaseRequest(text: text)
        #expect(request.isSigned && request.certificate.isSigned(byOneOf: [key]) || !vector.valid)
        let secret = try #require(Hexadecimal.bytes(vector.recipient.utf8))
        let lease = try DeviceIdentity.open(
            Array(vector.response.utf8),
            for: text,
            with: SecretBytes(Data(secret)),
            suite: request.certificate.recipient.suite,
            trusting: [key]
        )
        return lease.contentKey.withBytes { Hexadecimal.text($0) }
    }

    @Test func leases() throws {
        let path = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Documentation/Formats/vectors/key-service.json")
        let vectors = try JSONDecoder().decode(File.self, from: Data(contentsOf: path)).vectors
        #expect(vectors.count >= 30)
        for vector in vectors {
            if vector.valid {
                #expect(try contentKey(vector) == vector.contentKey, "\(vector.name)")
            } else {
                #expect(throws: DeploymentKeyError.self, "\(vector.name)") { try contentKey(vector) }
            }
        }
    }
}
