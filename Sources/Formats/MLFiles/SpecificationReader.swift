package import MLNumerics
package import MLSpecification
import SwiftProtobuf

/// Decodes and encodes the specification: the message in a model file.
package enum SpecificationReader {
    /// The newest specification version that is supported.
    package static let newestVersion: Int32 = 10

    /// Decodes a model; errors name the damaged field.
    ///
    /// Unknown fields are kept.
    package static func decode(_ bytes: UnsafeRawBufferPointer) throws(ModelError) -> SpecModel {
        do {
            return try SpecModel(serializedBytes: ByteRegion(bytes))
        } catch let failure {
            throw diagnosis(bytes, failure)
        }
    }

    package static func decode(_ bytes: [UInt8]) throws(ModelError) -> SpecModel {
        try bytes.withUnsafeBufferPointer { (buffer) throws(ModelError) in try decode(UnsafeRawBufferPointer(buffer)) }
    }

    /// Encodes a model; equal models have equal bytes.
    package static func encode(_ model: SpecModel) throws(ModelError) -> [UInt8] {
        var options = BinaryEncodingOptions()
        options.useDeterministicOrdering = true
        do {
            return try model.serializedBytes(options: options)
        } catch {
            throw ModelError(
                .unsupported,
                "The specification takes more than 2 GB, which its format cannot hold; "
                    + "save the model as a package, whose weights are in a separate file."
            )
        }
    }

    /// Throws for a model that no engine can run: without a version, with a future version, or without a kind.
    package static func validate(_ model: SpecModel) throws(ModelError) {
        let version = model.specificationVersion
        guard version >= 1 else {
            throw ModelError(
                .malformed,
                "The specification version is \(version), so this is not a Core ML model; check the file.",
                at: "specificationVersion"
            )
        }
        guard version <= newestVersion else {
            throw ModelError(
                .unsupported,
                "The specification version is \(version), the newest known here is \(newestVersion); "
                    + "convert the model for an older deployment target.",
                at: "specificationVersion"
            )
        }
        guard model.type != nil else {
            throw ModelError(
                .malformed,
                "The file holds no model of a known kind; convert the model again.",
                at: "Type"
            )
        }
    }

    private static func diagnosis(_ bytes: UnsafeRawBufferPointer, _ failure: any Error) -> ModelError {
        guard let finding = WireDiagnosis.find(in: bytes, message: "Model") else {
            return ModelError(
                .malformed,
                "The specification cannot be decoded (\(failure)); copy the file again or convert the model again."
            )
        }
        var error = ModelError(
            .malformed,
            "The file is damaged at byte \(finding.offset): \(finding.reason); copy the file again or convert the model again."
        )
        error.trail = finding.path.isEmpty ? [] : [finding.path.joined(separator: ".")]
        return error
    }
}
