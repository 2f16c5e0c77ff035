import MLKernels
import Synchronization
import Testing

extension KernelTests {
    @Suite struct WorkersTests {
        @Test(arguments: [0, 1, 2, 3, 17, 1000])
        func everyIndexOnce(count: Int) {
            let visits = (0..<count).map { _ in Counter() }
            Workers.parallelFor(count) { index, worker in
                visits[index].value.add(1, ordering: .relaxed)
                if worker < 0 || worker >= Workers.count { visits[index].value.add(100, ordering: .relaxed) }
            }
            #expect(visits.allSatisfy { $0.value.load(ordering: .relaxed) == 1 })
        }

        @Test func nestedAndConcurrentCallers() async {
            let total = Counter()
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<8 {
                    group.addTask {
                        for _ in 0..<200 {
                            Workers.parallelFor(5) { _, _ in
                                Workers.parallelFor(3) { _, _ in total.value.add(1, ordering: .relaxed) }
                            }
                        }
                    }
                }
            }
            #expect(total.value.load(ordering: .relaxed) == 8 * 200 * 15)
        }

        @Test func resultsOfConcurrentProductsAreRight() async {
            var source = NumberSource(seed: 5)
            let (rows, terms, columns) = (40, 96, 72)
            let a = source.floats(rows * terms)
            let weights = PackedWeights(
                source.floats(terms * columns),
                terms: terms,
                columns: columns,
                layout: .termsByColumns
            )
            var expected = [Float](repeating: 0, count: rows * columns)
            MatMulKernel.multiply(a, rows: rows, by: weights, into: &expected)
            let wrong = Counter()
            await withTaskGroup(of: Void.self) { [expected] group in
                for _ in 0..<8 {
                    group.addTask {
                        for _ in 0..<50 {
                            var c = [Float](repeating: 0, count: rows * columns)
                            MatMulKernel.multiply(a, rows: rows, by: weights, into: &c)
                            if c != expected { wrong.value.add(1, ordering: .relaxed) }
                        }
                    }
                }
            }
            #expect(wrong.value.load(ordering: .relaxed) == 0)
        }
    }
}

final class Counter: Sendable {
    let value = Atomic<Int>(0)
}
