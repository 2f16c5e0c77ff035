public import CoreML

/// The registry of classes that compute custom layers.
///
/// A model file names a class, which on Apple's systems the Objective-C runtime finds. Here a class is found without
/// registration when the file says `Module.Class`, or `Class` and the class belongs to the main executable's module.
/// Every other class must be registered before the model is loaded:
/// ```swift
/// CustomLayers.register(Swish.self)                       // the file says "Swish"
/// CustomLayers.register(Swish.self, as: "AAPLSwishLayer") // or another name
/// ```
public enum CustomLayers {
    /// Registers a class that computes custom layers.
    ///
    /// - Parameters:
    ///   - type: The class.
    ///   - name: The name that model files use for the class; nil, the default, stands for its name without the
    ///     module's.
    public static func register(_ type: any MLCustomLayer.Type, as name: String? = nil) {
        CustomLayerClasses.register(type, as: name ?? "\(type)")
    }
}
