package import MLEngine
import MLImages
package import MLNumerics

extension MLModel {
    /// Predicts the outputs of one example from the values of an engine, checked as those of a provider are.
    ///
    /// - Parameters:
    ///   - given: A value for each input that is not optional; further values are ignored.
    ///   - backings: Tensors that outputs of the same type and shape are written to.
    ///   - state: A state of this model; `nil` for models without states.
    /// - Returns: The outputs by name, in the engine's types: the interface may state other element types.
    /// - Throws: `MLModelError`, as `prediction(from:)` does.
    package func engineOutputs(
        from given: [String: FeatureData],
        backings: [String: FeatureData] = [:],
        state: MLState? = nil
    ) throws -> [String: FeatureData] {
        let features = try engineInputs(given)
        return try translatingErrors { () throws(ModelError) in
            try engine.prediction(from: features, backings: backings, state: state?.buffers)
        }
    }

    /// The inputs of one example, checked against the description and in the types that it states.
    package func engineInputs(_ given: [String: FeatureData]) throws -> [String: FeatureData] {
        var features = [String: FeatureData](minimumCapacity: modelDescription.inputs.count)
        for description in modelDescription.inputs {
            guard let value = given[description.name] else {
                if description.isOptional { continue }
                throw missing(description, given.keys)
            }
            features[description.name] = try checked(value, description)
        }
        return features
    }

    /// A batch of columns, checked against the description and in the types that it states.
    ///
    /// - Throws: `MLModelError.featureType`, which names the input and, where it can, the example.
    package func engineInputs(_ batch: FeatureBatch) throws -> FeatureBatch {
        var columns: [String: FeatureColumn] = [:]
        for description in modelDescription.inputs {
            guard let column = batch.columns[description.name] else {
                if description.isOptional { continue }
                throw missing(description, batch.columns.keys)
            }
            columns[description.name] = try checked(column, description, count: batch.count)
        }
        return FeatureBatch(count: batch.count, columns: columns)
    }

    private func checked(_ column: FeatureColumn, _ description: MLFeatureDescription, count: Int) throws
        -> FeatureColumn
    {
        switch (column, description.type) {
        case (.doubles, .double), (.integers, .int64), (.strings, .string): return column
        case (.doubles(let values), .int64): return .integers(values.map { Int64(saturating: $0) })
        case (.integers(let values), .double): return .doubles(values.map { Double($0) })
        case (.arrays, .multiArray):
            // All rows have the shape of the first one.
            if count > 0 { _ = try checked(column.value(at: 0), description) }
            return column
        default:
            return FeatureColumn(
                try (0..<count).map { index in
                    do {
                        return try checked(column.value(at: index), description)
                    } catch let error as MLModelError {
                        throw MLModelError(error.code, "Example \(index) of the batch: \(error.localizedDescription)")
                    }
                }
            )
        }
    }

    private func checked(_ value: FeatureData, _ description: MLFeatureDescription) throws -> FeatureData {
        switch (value, description.type) {
        case (.int64, .int64), (.double, .double), (.string, .string): return value
        case (.int64(let number), .double): return .double(Double(number))
        case (.double(let number), .int64): return .int64(Int64(saturating: number))
        case (.tensor(let tensor), .multiArray):
            guard let constraint = description.multiArrayConstraint?.shapeConstraint,
                constraint.validationFailure(for: tensor.shape) != nil
            else { return value }
        default: break
        }
        let feature = try MLFeatureValue(value, nil)
        if let failure = description.validationFailure(for: feature, allowsLegacyRanks: allowsLegacyRanks) {
            throw MLModelError(
                .featureType,
                "The value of input \"\(description.name)\" \(failure). The model's inputs are:\n"
                    + modelDescription.inputList
            )
        }
        return try feature.engineData(for: description)
    }

    private func missing(_ description: MLFeatureDescription, _ given: some Sequence<String>) -> MLModelError {
        let unknown = given.filter { modelDescription.inputDescriptionsByName[$0] == nil }.sorted()
        var text = "The input \"\(description.name)\" has no value."
        if !unknown.isEmpty {
            let names = unknown.map { "\"\($0)\"" }.joined(separator: ", ")
            text += " Values were given for \(names), which the model does not have."
        }
        return MLModelError(.featureType, text + " The model's inputs are:\n" + modelDescription.inputList)
    }
}

extension MLFeatureDescription {
    /// The pixels of an encoded picture, upright as its Exif orientation says, in the size and format of this feature.
    ///
    /// - Parameter data: A PNG, JPEG, WebP, TIFF, GIF, BMP or HEIC file.
    /// - Returns: An image of an engine.
    /// - Throws: `MLModelError`: `featureType` when the feature is no image, `generic` when the file is damaged.
    package func engineImage(encoded data: Data) throws -> FeatureData {
        guard let constraint = imageConstraint else {
            throw MLModelError(
                .featureType,
                "The value of input \"\(name)\" is an encoded image, but must be a \(type)."
            )
        }
        let picture = try translatingErrors { () throws(ModelError) in
            try withErrorContext("The image given for input \"\(name)\"") { () throws(ModelError) in
                let file = try ImageFile(data)
                return try file.bitmap().upright(fromExifOrientation: file.exifOrientation)
            }
        }
        let size = constraint.size(forWidth: picture.width, height: picture.height)
        guard size.width > 0, size.height > 0, size.width <= 1 << 16, size.height <= 1 << 16 else {
            throw MLModelError(.generic, "An image cannot be scaled to \(size.width) × \(size.height) pixels.")
        }
        let scaled = picture.fitted(.scaleFill, width: size.width, height: size.height)
        guard let buffer = CVBuffer(scaled, pixelFormatType: constraint.pixelFormatType),
            let image = ImageBuffer(buffer)
        else {
            throw MLModelError(.generic, "The input \"\(name)\" takes pixels that an image cannot be converted to.")
        }
        return .image(image)
    }
}

extension MLFeatureValue {
    /// Makes the value that an engine's data stand for.
    package convenience init(engineData data: FeatureData) throws { try self.init(data, nil) }
}

extension MLState {
    /// A copy of a buffer; `nil` when the state has none of this name.
    package func tensor(_ name: String) -> Tensor? {
        guard let tensor = buffers[name] else { return nil }
        let copy = Tensor(uninitialized: tensor.scalarType, shape: tensor.shape)
        copy.address.copyMemory(from: tensor.address, byteCount: tensor.byteCount)
        withExtendedLifetime(tensor) {}
        return copy
    }

    /// Replaces a buffer; the next prediction reads the new one.
    ///
    /// - Throws: `MLModelError.featureType` when the state has no such buffer, or one of another shape.
    package func set(_ name: String, to tensor: Tensor) throws {
        guard let present = buffers[name] else {
            throw MLModelError(
                .featureType,
                "The model has no state \"\(name)\"; its states are: "
                    + (names.isEmpty ? "none" : names.joined(separator: ", ")) + "."
            )
        }
        guard present.shape == tensor.shape else {
            throw MLModelError(
                .featureType,
                "The state \"\(name)\" has the shape \(present.shape), the array given for it \(tensor.shape)."
            )
        }
        buffers[name] = tensor.converted(to: present.scalarType)
    }
}
