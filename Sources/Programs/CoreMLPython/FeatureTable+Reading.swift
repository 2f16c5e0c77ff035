import CoreML
import CoreVideo
import Foundation

/// A feature's name and the raw value of its `MLFeatureType`.
private struct FeatureKind: Encodable {
    let name: String
    let type: Int
}

private func feature(_ features: UnsafeMutableRawPointer, _ name: UnsafePointer<CChar>) -> MLFeatureValue? {
    object(features, as: FeatureTable.self).values[String(cString: name)]
}

/// Lists the features as JSON: `[{"name": …, "type": raw value of MLFeatureType}]`.
@c(coreml_features_list)
public func listFeatures(
    _ features: UnsafeMutableRawPointer,
    _ failure: Failure
) -> UnsafeMutablePointer<CChar>? {
    reporting(failure) {
        try json(object(features, as: FeatureTable.self).values.map { FeatureKind(name: $0, type: $1.type.rawValue) })
    }
}

/// The integer of a feature; 0 when there is none.
@c(coreml_features_int64)
public func int64Value(_ features: UnsafeMutableRawPointer, _ name: UnsafePointer<CChar>) -> Int64 {
    feature(features, name)?.int64Value ?? 0
}

/// The double-precision number of a feature; 0 when there is none.
@c(coreml_features_double)
public func doubleValue(_ features: UnsafeMutableRawPointer, _ name: UnsafePointer<CChar>) -> Double {
    feature(features, name)?.doubleValue ?? 0
}

/// The string of a feature, which the caller frees; empty when there is none.
@c(coreml_features_string)
public func stringValue(
    _ features: UnsafeMutableRawPointer,
    _ name: UnsafePointer<CChar>
) -> UnsafeMutablePointer<CChar>? {
    text(feature(features, name)?.stringValue ?? "")
}

/// The number of axes of an array; −1 when the feature is not an array.
@c(coreml_features_array_rank)
public func arrayRank(_ features: UnsafeMutableRawPointer, _ name: UnsafePointer<CChar>) -> Int {
    feature(features, name)?.multiArrayValue?.shape.count ?? -1
}

/// The first element of an array, valid as long as the table; `nil` when the feature is not an array.
///
/// `shape` and `strides` (in elements) need room for the array's rank; `dataType` receives a raw value of
/// `MLMultiArrayDataType`.
@c(coreml_features_array)
public func array(
    _ features: UnsafeMutableRawPointer,
    _ name: UnsafePointer<CChar>,
    _ shape: UnsafeMutablePointer<Int>,
    _ strides: UnsafeMutablePointer<Int>,
    _ dataType: UnsafeMutablePointer<Int>
) -> UnsafeMutableRawPointer? {
    guard let array = feature(features, name)?.multiArrayValue else { return nil }
    for (axis, extent) in array.shape.enumerated() { shape[axis] = extent.intValue }
    for (axis, stride) in array.strides.enumerated() { strides[axis] = stride.intValue }
    dataType.pointee = array.dataType.rawValue
    return array.dataPointer
}

/// The number of entries of a dictionary or a sequence; 0 for other features.
@c(coreml_features_count)
public func entryCount(_ features: UnsafeMutableRawPointer, _ name: UnsafePointer<CChar>) -> Int {
    guard let value = feature(features, name) else { return 0 }
    switch value.type {
    case .dictionary: return value.dictionaryValue.count
    case .sequence: return value.sequenceValue.map { max($0.stringValues.count, $0.int64Values.count) } ?? 0
    default: return 0
    }
}

/// Copies a dictionary; its values go to `values`, which needs room for all entries.
///
/// String keys are returned as a JSON list; integer keys go to `integerKeys`, and the result is `nil`.
@c(coreml_features_dictionary)
public func dictionary(
    _ features: UnsafeMutableRawPointer,
    _ name: UnsafePointer<CChar>,
    _ values: UnsafeMutablePointer<Double>,
    _ integerKeys: UnsafeMutablePointer<Int64>,
    _ failure: Failure
) -> UnsafeMutablePointer<CChar>? {
    reporting(failure) {
        var names: [String] = []
        for (index, entry) in (feature(features, name)?.dictionaryValue ?? [:]).enumerated() {
            values[index] = entry.value.doubleValue
            if let key = entry.key.base as? String {
                names.append(key)
            } else if let key = entry.key.base as? any BinaryInteger {
                integerKeys[index] = Int64(key)
            } else if let key = entry.key.base as? NSNumber {
                integerKeys[index] = key.int64Value
            } else {
                throw BorderError.feature(String(cString: name))
            }
        }
        return names.isEmpty ? nil : try json(names)
    }
}

/// Copies a sequence; strings are returned as a JSON list, integers go to `integers`, and the result is `nil`.
@c(coreml_features_sequence)
public func sequence(
    _ features: UnsafeMutableRawPointer,
    _ name: UnsafePointer<CChar>,
    _ integers: UnsafeMutablePointer<Int64>,
    _ failure: Failure
) -> UnsafeMutablePointer<CChar>? {
    reporting(failure) {
        guard let sequence = feature(features, name)?.sequenceValue else { return nil }
        if sequence.type == .string { return try json(sequence.stringValues) }
        for (index, value) in sequence.int64Values.enumerated() { integers[index] = value.int64Value }
        return nil
    }
}

/// The size and, as result, the layout of an image; −1 when the feature is not an image of a layout that this interface
/// has.
@c(coreml_features_image_size)
public func imageSize(
    _ features: UnsafeMutableRawPointer,
    _ name: UnsafePointer<CChar>,
    _ width: UnsafeMutablePointer<Int>,
    _ height: UnsafeMutablePointer<Int>
) -> Int32 {
    guard let buffer = feature(features, name)?.imageBufferValue else { return -1 }
    width.pointee = CVPixelBufferGetWidth(buffer)
    height.pointee = CVPixelBufferGetHeight(buffer)
    let format = CVPixelBufferGetPixelFormatType(buffer)
    let layouts: [PixelLayout] = [.bgra8, .gray8, .grayFloat16]
    return layouts.first { $0.format == format }?.rawValue ?? -1
}

/// Copies an image's rows to `pixels`, without gaps, in the layout that `coreml_features_image_size` returns for it.
///
/// `pixels` needs room for all pixels of that layout; nothing is written when `layout` is another one.
@c(coreml_features_image)
public func image(
    _ features: UnsafeMutableRawPointer,
    _ name: UnsafePointer<CChar>,
    _ layout: Int32,
    _ pixels: UnsafeMutableRawPointer,
    _ failure: Failure
) -> Bool {
    reporting(failure) {
        guard let layout = PixelLayout(rawValue: layout) else { throw BorderError.pixelLayout(layout) }
        guard let buffer = feature(features, name)?.imageBufferValue else {
            throw BorderError.noPicture(String(cString: name))
        }
        guard CVPixelBufferGetPixelFormatType(buffer) == layout.format else {
            throw BorderError.otherLayout(String(cString: name), layout.rawValue)
        }
        CVPixelBufferLockBaseAddress(buffer, .readOnly)
        defer { CVPixelBufferUnlockBaseAddress(buffer, .readOnly) }
        guard let source = CVPixelBufferGetBaseAddress(buffer) else {
            throw BorderError.noPicture(String(cString: name))
        }
        let stride = CVPixelBufferGetBytesPerRow(buffer)
        let row = CVPixelBufferGetWidth(buffer) * layout.bytesPerPixel
        for y in 0..<CVPixelBufferGetHeight(buffer) {
            (pixels + y * row).copyMemory(from: source + y * stride, byteCount: row)
        }
        return true
    } ?? false
}
