import Foundation

/// A value that cannot cross this interface.
enum BorderError: LocalizedError {
    case dataType(Int)
    case pixelLayout(Int32)
    case noPicture(String)
    case otherLayout(String, Int32)
    case picture(Int, Int)
    case memory(Int)
    case feature(String)
    case stateName(String, [String])
    case stateShape(String, [NSNumber], [NSNumber])

    var errorDescription: String? {
        switch self {
        case .dataType(let value): "\(value) is not a data type of multi-arrays; pass float32, float64, int32 or int8"
        case .pixelLayout(let value): "\(value) is not a pixel layout; pass 0 (BGRA), 1 (grey) or 2 (grey float16)"
        case .noPicture(let name): "feature '\(name)' is no picture; coreml_features_list tells the types"
        case .otherLayout(let name, let value):
            "picture '\(name)' is not of layout \(value); pass the one that coreml_features_image_size returns"
        case .picture(let width, let height): "no memory for a picture of \(width)×\(height) pixels"
        case .memory(let count): "no memory for \(count) bytes"
        case .feature(let name): "feature '\(name)' is of a type that this interface does not carry"
        case .stateName(let name, let names): "the model has no state '\(name)'; its states are \(names)"
        case .stateShape(let name, let wanted, let given): "state '\(name)' has shape \(wanted), the array \(given)"
        }
    }
}
