/// How a prediction is made.
open class MLPredictionOptions: NSObject {
    /// Kept for the caller: predictions always run on the processor.
    public var usesCPUOnly = false
    /// For outputs by name, an `MLMultiArray` or a `CVPixelBuffer` of the right form that receives the values.
    public var outputBackings: [String: Any] = [:]

    public override init() {}

    open override var description: String {
        let backings = outputBackings.map { name, value in
            if let array = value as? MLMultiArray {
                let extents = array.extents.map(String.init).joined(separator: " × ")
                return "\(name) = MultiArray (\(array.dataType.name), \(extents))"
            }
            return "\(name) = \(value)"
        }
        return "MLPredictionOptions (usesCPUOnly: \(usesCPUOnly), outputBackings: "
            + (backings.isEmpty ? "none" : backings.sorted().joined(separator: ", ")) + ")"
    }
}
