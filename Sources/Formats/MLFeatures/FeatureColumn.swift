package import MLNumerics

/// The values of a feature for every example of a batch, in the densest form that holds them.
package enum FeatureColumn: Sendable {
    case doubles([Double])
    case integers([Int64])
    case strings([String])
    /// Arrays of one type and shape: [examples] + shape.
    case arrays(Tensor)
    /// A dictionary for each example: `labels` with `values[example * labels.count ..< …]`.
    case scores(labels: LabelList, values: [Double])
    /// Any other values.
    case values([FeatureData])

    /// Makes the column of these values.
    package init(_ values: [FeatureData]) {
        switch values.first {
        case .double?:
            let numbers = values.compactMap { if case .double(let value) = $0 { value } else { nil } }
            self = numbers.count == values.count ? .doubles(numbers) : .values(values)
        case .int64?:
            let numbers = values.compactMap { if case .int64(let value) = $0 { value } else { nil } }
            self = numbers.count == values.count ? .integers(numbers) : .values(values)
        case .string?:
            let texts = values.compactMap { if case .string(let value) = $0 { value } else { nil } }
            self = texts.count == values.count ? .strings(texts) : .values(values)
        case .tensor(let first)?:
            let tensors = values.compactMap { if case .tensor(let value) = $0 { value } else { nil } }
            guard tensors.count == values.count, first.scalarType.bitWidth >= 8,
                tensors.allSatisfy({ $0.shape == first.shape && $0.scalarType == first.scalarType })
            else {
                self = .values(values)
                return
            }
            guard tensors.count > 1 else {
                self = .arrays(first.reshaped([1] + first.shape))
                return
            }
            let rowBytes = first.byteCount
            let joined = Tensor(uninitialized: first.scalarType, shape: [tensors.count] + first.shape)
            for (index, tensor) in tensors.enumerated() {
                (joined.address + index * rowBytes).copyMemory(from: tensor.address, byteCount: rowBytes)
                withExtendedLifetime(tensor) {}
            }
            self = .arrays(joined)
        default: self = .values(values)
        }
    }

    /// The value for an example.
    package func value(at index: Int) -> FeatureData {
        switch self {
        case .doubles(let values): .double(values[index])
        case .integers(let values): .int64(values[index])
        case .strings(let values): .string(values[index])
        case .arrays(let tensor): .tensor(tensor.row(index))
        case .scores(let labels, let values):
            .dictionary(labels.dictionary(values[index * labels.count..<(index + 1) * labels.count]))
        case .values(let values): values[index]
        }
    }
}

extension Tensor {
    /// Element `index` of the first axis, sharing storage.
    fileprivate func row(_ index: Int) -> Tensor {
        let shape = Array(shape.dropFirst())
        let offset = byteOffset + index * scalarType.byteCount(of: shape.elementCount)
        return Tensor(scalarType: scalarType, shape: shape, storage: storage, byteOffset: offset)
    }
}
