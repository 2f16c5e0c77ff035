import Foundation
import MLGraph
package import MLOperators

/// The catalogue as a document: what `Documentation/Operators.md` holds.
package enum OperatorCensus {
    /// Layer kinds that the reader of neural networks handles itself, because they are no operation.
    package static let readerLayers = ["branch", "copy", "custom", "loop", "loopBreak", "loopContinue"]

    /// The contents of a `CensusRecord`: operator → kind of fact → facts.
    package typealias Facts = [String: [String: Set<String>]]

    package static func facts(_ record: String) -> Facts {
        var facts: Facts = [:]
        for line in record.split(separator: "\n") {
            let parts = line.split(separator: "\t").map(String.init)
            guard parts.count == 3 else { continue }
            facts[parts[0], default: [:]][parts[1], default: []].insert(parts[2])
        }
        return facts
    }

    /// The untested parts of the catalogue: operators without a test, layers whose rule no test compared, and
    /// gradients that no test compared with differences.
    package static func untested(_ catalogue: Catalogue, _ facts: Facts) -> [String] {
        catalogue.operators.flatMap { type in
            let known = facts["\(type)"] ?? [:]
            var missing = known["tests"] == nil ? ["\(type): no test"] : []
            for rule in (type as? any LoweredFromLayers.Type)?.layers ?? []
            where known["layer"]?.contains(rule.field) != true {
                missing.append("\(type): layer \(rule.field)")
            }
            if (type as? any DifferentiableOperator.Type)?.hasGradient == true, known["gradient"] == nil {
                missing.append("\(type): gradient")
            }
            return missing
        }
    }

    /// The operators of the catalogue that a document has no row for.
    package static func undocumented(_ catalogue: Catalogue, _ document: String) -> [String] {
        let rows = document.split(separator: "\n").filter { $0.hasPrefix("| ") }
        let names = Set(rows.compactMap { $0.split(separator: "|").first?.trimmingCharacters(in: .whitespaces) })
        return catalogue.operators.map { "\($0)" }.filter { !names.contains($0) }
    }

    package static func document(_ catalogue: Catalogue, _ facts: Facts) -> String {
        var lines = [
            "# Operators",
            "",
            "This page is generated from the operator catalogue and from records that the tests write",
            "(`RECORD=1 scripts/test`). The census fails when the page is out of date, when an operator has no test, or when",
            "a layer rule or a gradient has no test case. Every operator has a type rule and a reference implementation.",
            "The columns list",
            "",
            "- the element types of operands that tests have tried,",
            "- the kernels whose results tests have compared with the reference implementation,",
            "- the gradients that tests have compared with finite differences of it. An operator without a gradient cannot",
            "  stand between updatable layers and the loss.",
            "",
            "The reader of neural networks handles these layer kinds itself: \(readerLayers.joined(separator: ", ")).",
            "The app's own class computes custom layers (`MLCustomLayer`).",
            "",
            "| operator | MIL operations (operation sets) | layers of neural networks | types | kernels | gradient | tests |",
            "|---|---|---|---|---|---|---|",
        ]
        for type in catalogue.operators.sorted(by: { "\($0)" < "\($1)" }) {
            let names = type.names.map { name in
                let (first, last) = (name.opsets.lowerBound, name.opsets.upperBound)
                return
                    "\(name.name) (\(first == last ? "\(first)" : last == .newest ? "\(first)…" : "\(first)–\(last)"))"
            }
            let layers = (type as? any LoweredFromLayers.Type)?.layers.map(\.field).sorted() ?? []
            let known = facts["\(type)"] ?? [:]
            let tests = (known["tests"] ?? []).map { $0.split(separator: "/").last.map(String.init) ?? $0 }
            let columns = [
                "\(type)", names.joined(separator: ", "), layers.joined(separator: ", "),
                (known["types"] ?? []).sorted().joined(separator: ", "),
                (known["kernel"] ?? []).sorted().joined(separator: ", "),
                (known["gradient"] ?? []).sorted().joined(separator: ", "),
                tests.map { $0.replacingOccurrences(of: ".swift", with: "") }.sorted().joined(separator: ", "),
            ]
            lines.append("| \(columns.joined(separator: " | ")) |")
        }
        return lines.joined(separator: "\n") + "\n"
    }
}
