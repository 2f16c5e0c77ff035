public import CoreML
package import MLFiles
import MLNumerics
package import MLSpecification

/// A model in memory, as its file contains it.
///
/// It is finished by a builder or read from a file, and can be written, loaded, edited (`ModelEditor`) or appended to a
/// pipeline (`PipelineBuilder`).
public struct ModelSpecification: Sendable {
    /// The model, and the weight files that its programs refer to.
    package let file: ModelFile

    package init(_ file: ModelFile) { self.file = file }

    /// Creates a model with the lowest version of the model format that supports the features it uses.
    package init(_ specification: SpecModel) {
        file = ModelFile(specification: SpecificationVersion.lowered(specification))
    }

    /// Reads a `.mlmodel` file, a `.mlpackage` or a compiled directory, or throws `MLModelError`.
    public init(contentsOf url: URL) throws {
        do { file = try ModelFile.open(path: url.path) } catch { throw MLModelError(error) }
    }

    /// The version of the model format: the lowest that supports the features the model uses.
    public var specificationVersion: Int { Int(file.specification.specificationVersion) }

    /// Whether the model can be updated on the device.
    public var isUpdatable: Bool { file.specification.isUpdatable }

    /// The description, author, license, version and further metadata of the model.
    public var metadata: ModelMetadata { ModelMetadata(file.specification.description_p.metadata) }

    /// Returns the bytes of a `.mlmodel` file, or throws `MLModelError` when the model is protected.
    public func data() throws -> Data {
        do throws(ModelError) {
            try file.requireUnprotected("encoding")
            return Data(try SpecificationReader.encode(file.specification))
        } catch { throw MLModelError(error) }
    }

    /// Writes a `.mlpackage` if the name has that extension, else a `.mlmodel` file.
    ///
    /// The new file replaces an older one when it is complete; a failure leaves the older one unchanged.
    ///
    /// - Parameter url: The file or package to write.
    /// - Throws: `MLModelError` when the model is protected, when it keeps weights in separate files, which a
    ///   `.mlmodel` cannot hold, or when writing fails.
    public func write(to url: URL) throws {
        do throws(ModelError) { try file.write(to: FileAccess.withoutTrailingSlash(url.path)) } catch {
            throw MLModelError(error)
        }
    }

    /// Loads the model without a file.
    ///
    /// - Parameter configuration: The compute units and parameters to use.
    /// - Returns: The loaded model.
    /// - Throws: `MLModelError` when the model cannot be loaded.
    public func model(configuration: MLModelConfiguration = MLModelConfiguration()) throws -> MLModel {
        try MLModel(file, configuration: configuration)
    }
}
