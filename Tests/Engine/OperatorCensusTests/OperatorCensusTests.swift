import Foundation
import MLGraph
import MLOperators
import TestSupport
import Testing

private let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()
    .deletingLastPathComponent()

/// The facts that other tests noted in the file that `COREML_CENSUS` names; `scripts/test` runs them first.
private let facts = ProcessInfo.processInfo.environment["COREML_CENSUS"]
    .flatMap { try? String(contentsOfFile: $0, encoding: .utf8) }
    .map(OperatorCensus.facts)

@Test(.enabled(if: facts != nil, "scripts/test records what the tests ask of operators"))
func documentIsCurrent() throws {
    let url = root.appending(path: "Documentation/Operators.md")
    // Facts of every kind were recorded.
    for kind in ["types", "kernel", "layer", "gradient", "tests"] {
        #expect(try #require(facts).values.contains { $0[kind]?.isEmpty == false }, "no test recorded '\(kind)'")
    }
    let document = OperatorCensus.document(.standard, try #require(facts))
    if ProcessInfo.processInfo.environment["RECORD"] != nil {
        try document.write(to: url, atomically: true, encoding: .utf8)
    }
    let committed = try String(contentsOf: url, encoding: .utf8)
    #expect(committed == document, "run RECORD=1 scripts/test")
}

/// Every operator has a test, every layer rule and every gradient a case.
@Test(.enabled(if: facts != nil, "scripts/test records what the tests ask of operators"))
func everyOperatorIsTested() throws {
    #expect(OperatorCensus.untested(.standard, try #require(facts)) == [])
}

@Test func everyOperatorIsDocumented() throws {
    let document = try String(contentsOf: root.appending(path: "Documentation/Operators.md"), encoding: .utf8)
    #expect(OperatorCensus.undocumented(.standard, document) == [])
}

/// Every kind of layer of the specification has a rule.
@Test func everyLayerKindIsRead() throws {
    let text = try String(contentsOf: root.appending(path: "proto/NeuralNetwork.proto"), encoding: .utf8)
    let start = try #require(text.range(of: "oneof layer {")).upperBound
    let end = try #require(text[start...].range(of: "}")).lowerBound
    let fields = text[start..<end].split(separator: "\n").compactMap { line in
        let words = line.split(whereSeparator: { " =;".contains($0) })
        return words.count == 3 ? String(words[1]) : nil
    }
    #expect(fields.count == 158)
    let missing = fields.filter {
        Catalogue.standard.rule(forField: $0) == nil && !OperatorCensus.readerLayers.contains($0)
    }
    #expect(missing == [])
}

/// No two operators claim the same operation of one operation set, and no two rules the same layer.
@Test func namesAreUnique() {
    var claimed: Set<String> = []
    var repeated: [String] = []
    for type in Catalogue.standard.operators {
        for name in type.names {
            for opset in [Opset.iOS15, .iOS16, .iOS17, .iOS18, .iOS26] where name.opsets.contains(opset) {
                if !claimed.insert("\(name.name) \(opset)").inserted { repeated.append("\(name.name) in \(opset)") }
            }
        }
        for rule in (type as? any LoweredFromLayers.Type)?.layers ?? [] {
            if !claimed.insert("layer \(rule.field)").inserted { repeated.append("layer \(rule.field)") }
            #expect(Catalogue.standard.rule(forField: rule.field) != nil, "\(type) is listed without its rules")
        }
    }
    #expect(repeated == [])
}
