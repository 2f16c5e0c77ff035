import MLRuntime

/// A program's steps as text, with those of branches and loops under the step that they belong to.
struct PlanText {
    private let outline: ProgramOutline
    private var rows: [[String]] = [["step", "operation", "kernel", "result", "source"]]
    private var hasBodies = false

    init(_ outline: ProgramOutline) {
        self.outline = outline
        add(outline, under: "")
    }

    var text: String {
        var table = Table(rightAligned: hasBodies ? [] : [0])
        for row in rows { table.add(row) }
        let plans = outline.plans
        func sum(_ bytes: (Plan) -> Int) -> String { byteText(plans.map(bytes).reduce(0, +)) }
        let lines = [
            table.text(indent: ""),
            "\(count(outline)) steps, arena \(sum(\.arenaByteCount)) (\(sum(\.unsharedByteCount)) without sharing), "
                + "scratch \(sum(\.scratchByteCount))",
        ]
        let note = "bodies of branches and loops are planned for the shapes that these inputs give them when first run"
        return (lines + (hasBodies ? [note] : [])).joined(separator: "\n")
    }

    /// Adds the steps of a plan.
    ///
    /// - Parameters:
    ///   - outline: The plan.
    ///   - prefix: The text before a step's number: the enclosing step and body.
    private mutating func add(_ outline: ProgramOutline, under prefix: String) {
        var number = 0
        for part in outline.parts {
            switch part {
            case .plan(let plan):
                for step in plan.steps {
                    rows.append([
                        "\(prefix)\(number)", step.operatorName, step.kernelName, Self.list(step.shapes), step.location,
                    ])
                    number += 1
                }
            case .operation(let operation):
                let kernel = operation.bodies.isEmpty ? "reference" : ""
                rows.append([
                    "\(prefix)\(number)", operation.name, kernel, Self.list(operation.shapes), operation.location,
                ])
                add(operation.bodies, of: operation.name, under: "\(prefix)\(number).")
                number += 1
            }
        }
    }

    private mutating func add(_ bodies: [ProgramOutline.Body], of operation: String, under prefix: String) {
        for (index, body) in bodies.enumerated() {
            hasBodies = true
            let name = Self.name(ofBody: index, of: operation)
            let runs = body.runs == 0 ? "not run" : body.runs == 1 ? "run once" : "run \(body.runs) times"
            switch body.outline {
            case .success(let inner):
                rows.append(["\(prefix)\(name)", runs] + (count(inner) == 0 ? ["", "", "no steps"] : []))
                add(inner, under: "\(prefix)\(name).")
            case .failure(let error):
                rows.append(["\(prefix)\(name)", runs, "", "", "cannot be planned for these inputs: \(error)"])
            }
        }
    }

    /// The number of steps in a program and in all bodies in it.
    private func count(_ outline: ProgramOutline) -> Int {
        outline.parts.reduce(0) { sum, part in
            switch part {
            case .plan(let plan): sum + plan.steps.count
            case .operation(let operation):
                sum + 1 + operation.bodies.reduce(0) { $0 + ((try? $1.outline.get()).map(count) ?? 0) }
            }
        }
    }

    private static func name(ofBody index: Int, of operation: String) -> String {
        switch (operation, index) {
        case ("cond", 0): "true"
        case ("cond", 1): "false"
        case ("while_loop", 0): "condition"
        case ("while_loop", 1): "body"
        default: "body\(index)"
        }
    }

    private static func list(_ shapes: [[Int]]) -> String { shapes.map { "\($0)" }.joined(separator: " ") }
}
