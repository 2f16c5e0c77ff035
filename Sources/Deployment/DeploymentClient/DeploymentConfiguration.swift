package import DeploymentPolicy
package import Foundation
import MLEncryption
import MLFiles
import MLNumerics

/// The information that an app contains to find and trust its collections: `ModelDeployment.json`.
package struct DeploymentConfiguration: Sendable {
    /// The address of the server or a static copy of it.
    package var server: URL
    package let team: String
    package let app: String
    /// The environment of the app, such as `production`.
    package let environment: String
    /// The team's root metadata, with which everything else is verified.
    package let root: [UInt8]
    /// The date at which the file was written: it cannot be earlier than that on any device.
    package let created: PolicyDate?

    package static let fileName = "ModelDeployment.json"
    private static let maximumByteCount = 1 << 20

    package init(contentsOf path: String) throws(DeploymentError) {
        do throws(ModelError) {
            guard FileAccess.byteCount(of: path).map({ $0 <= Self.maximumByteCount }) ?? true else {
                throw ModelError(.malformed, "The file is too large to be a configuration.", at: path)
            }
            try self.init(JSONReader.read(try FileAccess.read(path)))
        } catch { throw DeploymentError(.configuration, path, error.description) }
    }

    private init(_ json: JSONValue) throws(ModelError) {
        func text(_ name: String) throws(ModelError) -> String {
            guard let text = json[name]?.string, !text.isEmpty else {
                throw ModelError(
                    .malformed,
                    "The text \"\(name)\" is missing: write the file again with coreml deploy configuration."
                )
            }
            return text
        }
        guard case .integer(1)? = json["format"] else {
            throw ModelError(.unsupported, "The file is of another format than 1; use a newer swift-coreml.")
        }
        let address = try text("server")
        guard let server = URL(string: address), let scheme = server.scheme, ["http", "https", "file"].contains(scheme)
        else {
            throw ModelError(.malformed, "\"\(address)\" is not an address of a server.")
        }
        guard let root = Base64.bytes(Array(try text("root").utf8)) else {
            throw ModelError(
                .malformed,
                "The root of trust is not base64: write the file again with coreml deploy configuration."
            )
        }
        self.root = root
        created = json["created"]?.string.flatMap { PolicyDate($0) }
        (self.server, team, app, environment) = (server, try text("team"), try text("app"), try text("environment"))
        for name in [team, app, environment] where !Self.isName(name) {
            throw ModelError(.malformed, "\"\(name)\" is not a name of a team, an app or an environment.")
        }
    }

    /// Whether a name has only letters a–z, digits and hyphens, which are safe in addresses and paths.
    private static func isName(_ name: String) -> Bool {
        (1...64).contains(name.utf8.count)
            && name.utf8.allSatisfy { (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2D }
    }
}
