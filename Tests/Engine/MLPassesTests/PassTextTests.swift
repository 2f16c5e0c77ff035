import Foundation
import MLGraph
import MLNumerics
import MLPasses
import MLRuntime
import Testing

extension PassText: CustomTestStringConvertible {}

struct PassTextTests {
    @Test(arguments: PassText.all)
    func eachPassAlone(_ item: PassText) throws {
        let graph = try item.graph()
        try graph.verify()
        #expect(graph.description == item.before)
        let rewritten = try item.rewrite(graph)
        try rewritten.verify()
        #expect(rewritten.description == item.after)
        let inputs = Self.inputs(of: graph)
        let (expected, results) = (try Self.run(graph, inputs), try Self.run(rewritten, inputs))
        #expect(expected.map(\.shape) == results.map(\.shape))
        for (a, b) in zip(expected, results) {
            #expect(a.scalarType == b.scalarType)
            // One unit in the last place of float16.
            let limit = a.scalarType == .float16 || inputs.contains { $0.scalarType == .float16 } ? 2e-3 : 1e-5
            #expect(zip(a.values, b.values).allSatisfy { abs($0 - $1) <= limit * max(1, abs($0)) })
        }
    }

    @Test("every rewrite of the module has a graph that it changes and one that it leaves alone")
    func census() throws {
        var root = URL(fileURLWithPath: #filePath)
        while !FileManager.default.fileExists(atPath: root.appending(path: "Package.swift").path) {
            try #require(root.path != "/")
            root.deleteLastPathComponent()
        }
        let folder = root.appending(path: "Sources")
        let files = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
            .filter { "/\($0)".contains("/MLPasses/") && $0.hasSuffix(".swift") }
        var names: Set<String> = []
        for file in files {
            let source = try String(contentsOf: folder.appending(path: file), encoding: .utf8)
            names.formUnion(source.matches(of: /struct (\w+): Pass\b/).map { String($0.1) })
            names.formUnion(
                source.matches(of: /package func (\w+)\(\) throws\(ModelError\) -> Graph\b/).map { String($0.1) }
            )
        }
        #expect(names.isSuperset(of: PassPipeline.passes.map { "\(type(of: $0))" }))
        let (changed, left) = (
            PassText.all.filter { $0.before != $0.after }, PassText.all.filter { $0.before == $0.after }
        )
        #expect(Set(changed.map(\.rewriteName)) == names)
        #expect(Set(left.map(\.rewriteName)) == names)
    }

    private static func run(_ graph: Graph, _ inputs: [Tensor]) throws -> [Tensor] {
        try GraphExecutable(graph, pipeline: .none).run(inputs)
    }

    /// Numbers that repeat from run to run; integers are 0 or 1, so that they can be indices.
    private static func inputs(of graph: Graph) -> [Tensor] {
        var generator = SplitMix64(seed: 7)
        return graph.inputs.map { id in
            let type = graph.type(of: id)
            let shape = type.shape.map { $0.count ?? 2 }
            let values = (0..<shape.elementCount).map { _ -> Double in
                let bits = generator.next()
                return type.scalarType.isInteger ? Double(bits % 2) : Double(bits % 4001) / 1000 - 2
            }
            return Tensor(values: values, scalarType: type.scalarType, shape: shape)
        }
    }
}
