package import MLGraph
package import MLNumerics
import MLOperators

extension GraphBuilder {
    /// The mean cross-entropy of the rows of `logits` [N, K], whose softmax is the prediction, with `targets` [N, K].
    package mutating func crossEntropy(_ logits: ValueID, _ targets: ValueID) throws(ModelError) -> ValueID {
        let losses = try add(SoftmaxCrossEntropy(), logits, targets)
        return try add(Reduction<MeanOfElements>(axes: nil, keepsDimensions: false), losses)
    }

    /// The mean squared error over all elements of two tensors of the same shape.
    package mutating func meanSquaredError(_ prediction: ValueID, _ targets: ValueID) throws(ModelError) -> ValueID {
        let squares = try add(Unary(Square()), add(Binary<Sub>(), prediction, targets))
        return try add(Reduction<MeanOfElements>(axes: nil, keepsDimensions: false), squares)
    }
}
