/// How a prediction is made.
open class MLPredictionOptions: NSObject {
    /// Kept for the caller: predictions always run on the processor.
    public var usesCPUOnly = false
    /// For outputs by name, an `MLMultiArray` or a `CVPixelBuffer` of the right form that receives the values.
    public var outputBackings: [String: Any] = [:]

    public override init() {}
}
