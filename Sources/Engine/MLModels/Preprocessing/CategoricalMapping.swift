package import MLFeatures
package import MLNumerics
package import MLSpecification

/// Maps strings to integers or integers to strings by a table, single values or sequences.
package struct CategoricalMapping: ColumnEngine {
    package let interface: SpecModelDescription
    private let input: String
    private let output: String
    private let table: Table

    private enum Table: Sendable {
        case toInteger([String: Int64], unknown: Int64?)
        case toString([Int64: String], unknown: String?)
    }

    package init(_ parameters: SpecCategoricalMapping, _ interface: SpecModelDescription) throws(ModelError) {
        self.interface = interface
        let source = try interface.soleInput()
        let target = try interface.soleOutput()
        input = source.name
        output = target.name
        switch parameters.mappingType {
        case .stringToInt64Map(let map)?:
            var unknown: Int64?
            switch parameters.valueOnUnknown {
            case .int64Value(let value)?: unknown = value
            case .strValue?:
                throw ModelError(.invalidModel, "the mapping gives integers, but a string for unknown values")
            case nil: break
            }
            table = .toInteger(map.map, unknown: unknown)
        case .int64ToStringMap(let map)?:
            var unknown: String?
            switch parameters.valueOnUnknown {
            case .strValue(let value)?: unknown = value
            case .int64Value?:
                throw ModelError(.invalidModel, "the mapping gives strings, but an integer for unknown values")
            case nil: break
            }
            table = .toString(map.map, unknown: unknown)
        case nil: throw ModelError(.invalidModel, "the mapping has no table")
        }
        switch (source.type.type, target.type.type) {
        case (.stringType?, .int64Type?), (.int64Type?, .stringType?), (.sequenceType?, .sequenceType?): break
        default:
            throw ModelError(
                .invalidModel,
                "the mapping's input is \(source.kind) and its output \(target.kind); "
                    + "it maps strings to integers, integers to strings, or sequences of them"
            )
        }
    }

    package func outputs(for batch: FeatureBatch) throws(ModelError) -> [String: FeatureColumn] {
        let column = try batch.column(input)
        var values: [FeatureData] = []
        values.reserveCapacity(batch.count)
        for row in 0..<batch.count {
            switch (table, column.value(at: row)) {
            case (.toInteger, .string(let text)): values.append(.int64(try integer(text)))
            case (.toString, .int64(let value)): values.append(.string(try string(value)))
            case (.toInteger, .sequence(.strings(let texts))):
                var integers: [Int64] = []
                for text in texts { integers.append(try integer(text)) }
                values.append(.sequence(.integers(integers)))
            case (.toString, .sequence(.integers(let numbers))):
                var strings: [String] = []
                for number in numbers { strings.append(try string(number)) }
                values.append(.sequence(.strings(strings)))
            case (_, let other):
                throw ModelError(
                    .invalidInput,
                    "the input '\(input)' is \(other.kind), which the mapping does not take"
                )
            }
        }
        return [output: FeatureColumn(values)]
    }

    private func integer(_ text: String) throws(ModelError) -> Int64 {
        guard case .toInteger(let map, let unknown) = table, let value = map[text] ?? unknown else {
            throw ModelError(.invalidInput, "the input '\(input)' holds \"\(text)\", which the mapping does not have")
        }
        return value
    }

    private func string(_ number: Int64) throws(ModelError) -> String {
        guard case .toString(let map, let unknown) = table, let value = map[number] ?? unknown else {
            throw ModelError(.invalidInput, "the input '\(input)' holds \(number), which the mapping does not have")
        }
        return value
    }
}
