public import CoreML

/// The classes that custom models ask for, found and registered as those of custom layers are (`CustomLayers`).
public enum CustomModels {
    /// - Parameter name: what files call the class; by default its name without the module's.
    public static func register(_ type: any MLCustomModel.Type, as name: String? = nil) {
        CustomModelClasses.register(type, as: name ?? "\(type)")
    }
}
