import MLGraph
import MLNumerics
import MLOperators

extension BlockView {
    /// The float16 value that `id` is in float32; `nil` for other values.
    func widenedHalf(_ id: ValueID?) -> ValueID? {
        guard let (cast, producer, _) = producer(of: id, as: Cast.self), cast.scalarType == .float32,
            let source = producer.operands[0], type(of: source).scalarType == .float16
        else { return nil }
        return source
    }
}
