import Foundation
import MLEngine
import MLFeatureFiles
import MLFiles
import MLImages
import MLNumerics
import MLPreview
import MLSpecification

/// An error in one input that the page sent.
struct InputFailure: Error {
    let input: String
    let message: String
}

/// Converts the page's data to a model's input features.
struct PreviewInputs {
    let interface: SpecModelDescription

    /// The value of each input that was sent.
    ///
    /// - Throws: `InputFailure` for a value that does not fit, and for a missing input.
    func features(_ parcel: Parcel, _ json: JSONValue?) throws -> [String: FeatureData] {
        guard case .object(let members)? = json else { throw Failure("the request has no inputs") }
        var features: [String: FeatureData] = [:]
        for member in members {
            guard let feature = interface.input.first(where: { $0.name == member.name }) else {
                throw InputFailure(input: member.name, message: "The model has no such input.")
            }
            do { features[feature.name] = try value(parcel, member.value, for: feature) } catch {
                throw InputFailure(input: feature.name, message: Self.sentence(error))
            }
        }
        for feature in interface.input where !feature.type.isOptional && features[feature.name] == nil {
            throw InputFailure(input: feature.name, message: "A value is missing.")
        }
        return features
    }

    private func value(
        _ parcel: Parcel,
        _ json: JSONValue,
        for feature: SpecFeatureDescription
    ) throws -> FeatureData {
        func bytes() throws -> [UInt8] { Array(try parcel.blob(json)) }
        switch json["form"]?.string {
        case "json": return try JSONFeature.data(json["value"] ?? .null, for: feature)
        case "text":
            return try InputReader(interface: interface).textValue(json["value"]?.string ?? "", for: feature)
        case "picture":
            guard case .imageType(var type)? = feature.type.type else {
                throw Failure("The input is \(feature.typeText), not an image.")
            }
            type.sizeFlexibility = nil
            return try ImageInput.value(Data(try bytes()), type, Self.fitting(json["fit"]?.string))
        case "numbers": return .tensor(try tensor(parcel, json))
        case "npy": return .tensor(try NumpyArray.read(try bytes(), name: name(json)))
        case "npz":
            let arrays = try NumpyArchive.read(try bytes(), name: name(json))
            guard let array = arrays[feature.name] ?? (arrays.count == 1 ? arrays.first?.value : nil) else {
                let names = arrays.keys.sorted().map { "'\($0)'" }.joined(separator: ", ")
                throw Failure("\(name(json)) has the arrays \(names), none of them called '\(feature.name)'.")
            }
            return .tensor(array)
        default: throw Failure("The request has the value in an unknown format.")
        }
    }

    private func name(_ json: JSONValue) -> String { json["file"]?.string ?? "the file" }

    private static func fitting(_ text: String?) -> Bitmap.Fitting {
        switch text {
        case "crop": .centerCrop
        case "fit": .scaleFit
        default: .scaleFill
        }
    }

    /// An array of 32-bit floats or integers, or of doubles.
    private func tensor(_ parcel: Parcel, _ json: JSONValue) throws -> Tensor {
        let blob = try parcel.blob(json)
        let scalar: ScalarType
        switch json["scalar"]?.string {
        case "float32": scalar = .float32
        case "int32": scalar = .int32
        case "float64": scalar = .float64
        default: throw Failure("The request names an unknown type of elements.")
        }
        var count = 1
        var shape: [Int] = []
        guard case .array(let extents)? = json["shape"] else { throw Failure("The request names no shape.") }
        for extent in extents {
            guard case .integer(let value) = extent, value >= 0, value <= 1 << 31 else {
                throw Failure("The request names no shape.")
            }
            let product = count.multipliedReportingOverflow(by: Int(value))
            guard !product.overflow else { throw Failure("The shape is too large.") }
            count = product.partialValue
            shape.append(Int(value))
        }
        let width = scalar.bitWidth / 8
        guard blob.count % width == 0, blob.count / width == count else {
            throw Failure("The shape \(shape) takes \(count) elements, and \(blob.count / width) were sent.")
        }
        return Tensor(copying: blob, scalarType: scalar, shape: shape)
    }

    /// An error as a sentence.
    static func sentence(_ error: any Error) -> String {
        let text = (error as? Failure)?.description ?? "\(error)"
        guard let first = text.first, let last = text.last else { return text }
        let start = first.isLetter ? first.uppercased() + text.dropFirst() : text
        return ".!?)".contains(last) || text.contains("\n") ? start : start + "."
    }
}
