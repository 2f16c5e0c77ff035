import Glibc
import MLNumerics
import MLSpecification

/// The transformation of an example's sums.
enum TreeTransform: Sendable {
    case none
    case softmax
    /// The logistic function of each sum.
    case logistic
    /// Softmax of the sums, preceded by a 0 for the first class.
    case softmaxWithZero

    init(_ transform: SpecTreeEnsemblePostEvaluationTransform) throws(ModelError) {
        switch transform {
        case .noTransform: self = .none
        case .classificationSoftMax: self = .softmax
        case .regressionLogistic: self = .logistic
        case .classificationSoftMaxWithZeroClassReference: self = .softmaxWithZero
        case .UNRECOGNIZED(let value):
            throw ModelError(.unsupported, "the transform \(value) of the trees' sums is not known")
        }
    }
}

/// Replaces `values` by their softmax.
func softmax(_ values: UnsafeMutableBufferPointer<Double>) {
    var highest = -Double.infinity
    for value in values { highest = Swift.max(highest, value) }
    var sum = 0.0
    for index in values.indices {
        values[index] = exp(values[index] - highest)
        sum += values[index]
    }
    for index in values.indices { values[index] /= sum }
}
