import MLGraph
package import MLOperators

/// The catalogue as a document: what `Documentation/Operators.md` holds.
package enum OperatorCensus {
    /// Layer kinds that the reader of neural networks handles itself, because they are no operation.
    package static let readerLayers = ["branch", "copy", "custom", "loop", "loopBreak", "loopContinue"]

    package static func document(_ catalogue: Catalogue) -> String {
        var lines = [
            "# Operators",
            "",
            "Generated from the catalogue by the operator census (`RECORD=1 swift test --filter OperatorCensusTests`).",
            "Layer kinds that the reader of neural networks handles itself: \(readerLayers.joined(separator: ", ")).",
            "A custom layer is computed by a class of the app (`MLCustomLayer`).",
            "",
            "| operator | MIL operations (operation sets) | layers of neural networks |",
            "|---|---|---|",
        ]
        for type in catalogue.operators.sorted(by: { "\($0)" < "\($1)" }) {
            let names = type.names.map { name in
                let (first, last) = (name.opsets.lowerBound, name.opsets.upperBound)
                return
                    "\(name.name) (\(first == last ? "\(first)" : last == .newest ? "\(first)…" : "\(first)–\(last)"))"
            }
            let layers = (type as? any LoweredFromLayers.Type)?.layers.map(\.field).sorted() ?? []
            lines.append("| \(type) | \(names.joined(separator: ", ")) | \(layers.joined(separator: ", ")) |")
        }
        return lines.joined(separator: "\n") + "\n"
    }
}
