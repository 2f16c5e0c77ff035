import CoreML
import Foundation
import Testing

/// Where elements come from and go to, and when they are computed.
struct TensorCreationTests {
    // MARK: Memory

    @Test func shapedArraysShareMemoryUntilTheyChange() async {
        var array = MLShapedArray<Float>(scalars: (0..<64).map { Float($0) }, shape: [8, 8])
        let tensor = MLTensor(array)
        let address = array.withUnsafeShapedBufferPointer { buffer, _, _ in buffer.baseAddress }
        let same = await tensor.shapedArray(of: Float.self)
        #expect(same.withUnsafeShapedBufferPointer { buffer, _, _ in buffer.baseAddress } == address)
        array[scalarAt: 0, 0] = 100
        var copy = await tensor.shapedArray(of: Float.self)
        #expect(copy[scalarAt: 0, 0] == 0)
        copy[scalarAt: 0, 1] = 50
        #expect(await tensor.sum().floats() == [2016])
        #expect(await tensor.reshaped(to: [64])[1].floats() == [1])
    }

    @Test func slicesAndStridesAreRead() async {
        let array = MLShapedArray<Int32>(scalars: 0..<12, shape: [3, 4])
        #expect(await MLTensor(array[1]).floats() == [4, 5, 6, 7])
        #expect(await MLTensor(array.transposed()).floats() == [0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11])
        #expect(
            await MLTensor(array[1..<3]).shapedArray(of: Int32.self) == MLShapedArray(scalars: 4..<12, shape: [2, 4])
        )
    }

    @Test func bytes() async {
        let numbers: [Int16] = [1, -2, 300]
        let data = numbers.withUnsafeBytes { Data($0) }
        let tensor = MLTensor(shape: [3], data: data, scalarType: Int16.self)
        #expect(tensor.holds(Int16.self))
        #expect(await tensor.floats() == [1, -2, 300])
        let written = MLTensor(unsafeUninitializedShape: [2, 2], scalarType: Float.self) { buffer in
            for index in 0..<4 { buffer.storeBytes(of: Float(index) / 2, toByteOffset: index * 4, as: Float.self) }
        }
        #expect(await written.floats() == [0, 0.5, 1, 1.5])
        struct Failure: Error {}
        #expect(throws: Failure.self) {
            try MLTensor(unsafeUninitializedShape: [1], scalarType: Bool.self) { _ in throw Failure() }
        }
    }

    @Test func lentMemoryIsGivenBack() async {
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 32, alignment: 16)
        for index in 0..<8 { memory.storeBytes(of: Int32(index), toByteOffset: index * 4, as: Int32.self) }
        nonisolated(unsafe) var freed = 0
        do {
            let tensor = MLTensor(
                bytesNoCopy: UnsafeRawBufferPointer(memory),
                shape: [2, 4],
                scalarType: Int32.self,
                deallocator: .custom { pointer, count in
                    #expect(count == 32)
                    pointer.deallocate()
                    freed += 1
                }
            )
            #expect(await (tensor + 1).sum().floats() == [36])
            #expect(freed == 0)
        }
        #expect(freed == 1)
    }

    // MARK: Sequences and random numbers

    @Test func sequences() async {
        #expect(await MLTensor(rangeFrom: 1.0, to: 2.0, by: 0.25).floats() == [1, 1.25, 1.5, 1.75])
        #expect(await MLTensor(rangeFrom: Int32(5), to: 12, by: 3).shapedArray(of: Int32.self).scalars == [5, 8, 11])
        #expect(MLTensor(rangeFrom: UInt8(5), to: 5, by: 3).shape == [0])
        #expect(await MLTensor(linearSpaceFrom: 0, through: 1, count: 5).floats() == [0, 0.25, 0.5, 0.75, 1])
        #expect(await MLTensor(linearSpaceFrom: 3, through: 9, count: 1).floats() == [3])
        #expect(MLTensor(linearSpaceFrom: Float16(0), through: 1, count: 0).shape == [0])
        #expect(await MLTensor(repeating: 2.5, shape: [2, 1]).floats() == [2.5, 2.5])
        #expect(await MLTensor(zeros: [], scalarType: Float16.self).floats() == [0])
        #expect(await MLTensor(repeating: true, shape: [2], scalarType: Bool.self).all().floats() == [1])
    }

    @Test func seedsAreReproducible() async {
        let shape = [1000]
        let first = MLTensor(randomNormal: shape, mean: 2, standardDeviation: 3, seed: 7, scalarType: Float.self)
        let again = MLTensor(randomNormal: shape, mean: 2, standardDeviation: 3, seed: 7, scalarType: Float.self)
        #expect(await first.floats() == again.floats())
        let other = MLTensor(
            randomNormal: shape,
            mean: 2,
            standardDeviation: 3,
            seed: 1 << 63 | 7,
            scalarType: Float.self
        )
        #expect(await first.floats() != other.floats())
        let mean = await first.mean().floats()[0]
        #expect(Swift.abs(mean - 2) < 0.4)
        let free = MLTensor(randomUniform: shape, in: -1..<1, scalarType: Float.self)
        #expect(await free.floats() == free.floats())
        #expect(await (free - free).abs().max().floats() == [0])
        #expect(await free.floats() != MLTensor(randomUniform: shape, in: -1..<1, scalarType: Float.self).floats())
        #expect(await free.min().floats()[0] >= -1)
        #expect(await free.max().floats()[0] < 1)
        let halves = MLTensor(randomUniform: [20_000], seed: 1, scalarType: Float16.self)
        #expect(await halves.max().floats()[0] < 1)
    }

    // MARK: When tensors are computed

    /// Memory that a computation reads at the time it runs shows whether it ran again.
    @Test func tensorsAreComputedOnce() async {
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 4, alignment: 16)
        defer { memory.deallocate() }
        memory.storeBytes(of: 1, as: Float.self)
        let source = MLTensor(
            bytesNoCopy: UnsafeRawBufferPointer(memory),
            shape: [1],
            scalarType: Float.self,
            deallocator: .none
        )
        let middle = source + 1
        let last = middle * 10
        #expect(await last.floats() == [20])
        memory.storeBytes(of: 5, as: Float.self)
        // Both were held, so both were computed.
        #expect(await last.floats() == [20])
        #expect(await middle.floats() == [2])
        #expect(await (middle + 0).floats() == [2])
        #expect(await (source + 0).floats() == [5])
    }

    @Test func emptyTensors() async {
        let none = MLTensor(zeros: [0, 3], scalarType: Float.self)
        #expect(await (none + 1).exp().floats() == [])
        #expect(await none.sum().floats() == [0])
        #expect(await none.product(alongAxes: 0).floats() == [1, 1, 1])
        #expect(await none.sum(alongAxes: 1).floats() == [])
        #expect(await (none .> 0).all().floats() == [1])
        #expect(await (none .> 0).any(alongAxes: 0).floats() == [0, 0, 0])
        #expect(none.transposed().shape == [3, 0] && none.reshaped(to: [0, 7]).shape == [0, 7])
        #expect(await none.matmul(MLTensor(ones: [3, 2], scalarType: Float.self)).floats() == [])
        #expect(await none.transposed().matmul(none).floats() == [Float](repeating: 0, count: 9))
        #expect(await none.softmax().floats() == [])
        #expect(await none.argsort().floats() == [])
        #expect(await none.cumulativeSum().floats() == [])
        #expect(await none.cumulativeProduct().floats() == [])
        #expect(await none.concatenated(with: MLTensor(ones: [1, 3], scalarType: Float.self)).floats() == [1, 1, 1])
        #expect(none.tiled(multiples: [2, 2]).shape == [0, 6] && none.reversed(alongAxes: 0).shape == [0, 3])
        #expect(
            await none.gathering(atIndices: MLTensor(zeros: [0], scalarType: Int32.self), alongAxis: 0).floats() == []
        )
        #expect(await none.replacing(with: Float(1), where: none .> 0).floats() == [])
    }

    @Test func longChainsAreComputedAndReleased() async {
        var sum = MLTensor(zeros: [4], scalarType: Float.self)
        for _ in 0..<100_000 { sum = sum + 1 }
        #expect(await sum.floats() == [Float](repeating: 100_000, count: 4))
        var unused = MLTensor(zeros: [4], scalarType: Float.self)
        for _ in 0..<100_000 { unused = unused * unused }
        #expect(unused.shape == [4])
    }

    @Test func tasksShareTensors() async {
        let x = MLTensor(randomNormal: [64, 64], seed: 1, scalarType: Float.self)
        let product = x.matmul(x.transposed()).softmax()
        let results = await withTaskGroup(of: [Float].self) { group in
            for _ in 0..<8 { group.addTask { await product.sum(alongAxes: 1).floats() } }
            return await group.reduce(into: [[Float]]()) { $0.append($1) }
        }
        #expect(results.count == 8)
        for result in results { expectNear(result, [Float](repeating: 1, count: 64)) }
        #expect(await product.floats() == product.floats())
    }

    /// Numbers that change between evaluations of one form do not change the results.
    @Test func changingNumbers() async {
        let x = MLTensor([1.0, 2.0, 3.0])
        for step in 1...5 {
            let factor = Float(step)
            #expect(
                await ((x * factor + 1) / factor).floats().map { ($0 * 100).rounded() }
                    == [1, 2, 3].map { (($0 + 1 / factor) * 100).rounded() }
            )
        }
    }

    // MARK: Errors of the program

    @Test func mistakesEndTheProgramWithAMessage() async {
        func message(_ result: ExitTest.Result?) -> String {
            String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        }
        let product = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = MLTensor(zeros: [2, 3], scalarType: Float.self).matmul(MLTensor(zeros: [4, 5], scalarType: Float.self))
        }
        #expect(message(product).contains("MLTensor.matmul of MLTensor(shape: [2, 3]"))
        let sum = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = MLTensor([1.0, 2.0]) + MLTensor([1.0, 2.0, 3.0])
        }
        #expect(message(sum).contains("do not broadcast"))
        let type = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = await MLTensor([1.0]).shapedArray(of: Int32.self)
        }
        #expect(message(type).contains("use cast(to: Int32.self) first"))
        let axis = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = MLTensor([1.0]).sum(alongAxes: 1)
        }
        #expect(message(axis).contains("axis 1 does not exist in a tensor of rank 1"))
    }
}
