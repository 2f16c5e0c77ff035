import MLFiles
package import MLNumerics

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

    private static let magic = [UInt8]("MLUPDCP1".utf8)

    /// Writes the file atomically: under a temporary name, then renames it.
    package func write(to path: String) throws(ModelError) { try FileAccess.write(bytes, to: path) }

    package init(contentsOf path: String) throws(ModelError) {
        self = try withErrorContext(path) { () throws(ModelError) in try UpdateCheckpoint(try FileAccess.read(path)) }
    }

    package var bytes: [UInt8] {
        var writer = Writer(bytes: Self.magic)
        writer.add(origin)
        writer.add(UInt64(position.epoch))
        writer.add(UInt64(position.place))
        writer.add(UInt64(position.batch))
        writer.add(UInt64(position.batchSize))
        writer.add(position.seed == nil ? 0 : 1)
        writer.add(UInt64(bitPattern: position.seed ?? 0))
        writer.add(position.lossSum.bitPattern)
        writer.add(position.hasBegun ? 1 : 0)
        writer.add(UInt64(parameters.count))
        for (parameter, value) in parameters.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            writer.add([UInt8](parameter.rawValue.utf8))
            switch value {
            case .integer(let integer): writer.add(0, UInt64(bitPattern: integer))
            case .number(let number): writer.add(1, number.bitPattern)
            case .flag(let flag): writer.add(2, flag ? 1 : 0)
            }
        }
        writer.add(learner)
        var hash = Fingerprint()
        hash.add(writer.bytes)
        writer.add(hash.value)
        return writer.bytes
    }

    package init(_ bytes: [UInt8]) throws(ModelError) {
        guard bytes.count >= Self.magic.count + 8, Array(bytes.prefix(Self.magic.count)) == Self.magic else {
            throw ModelError(.malformed, "this is not a checkpoint of an update; give another path")
        }
        var hash = Fingerprint()
        hash.add(Array(bytes.dropLast(8)))
        var end = Reader(bytes: bytes.suffix(8))
        guard try end.number() == hash.value else {
            throw ModelError(.malformed, "the checkpoint is damaged; remove it and start the update again")
        }
        var reader = Reader(bytes: bytes.dropFirst(Self.magic.count).dropLast(8))
        origin = try reader.number()
        position = UpdatePosition()
        position.epoch = try reader.count()
        position.place = try reader.count()
        position.batch = try reader.count()
        position.batchSize = try reader.count()
        let isShuffled = try reader.number() != 0
        let seed = Int64(bitPattern: try reader.number())
        position.seed = isShuffled ? seed : nil
        position.lossSum = Double(bitPattern: try reader.number())
        position.hasBegun = try reader.number() != 0
        parameters = [:]
        for _ in 0..<(try reader.count()) {
            let name = String(decoding: try reader.block(), as: UTF8.self)
            let kind = try reader.number()
            let value = try reader.number()
            guard let parameter = UpdateParameter(rawValue: name) else {
                throw ModelError(.malformed, "the checkpoint holds the unknown parameter '\(name)'")
            }
            switch kind {
            case 0: parameters[parameter] = .integer(Int64(bitPattern: value))
            case 1: parameters[parameter] = .number(Double(bitPattern: value))
            default: parameters[parameter] = .flag(value != 0)
            }
        }
        learner = try reader.block()
    }

    private struct Writer {
        var bytes: [UInt8]

        mutating func add(_ numbers: UInt64...) {
            for number in numbers { withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) } }
        }

        mutating func add(_ block: [UInt8]) {
            add(UInt64(block.count))
            bytes += block
        }
    }

    private struct Reader {
        var bytes: ArraySlice<UInt8>

        mutating func number() throws(ModelError) -> UInt64 {
            guard bytes.count >= 8 else { throw Self.cut }
            let value = bytes.prefix(8).enumerated().reduce(UInt64(0)) { $0 | UInt64($1.element) << (8 * $1.offset) }
            bytes = bytes.dropFirst(8)
            return value
        }

        mutating func count() throws(ModelError) -> Int {
            guard let count = Int(exactly: try number()) else { throw Self.cut }
            return count
        }

        mutating func block() throws(ModelError) -> [UInt8] {
            let count = try count()
            guard count <= bytes.count else { throw Self.cut }
            defer { bytes = bytes.dropFirst(count) }
            return Array(bytes.prefix(count))
        }

        private static var cut: ModelError {
            ModelError(.malformed, "the checkpoint ends too early; remove it and start the update again")
        }
    }
}

/// The position in the loop over epochs and mini-batches.
package struct UpdatePosition: Sendable, Equatable {
    package var hasBegun = false
    /// The index of the epoch, from 0.
    package var epoch = 0
    /// The number of the epoch's examples that are done.
    package var place = 0
    /// The number of the epoch's mini-batches that are done.
    package var batch = 0
    /// The size of this epoch's mini-batches; 0 before the epoch begins.
    package var batchSize = 0
    /// The seed of this epoch's order; `nil` for the given order.
    package var seed: Int64?
    /// The sum of the epoch's mini-batch losses, each times the number of its examples.
    package var lossSum = 0.0
}
