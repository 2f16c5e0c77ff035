/// Options of a prediction.
open class MLPredictionOptions: NSObject {
    /// Whether to run on the processor alone; by default false.
    ///
    /// It has no effect here: predictions always do.
    public var usesCPUOnly = false
    /// The memory that outputs are written to: an `MLMultiArray` or a `CVPixelBuffer` by output name.
    ///
    /// A backing must have the output's shape or size; values are converted to its element type, layout or pixel
    /// format. By default there are none, and outputs get memory of their own.
    public var outputBackings: [String: Any] = [:]

    /// Makes the default options.
    public override init() {}

    /// The options, and names and types of the backings.
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
