public import CoreML

/// The registry of classes that compute custom models, which follows the rules of `CustomLayers`.
public enum CustomModels {
    /// Registers a class that computes custom models.
    ///
    /// - Parameters:
    ///   - type: The class.
    ///   - name: The name that model files use for the class; nil, the default, stands for its name without the
    ///     module's.
    public static func register(_ type: any MLCustomModel.Type, as name: String? = nil) {
        CustomModelClasses.register(type, as: name ?? "\(type)")
    }
}
