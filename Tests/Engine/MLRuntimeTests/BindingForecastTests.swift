import MLGraph
import MLNumerics
import MLRuntime
import Synchronization
import Testing

/// Inputs that change by the same amount in each run are planned before they come.
@Suite struct BindingForecastTests {
    private func key(_ shape: [Int], _ contents: [Double] = []) -> BindingKey {
        BindingKey(shapes: [shape], contents: [contents])
    }

    @Test func equalStepsContinue() {
        var forecast = BindingForecast()
        #expect(forecast.next(after: key([1, 20], [0])) == nil)
        #expect(forecast.next(after: key([1, 21], [20])) == nil)
        #expect(forecast.next(after: key([1, 22], [21])) == nil, "the step of the contents is another one")
        #expect(forecast.next(after: key([1, 23], [22])) == key([1, 24], [23]))
        #expect(forecast.next(after: key([1, 24], [23])) == key([1, 25], [24]))
        #expect(forecast.next(after: key([1, 20], [0])) == nil, "a new sequence")
        #expect(forecast.next(after: key([1, 21], [1])) == nil)
        #expect(forecast.next(after: key([1, 22], [2])) == key([1, 23], [3]))
    }

    @Test func equalAndUnlikeKeysDoNot() {
        var forecast = BindingForecast()
        for _ in 0..<4 { #expect(forecast.next(after: key([3])) == nil) }
        #expect(forecast.next(after: key([3, 1])) == nil)
        #expect(forecast.next(after: key([3, 2], [1])) == nil)
        #expect(forecast.next(after: key([5])) == nil)
    }

    /// An executable that adds a vector to itself, and the lengths for which it was bound, in their order.
    private final class Doubling: Sendable {
        let bound = Mutex<[Int]>([])
        let arrived = Mutex<[Int: CheckedContinuation<Void, Never>]>([:])

        func executable() throws -> GraphExecutable {
            var builder = GraphBuilder()
            let x = builder.input("x", ValueType(.float32, [.unknown]))
            let y = try builder.add(ToyAdd(), x, x)
            let pipeline = GraphExecutable.Pipeline(
                optimize: { (graph) throws(ModelError) in
                    let length = graph.type(of: graph.inputs[0]).shape.counts?.first ?? -1
                    self.bound.withLock { $0.append(length) }
                    self.arrived.withLock { $0.removeValue(forKey: length) }?.resume()
                    return graph
                },
                layOut: { (graph) throws(ModelError) in graph }
            )
            return try GraphExecutable(builder.finished(outputs: [("y", y)]), pipeline: pipeline, plansAhead: true)
        }

        func run(_ executable: GraphExecutable, _ length: Int) throws -> [Double] {
            try executable.run([Tensor((0..<length).map(Float.init), shape: [length])])[0].values
        }

        /// Returns once a binding for `length` has begun.
        func awaitBinding(of length: Int) async {
            await withCheckedContinuation { continuation in
                let isBound = bound.withLock { $0.contains(length) }
                guard !isBound else { return continuation.resume() }
                arrived.withLock { $0[length] = continuation }
                // It may have begun meanwhile.
                guard bound.withLock({ $0.contains(length) }) else { return }
                arrived.withLock { $0.removeValue(forKey: length) }?.resume()
            }
        }
    }

    @Test(.timeLimit(.minutes(20)))
    func theNextLengthIsBoundWhileThisOneRuns() async throws {
        let doubling = Doubling()
        let executable = try doubling.executable()
        for length in [3, 4] { _ = try doubling.run(executable, length) }
        for length in 5..<9 {
            #expect(try doubling.run(executable, length) == (0..<length).map { Double(2 * $0) })
            await doubling.awaitBinding(of: length + 1)
        }
        #expect(try doubling.run(executable, 9) == (0..<9).map { Double(2 * $0) })
        #expect(doubling.bound.withLock { $0.prefix(7) } == [3, 4, 5, 6, 7, 8, 9], "each length once")
    }

    @Test func emptyInputsAreNotBoundAhead() throws {
        let doubling = Doubling()
        let executable = try doubling.executable()
        for length in [3, 2, 1] { #expect(try doubling.run(executable, length).count == length) }
        #expect(doubling.bound.withLock { $0 } == [3, 2, 1])
    }
}
