package import MLNumerics
import MLTrainingCore

/// The bytes of everything that is needed to continue training: weights, optimiser state, number of steps.
///
/// They are the letters "MLTC", a version (1), the number of steps, the number of tensors, then for each tensor its
/// scalar type, rank, extents and elements. Integers have 8 bytes, little-endian.
package enum TrainerCheckpoint {
    private static let magic: [UInt8] = Array("MLTC".utf8)
    private static let version = 1

    /// Encodes tensors and a number of steps.
    package static func bytes(stepCount: Int, tensors: [Tensor]) -> [UInt8] {
        var writer = CheckpointWriter()
        writer.append(magic)
        writer.append([version, stepCount, tensors.count])
        for tensor in tensors {
            writer.append([Int(tensor.scalarType.rawValue), tensor.shape.count] + tensor.shape)
            tensor.withBytes { writer.append(bytes: $0) }
        }
        return writer.bytes
    }

    /// Decodes the number of steps, and tensors of the types and shapes of `expected`.
    ///
    /// - Throws: `.malformed` for bytes that are not a checkpoint, `.invalidInput` for other tensors.
    package static func contents(
        of bytes: [UInt8],
        like expected: [Tensor]
    ) throws(ModelError) -> (stepCount: Int, tensors: [Tensor]) {
        var reader = CheckpointReader(bytes, "the checkpoint", remedy: "start the training again")
        guard try reader.readBytes(4).elementsEqual(magic), try reader.readInteger() == version else {
            throw ModelError(.malformed, "these bytes are not a checkpoint of this version; start the training again")
        }
        let steps = try reader.readInteger(Int.self)
        guard steps >= 0, try reader.readInteger() == expected.count else { throw mismatch }
        var tensors: [Tensor] = []
        for like in expected {
            for number in [Int(like.scalarType.rawValue), like.shape.count] + like.shape {
                guard try reader.readInteger() == number else { throw mismatch }
            }
            let elements = try reader.readBytes(like.byteCount)
            tensors.append(Tensor(copying: elements, scalarType: like.scalarType, shape: like.shape))
        }
        guard reader.isAtEnd else { throw mismatch }
        return (steps, tensors)
    }

    private static var mismatch: ModelError {
        ModelError(
            .invalidInput,
            "the checkpoint belongs to another network or optimiser; start the training again, or restore the original ones"
        )
    }
}
