import CoreML
import CoreVideo
import Foundation

/// Feature values by name, on their way in or out.
final class FeatureTable {
    var values: [String: MLFeatureValue] = [:]

    init() {}

    init(_ provider: any MLFeatureProvider) {
        for name in provider.featureNames { values[name] = provider.featureValue(for: name) }
    }

    /// The values in the form that a model takes; an array of one element may stand for a number.
    func provider(for model: MLModel) throws -> MLDictionaryFeatureProvider {
        var fitting = values
        for (name, value) in values {
            guard let array = value.multiArrayValue, array.count == 1 else { continue }
            switch model.modelDescription.inputDescriptionsByName[name]?.type {
            case .double?: fitting[name] = MLFeatureValue(double: array[0].doubleValue)
            case .int64?: fitting[name] = MLFeatureValue(int64: array[0].int64Value)
            default: break
            }
        }
        return try MLDictionaryFeatureProvider(dictionary: fitting)
    }
}

/// The layouts of images that this interface passes.
enum PixelLayout: Int32 {
    case bgra8 = 0
    case gray8 = 1
    case grayFloat16 = 2

    var format: OSType {
        switch self {
        case .bgra8: kCVPixelFormatType_32BGRA
        case .gray8: kCVPixelFormatType_OneComponent8
        case .grayFloat16: kCVPixelFormatType_OneComponent16Half
        }
    }

    var bytesPerPixel: Int {
        switch self {
        case .bgra8: 4
        case .gray8: 1
        case .grayFloat16: 2
        }
    }
}

/// Makes an empty table and returns its handle.
@c(coreml_features_new)
public func newFeatures() -> UnsafeMutableRawPointer { handle(FeatureTable()) }

/// Sets a feature to an integer.
@c(coreml_features_set_int64)
public func setInt64(_ features: UnsafeMutableRawPointer, _ name: UnsafePointer<CChar>, _ value: Int64) {
    object(features, as: FeatureTable.self).values[String(cString: name)] = MLFeatureValue(int64: value)
}

/// Sets a feature to a double-precision number.
@c(coreml_features_set_double)
public func setDouble(_ features: UnsafeMutableRawPointer, _ name: UnsafePointer<CChar>, _ value: Double) {
    object(features, as: FeatureTable.self).values[String(cString: name)] = MLFeatureValue(double: value)
}

/// Sets a feature to a string.
@c(coreml_features_set_string)
public func setString(
    _ features: UnsafeMutableRawPointer,
    _ name: UnsafePointer<CChar>,
    _ value: UnsafePointer<CChar>
) {
    object(features, as: FeatureTable.self).values[String(cString: name)] = MLFeatureValue(
        string: String(cString: value)
    )
}

/// Sets a feature to an array without copying it: `data` must stay valid until the table is released.
///
/// `dataType` is a raw value of `MLMultiArrayDataType`; `strides` count elements.
@c(coreml_features_set_array)
public func setArray(
    _ features: UnsafeMutableRawPointer,
    _ name: UnsafePointer<CChar>,
    _ data: UnsafeMutableRawPointer,
    _ dataType: Int,
    _ rank: Int,
    _ shape: UnsafePointer<Int>,
    _ strides: UnsafePointer<Int>,
    _ failure: Failure
) -> Bool {
    reporting(failure) {
        guard let type = MLMultiArrayDataType(rawValue: dataType) else { throw BorderError.dataType(dataType) }
        let array = try MLMultiArray(
            dataPointer: data,
            shape: UnsafeBufferPointer(start: shape, count: rank).map { NSNumber(value: $0) },
            dataType: type,
            strides: UnsafeBufferPointer(start: strides, count: rank).map { NSNumber(value: $0) }
        )
        object(features, as: FeatureTable.self).values[String(cString: name)] = MLFeatureValue(multiArray: array)
        return true
    } ?? false
}

/// Sets a feature to a dictionary, which is copied.
///
/// `keys` is a JSON list of strings; without it the keys are `integerKeys`.
@c(coreml_features_set_dictionary)
public func setDictionary(
    _ features: UnsafeMutableRawPointer,
    _ name: UnsafePointer<CChar>,
    _ keys: UnsafePointer<CChar>?,
    _ integerKeys: UnsafePointer<Int64>?,
    _ values: UnsafePointer<Double>,
    _ count: Int,
    _ failure: Failure
) -> Bool {
    reporting(failure) {
        let names = try keys.map { try JSONDecoder().decode([String].self, from: Data(String(cString: $0).utf8)) }
        var dictionary: [AnyHashable: NSNumber] = [:]
        for index in 0..<count {
            let key: AnyHashable = names.map { AnyHashable($0[index]) } ?? AnyHashable(integerKeys?[index] ?? 0)
            dictionary[key] = NSNumber(value: values[index])
        }
        object(features, as: FeatureTable.self).values[String(cString: name)] = try MLFeatureValue(
            dictionary: dictionary
        )
        return true
    } ?? false
}

/// Sets a feature to an image, which is copied; its rows follow each other without gaps.
@c(coreml_features_set_image)
public func setImage(
    _ features: UnsafeMutableRawPointer,
    _ name: UnsafePointer<CChar>,
    _ pixels: UnsafeRawPointer,
    _ layout: Int32,
    _ width: Int,
    _ height: Int,
    _ failure: Failure
) -> Bool {
    reporting(failure) {
        guard let layout = PixelLayout(rawValue: layout) else { throw BorderError.pixelLayout(layout) }
        var created: CVPixelBuffer?
        guard
            CVPixelBufferCreate(nil, width, height, layout.format, nil, &created) == kCVReturnSuccess,
            let buffer = created
        else { throw BorderError.picture(width, height) }
        CVPixelBufferLockBaseAddress(buffer, [])
        defer { CVPixelBufferUnlockBaseAddress(buffer, []) }
        guard let target = CVPixelBufferGetBaseAddress(buffer) else { throw BorderError.picture(width, height) }
        let stride = CVPixelBufferGetBytesPerRow(buffer)
        let row = width * layout.bytesPerPixel
        for y in 0..<height { (target + y * stride).copyMemory(from: pixels + y * row, byteCount: row) }
        object(features, as: FeatureTable.self).values[String(cString: name)] = MLFeatureValue(pixelBuffer: buffer)
        return true
    } ?? false
}
