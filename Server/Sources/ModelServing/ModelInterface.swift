package import CoreML

/// The name, type and shape of a tensor; -1 stands for extents that are not fixed.
package struct TensorDescription: Sendable, Equatable {
    package let name: String
    package let type: TensorType
    package let shape: [Int]
}

/// A model's inputs and outputs as tensors.
///
/// | feature | tensors |
/// |---|---|
/// | array | one of the array's type and shape |
/// | image | `UINT8` [height, width, 3 (red, green, blue) or 1]; requests may send a file as `BYTES` [1] instead |
/// | integer, double, string | `INT64`, `FP64`, `BYTES` [1] |
/// | sequence | `INT64` or `BYTES` [n] |
/// | dictionary | `NAME.keys`, `INT64` or `BYTES` [n], and `NAME.values`, `FP64` [n] |
package struct ModelInterface: Sendable {
    package let inputs: [TensorDescription]
    package let outputs: [TensorDescription]
    let description: MLModelDescription

    package init(_ description: MLModelDescription) {
        self.description = description
        inputs = description.features(.input).flatMap { Self.tensors($0) }
        outputs = description.features(.output).flatMap { Self.tensors($0) }
    }

    static func keysName(_ feature: String) -> String { feature + ".keys" }
    static func valuesName(_ feature: String) -> String { feature + ".values" }

    /// Whether the model remembers a state between predictions.
    package var hasStates: Bool { !description.stateDescriptionsByName.isEmpty }

    private static func tensors(_ feature: MLFeatureDescription) -> [TensorDescription] {
        let name = feature.name
        switch feature.type {
        case .int64: return [TensorDescription(name: name, type: .int64, shape: [1])]
        case .double: return [TensorDescription(name: name, type: .fp64, shape: [1])]
        case .string: return [TensorDescription(name: name, type: .bytes, shape: [1])]
        case .image: return feature.imageConstraint.map { [image(name, $0)] } ?? []
        case .multiArray:
            guard let constraint = feature.multiArrayConstraint else { return [] }
            let type = TensorType(constraint.dataType)
            return [TensorDescription(name: name, type: type, shape: shape(constraint))]
        case .sequence:
            let isText = feature.sequenceConstraint?.valueDescription.type == .string
            return [TensorDescription(name: name, type: isText ? .bytes : .int64, shape: [-1])]
        case .dictionary:
            let isText = feature.dictionaryConstraint?.keyType == .string
            return [
                TensorDescription(name: keysName(name), type: isText ? .bytes : .int64, shape: [-1]),
                TensorDescription(name: valuesName(name), type: .fp64, shape: [-1]),
            ]
        case .state, .invalid: return []
        }
    }

    private static func image(_ name: String, _ constraint: MLImageConstraint) -> TensorDescription {
        let format = PixelFormat(constraint.pixelFormatType)
        let sizes = constraint.sizeConstraint
        var (height, width) = (constraint.pixelsHigh, constraint.pixelsWide)
        let isFixed = sizes.type == .enumerated && sizes.enumeratedImageSizes.count <= 1
        if !isFixed { (height, width) = (-1, -1) }
        return TensorDescription(name: name, type: format.type, shape: [height, width, format.channels])
    }

    private static func shape(_ constraint: MLMultiArrayConstraint) -> [Int] {
        let declared = constraint.shape.map { $0.intValue }
        let allowed = constraint.shapeConstraint
        switch allowed.type {
        case .unspecified: return declared.isEmpty ? [-1] : declared
        case .enumerated:
            let shapes = allowed.enumeratedShapes.map { $0.map { $0.intValue } }
            guard let first = shapes.first, shapes.allSatisfy({ $0.count == first.count }) else { return declared }
            return first.indices.map { axis in shapes.allSatisfy { $0[axis] == first[axis] } ? first[axis] : -1 }
        case .range:
            return allowed.sizeRangeForDimension.map { value in
                let range = value.rangeValue
                return range.length == 1 ? range.location : -1
            }
        }
    }
}

extension MLModelDescription {
    /// The sides of a model's interface.
    enum Side {
        case input
        case output
    }

    /// The features of a side, sorted by their names.
    func features(_ side: Side) -> [MLFeatureDescription] {
        let features = side == .input ? inputDescriptionsByName : outputDescriptionsByName
        return features.values.sorted { $0.name < $1.name }
    }
}
