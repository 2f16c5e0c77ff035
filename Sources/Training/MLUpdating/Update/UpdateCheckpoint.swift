import MLFiles
package import MLNumerics
import MLTrainingCore

/// The state of an update between two mini-batches, with everything needed to continue in another process.
///
/// As a file: the eight bytes "MLUPDCP1", then numbers of eight bytes, least significant first, in the order of the
/// members (doubles by their bits), and last the FNV-1a of everything before.
package struct UpdateCheckpoint: Sendable, Equatable {
    /// Identifies the model and the training data of the update.
    package var origin: UInt64
    package var position: UpdatePosition
    package var parameters: [UpdateParameter: UpdateParameter.Value]
    /// The learner's state.
    package var learner: [UInt8]

    package init(
        origin: UInt64,
        position: UpdatePosition,
        parameters: [UpdateParameter: UpdateParameter.Value],
        learner: [UInt8]
    ) {
        self.origin = origin
        self.position = position
        self.parameters = parameters
        self.learner = learner
    }

    private static let magic = "MLUPDCP1"

    /// Writes the file atomically: under a temporary name, then renames it.
    package func write(to path: String) throws(ModelError) { try FileAccess.write(bytes, to: path) }

    package init(contentsOf path: String) throws(ModelError) {
        self = try withErrorContext(path) { () throws(ModelError) in try UpdateCheckpoint(try FileAccess.read(path)) }
    }

    package var bytes: [UInt8] {
        var writer = CheckpointWriter(magic: Self.magic, fingerprint: origin, iteration: position.epoch)
        for number in [position.exampleIndex, position.batch, position.batchSize] { writer.write(UInt64(number)) }
        writer.write(UInt64(position.seed == nil ? 0 : 1))
        writer.write(position.seed ?? 0)
        writer.write(position.lossSum)
        writer.write(UInt64(position.hasBegun ? 1 : 0))
        writer.write(UInt64(parameters.count))
        for (parameter, value) in parameters.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            writer.write(parameter.rawValue)
            switch value {
            case .integer(let integer): writer.append([0, integer])
            case .number(let number): writer.append([1, Int64(bitPattern: number.bitPattern)])
            case .flag(let flag): writer.append([2, flag ? 1 : 0] as [Int64])
            }
        }
        writer.write(learner)
        writer.write(Self.sum(of: writer.bytes))
        return writer.bytes
    }

    private static func sum(of bytes: [UInt8]) -> UInt64 {
        var hash = Fingerprint(.fnv1a)
        hash.add(each: bytes)
        return hash.value
    }

    package init(_ bytes: [UInt8]) throws(ModelError) {
        let magic = Array(Self.magic.utf8)
        guard bytes.count >= magic.count + 8, bytes.starts(with: magic) else {
            throw ModelError(.malformed, "this is not a checkpoint of an update; give another path")
        }
        let remedy = "remove it and start the update again"
        let contents = Array(bytes.dropLast(8))
        var end = CheckpointReader(Array(bytes.suffix(8)), "the checkpoint", remedy: remedy)
        guard try end.readInteger() == Self.sum(of: contents) else {
            throw ModelError(.malformed, "the checkpoint is damaged; \(remedy)")
        }
        var reader = CheckpointReader(contents, "the checkpoint", remedy: remedy)
        _ = try reader.readBytes(magic.count)
        origin = try reader.readInteger()
        position = UpdatePosition()
        position.epoch = try reader.readInt(in: 0...Int.max, "the epoch")
        position.exampleIndex = try reader.readInt(in: 0...Int.max, "the place in the epoch")
        position.batch = try reader.readInt(in: 0...Int.max, "the mini-batch")
        position.batchSize = try reader.readInt(in: 0...Int.max, "the size of mini-batches")
        let isShuffled = try reader.readInteger(UInt64.self) != 0
        let seed = try reader.readInteger(Int64.self)
        position.seed = isShuffled ? seed : nil
        position.lossSum = try reader.readDouble()
        position.hasBegun = try reader.readInteger(UInt64.self) != 0
        parameters = [:]
        for _ in 0..<(try reader.readInt(in: 0...Int.max, "the number of parameters")) {
            let name = try reader.readString()
            let kind = try reader.readInteger(UInt64.self)
            let value = try reader.readInteger(UInt64.self)
            guard let parameter = UpdateParameter(rawValue: name) else {
                throw ModelError(.malformed, "the checkpoint holds the unknown parameter '\(name)'")
            }
            switch kind {
            case 0: parameters[parameter] = .integer(Int64(bitPattern: value))
            case 1: parameters[parameter] = .number(Double(bitPattern: value))
            default: parameters[parameter] = .flag(value != 0)
            }
        }
        learner = try reader.readArray()
        try reader.finish()
    }
}

/// The position in the loop over epochs and mini-batches.
package struct UpdatePosition: Sendable, Equatable {
    package var hasBegun = false
    /// The index of the epoch, from 0.
    package var epoch = 0
    /// The number of the epoch's examples that are done.
    package var exampleIndex = 0
    /// The number of the epoch's mini-batches that are done.
    package var batch = 0
    /// The size of this epoch's mini-batches; 0 before the epoch begins.
    package var batchSize = 0
    /// The seed of this epoch's order; `nil` for the given order.
    package var seed: Int64?
    /// The sum of the epoch's mini-batch losses, each times the number of its examples.
    package var lossSum = 0.0
}
