import MLNumerics
import Testing

import MLGraphTraining

@Suite struct TrainerCheckpointTests {
    private static let tensors = [
        Tensor([1, 2, 3, 4, 5, 6] as [Float], shape: [2, 3]), Tensor([7] as [Float], shape: []),
    ]

    @Test func whatIsStoredComesBack() throws {
        let stored = TrainerCheckpoint.bytes(stepCount: 41, tensors: Self.tensors)
        let like = Self.tensors.map { Tensor(uninitialized: $0.scalarType, shape: $0.shape, zeroed: true) }
        let found = try TrainerCheckpoint.contents(of: stored, like: like)
        #expect(found.stepCount == 41)
        #expect(found.tensors.map(\.values) == Self.tensors.map(\.values))
    }

    @Test func damagedAndForeignBytesAreErrors() throws {
        let bytes = TrainerCheckpoint.bytes(stepCount: 1, tensors: Self.tensors)
        for count in 0..<bytes.count {
            let short = Array(bytes.prefix(count))
            #expect(throws: ModelError.self) { try TrainerCheckpoint.contents(of: short, like: Self.tensors) }
        }
        #expect(throws: ModelError.self) { try TrainerCheckpoint.contents(of: bytes, like: [Self.tensors[0]]) }
        #expect(throws: ModelError.self) { try TrainerCheckpoint.contents(of: bytes + [0], like: Self.tensors) }
    }
}
