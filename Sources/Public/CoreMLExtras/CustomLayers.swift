public import CoreML

/// The classes that models with custom layers ask for.
///
/// A model file names a class; on Apple's systems the Objective-C runtime finds it.  Here a class is found by itself
/// when the file says `Module.Class`, or `Class` and the class belongs to the main executable's module.  Every other
/// class is registered before the model is loaded:
/// ```swift
/// CustomLayers.register(Swish.self)                       // the file says "Swish"
/// CustomLayers.register(Swish.self, as: "AAPLSwishLayer") // or another name
/// ```
public enum CustomLayers {
    /// - Parameter name: what files call the class; by default its name without the module's.
    public static func register(_ type: any MLCustomLayer.Type, as name: String? = nil) {
        CustomLayerClasses.register(type, as: name ?? "\(type)")
    }
}
