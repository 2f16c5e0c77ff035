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
    case slot(String, Int)
    case exampleWithoutValue(String, Int)
    case emptyPicture(String, Int, Int)
    case rank(String, Int)
    case backing(String, [Int], [Int])
    case notWritable
    case trainingInput(String, [String])
    case parameterName(String)

    /// The code of `MLModelError` that comes nearest.
    var code: Int {
        switch self {
        case .memory: 0
        case .notWritable: 6
        case .parameterName: 7
        default: 1
        }
    }

    var errorDescription: String? {
        switch self {
        case .dataType(let value): "\(value) is not a data type of multi-arrays; pass float32, float64, int32 or int8"
        case .pixelLayout(let value): "\(value) is not a pixel layout; pass 0 (BGRA), 1 (grey) or 2 (grey float16)"
        case .noPicture(let name): "feature '\(name)' is not an image; coreml_features_list tells the types"
        case .otherLayout(let name, let value):
            "image '\(name)' is not of layout \(value); pass the one that coreml_features_image_size returns"
        case .picture(let width, let height): "no memory for an image of \(width)×\(height) pixels"
        case .memory(let count): "no memory for \(count) bytes"
        case .feature(let name): "feature '\(name)' is of a type that this interface does not carry"
        case .stateName(let name, let names): "the model has no state '\(name)'; its states are \(names)"
        case .stateShape(let name, let requested, let provided):
            "state '\(name)' has shape \(requested), the array \(provided)"
        case .slot(let name, let kind): "the value of '\(name)' came as \(kind), which it does not accept"
        case .exampleWithoutValue(let name, let index):
            "example \(index) of the batch has no value for '\(name)'; give one to all examples or to none"
        case .emptyPicture(let name, let width, let height):
            "the image given for '\(name)' has \(width) × \(height) pixels"
        case .rank(let name, let rank): "output '\(name)' has \(rank) axes; at most \(Slot.maximumRank) are passed on"
        case .backing(let name, let provided, let actual):
            "the array given for output '\(name)' has the shape \(provided), the output has \(actual)"
        case .notWritable: "only a model that an update made can be saved; copy the file of this one"
        case .trainingInput(let name, let names):
            "'\(name)' is not a training input of the model; its training inputs are \(names)"
        case .parameterName(let name):
            "'\(name)' is not a parameter; the parameters are learningRate, momentum, miniBatchSize, beta1, beta2, eps, "
                + "epochs, shuffle, seed, numberOfNeighbors, linkedModelFileName and linkedModelSearchPath"
        }
    }
}
