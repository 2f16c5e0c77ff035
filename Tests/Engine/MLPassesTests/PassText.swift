import MLGraph
import MLNumerics
import MLPasses

/// A small graph before and after one rewrite alone, as text.
struct PassText: Sendable {
    typealias Build = @Sendable (inout GraphBuilder) throws -> [ValueID]

    /// The rewrite's name in the sources.
    let rewriteName: String
    let testDescription: String
    let before: String
    let after: String
    let build: Build
    let rewrite: @Sendable (Graph) throws(ModelError) -> Graph

    private init(
        _ rewriteName: String,
        _ description: String,
        _ before: String,
        _ after: String,
        _ build: @escaping Build,
        _ rewrite: @escaping @Sendable (Graph) throws(ModelError) -> Graph
    ) {
        self.rewriteName = rewriteName
        testDescription = "\(rewriteName): \(description)"
        self.before = before
        self.after = after
        self.build = build
        self.rewrite = rewrite
    }

    /// A graph that `pass` changes.
    static func of(
        _ pass: some Pass,
        _ description: String,
        from before: String,
        to after: String,
        _ build: @escaping Build
    ) -> PassText {
        PassText("\(type(of: pass))", description, before, after, build) { (graph) throws(ModelError) in
            try graph.applying(pass).graph
        }
    }

    /// A graph that `pass` must leave alone.
    static func of(_ pass: some Pass, leaves description: String, _ text: String, _ build: @escaping Build) -> PassText
    {
        of(pass, "leaves " + description, from: text, to: text, build)
    }

    static func widening(_ description: String, _ before: String, to after: String, _ build: @escaping Build)
        -> PassText
    {
        PassText("widened", description, before, after, build) { (graph) throws(ModelError) in try graph.widened() }
    }

    static func layouts(_ description: String, _ before: String, to after: String, _ build: @escaping Build)
        -> PassText
    {
        PassText("withLayouts", description, before, after, build) { (graph) throws(ModelError) in
            try graph.withLayouts()
        }
    }

    func graph() throws -> Graph {
        var builder = GraphBuilder()
        let outputs = try build(&builder)
        return builder.finished(outputs: outputs.map { (builder.graph[$0].name, $0) })
    }

    static let all = cleaning + halves + integers + fusions + wideFusions + attention + separable + preparation
}

extension GraphBuilder {
    mutating func floats(_ name: String, _ shape: Shape) -> ValueID { input(name, ValueType(.float32, shape)) }
    mutating func halves(_ name: String, _ shape: Shape) -> ValueID { input(name, ValueType(.float16, shape)) }
    mutating func numbers(_ values: [Double], _ shape: [Int]? = nil, _ type: ScalarType = .float32) -> ValueID {
        constant(Tensor(values: values, scalarType: type, shape: shape ?? [values.count]))
    }
    mutating func counts(_ values: Int...) -> ValueID { numbers(values.map(Double.init), nil, .int32) }
}
