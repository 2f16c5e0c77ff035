import MLNumerics

extension TFLiteFile {
    /// The values of a constant as float32.
    struct Constant {
        var shape: [Int]
        var values: [Float]
    }

    /// The numbers of a constant tensor of 32-bit integers.
    ///
    /// - Throws: `.malformed` if it is none.
    func integers(_ number: Int) throws(ModelError) -> [Int] {
        let tensor = tensors[number]
        guard tensor.scalar == .int32, tensor.sparsity == nil, tensor.content.count == 4 * tensor.count else {
            throw buffer.damaged("'\(tensor.name)' is not a constant of \(tensor.shape) integers")
        }
        let content = tensor.content
        return stride(from: content.startIndex, to: content.endIndex, by: 4).map { index in
            Int(Int32(truncatingIfNeeded: (0..<4).reduce(0) { $0 | Int(content[index + $1]) << (8 * $1) }))
        }
    }

    /// The values of a constant tensor of float32 or float16; those of a sparse one are spread over its shape.
    ///
    /// - Throws: `.malformed` if it is none, or not all values are finite.
    func constant(_ number: Int) throws(ModelError) -> Constant {
        let tensor = tensors[number]
        let stored = try floats(tensor)
        guard stored.allSatisfy(\.isFinite) else {
            throw buffer.damaged("'\(tensor.name)' has values that are not finite")
        }
        guard let sparsity = tensor.sparsity else {
            guard stored.count == tensor.count else {
                throw buffer.damaged("'\(tensor.name)' has \(stored.count) values for the shape \(tensor.shape)")
            }
            return Constant(shape: tensor.shape, values: stored)
        }
        return Constant(shape: tensor.shape, values: try spread(stored, sparsity, tensor))
    }

    private func floats(_ tensor: Tensor) throws(ModelError) -> [Float] {
        let content = tensor.content
        switch tensor.scalar {
        case .float32 where !content.isEmpty && content.count % 4 == 0:
            let bytes = content.span.bytes
            return (0..<content.count / 4).map {
                let bits = bytes.unsafeLoadUnaligned(fromByteOffset: 4 * $0, as: UInt32.self)
                return Float(bitPattern: UInt32(littleEndian: bits))
            }
        case .float16 where !content.isEmpty && content.count % 2 == 0:
            let bytes = content.span.bytes
            return (0..<content.count / 2).map {
                let bits = bytes.unsafeLoadUnaligned(fromByteOffset: 2 * $0, as: UInt16.self)
                return Float(Float16(bitPattern: UInt16(littleEndian: bits)))
            }
        default: throw buffer.damaged("'\(tensor.name)' is not a constant in float32 or float16")
        }
    }

    /// The dense tensor of a sparse one.
    private func spread(_ stored: [Float], _ sparsity: Sparsity, _ tensor: Tensor) throws(ModelError) -> [Float] {
        let rank = tensor.shape.count
        let levels = rank + sparsity.blocks.count
        func damaged() -> ModelError { buffer.damaged("the sparse tensor '\(tensor.name)' does not match its shape") }
        guard sparsity.dimensions.count == levels, sparsity.order.sorted() == Array(0..<levels),
            sparsity.blocks.allSatisfy({ (0..<rank).contains($0) }), Set(sparsity.blocks).count == sparsity.blocks.count
        else { throw damaged() }
        // The dimension of the tensor that each level walks along, and the size of a step.
        var steps = [(axis: Int, step: Int)](repeating: (0, 1), count: levels)
        var blockSizes = [Int](repeating: 1, count: rank)
        for (level, index) in sparsity.order.enumerated() where index >= rank {
            guard case .dense(let size) = sparsity.dimensions[level] else { throw damaged() }
            blockSizes[sparsity.blocks[index - rank]] = size
            steps[level] = (sparsity.blocks[index - rank], 1)
        }
        for (level, index) in sparsity.order.enumerated() where index < rank {
            steps[level] = (index, blockSizes[index])
        }
        var strides = [Int](repeating: 1, count: rank)
        for axis in (0..<max(rank - 1, 0)).reversed() { strides[axis] = strides[axis + 1] * tensor.shape[axis + 1] }
        var result = [Float](repeating: 0, count: tensor.count)
        /// Entries at the level that is walked: the position in the level's storage and in the tensor's axes.
        var entries: [(stored: Int, position: [Int])] = [(0, [Int](repeating: 0, count: rank))]
        for level in 0..<levels {
            let (axis, step) = steps[level]
            var next: [(stored: Int, position: [Int])] = []
            func append(_ stored: Int, _ position: [Int], _ index: Int) throws(ModelError) {
                var position = position
                guard index >= 0, index < TFLiteFile.valueLimit, next.count < tensor.count else { throw damaged() }
                position[axis] += index * step
                guard position[axis] < tensor.shape[axis] else { throw damaged() }
                next.append((stored, position))
            }
            for entry in entries {
                switch sparsity.dimensions[level] {
                case .dense(let size):
                    for index in 0..<size { try append(entry.stored * size + index, entry.position, index) }
                case .sparse(let segments, let indices):
                    guard entry.stored + 1 < segments.count, segments[entry.stored] >= 0,
                        segments[entry.stored] <= segments[entry.stored + 1],
                        segments[entry.stored + 1] <= indices.count
                    else { throw damaged() }
                    for index in segments[entry.stored]..<segments[entry.stored + 1] {
                        try append(index, entry.position, indices[index])
                    }
                }
            }
            entries = next
        }
        guard entries.count == stored.count else { throw damaged() }
        for entry in entries {
            guard entry.stored < stored.count else { throw damaged() }
            result[zip(entry.position, strides).reduce(0) { $0 + $1.0 * $1.1 }] = stored[entry.stored]
        }
        return result
    }
}
